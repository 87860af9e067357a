import type { Embedder, Model } from '../engine/engine.ts';

/** The model that answers, loaded. */
export interface ActiveModel {
  /** Id in the list of models. */
  id: string;
  name: string;
  path: string;
  model: Model;
  /** Tokens in a chunk: the settings' choice, else what suits the model. */
  chunkTokens: number;
}

/**
 * Where services get the model from; it can change while they run. The change itself is foreground work of the gate, so a
 * model got within gate.foreground or gate.background stays loaded until that work ends; one got before may be gone.
 */
export interface ModelSource {
  /** Waits while the model is being loaded. Rejects with why it could not be (MODEL_NOT_FOUND, MODEL_INVALID, OUT_OF_MEMORY…). */
  current(): Promise<ActiveModel>;
  /** The model if it is loaded now. */
  readonly active: ActiveModel | undefined;
  /** Told after another model, or another chunk size, came into use. Gives a function that ends the subscription. */
  onChange(listener: (active: ActiveModel) => void): () => void;
}

/** The model that turns text into vectors, loaded. */
export interface ActiveEmbedder {
  id: string;
  /** Names the model's file by its content: vectors of equal identity can be compared. */
  identity: string;
  embedder: Pick<Embedder, 'info' | 'embed' | 'countTokens'>;
}

/** Where retrieval gets the embedding model from; most people have none. */
export interface EmbedderSource {
  readonly embedder: ActiveEmbedder | undefined;
  /** Told after another embedding model, or none, came into use. */
  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void;
}
