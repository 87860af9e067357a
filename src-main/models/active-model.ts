import type { Embedder, Model } from '../engine/engine.ts';

/** The loaded chat model. */
export interface ActiveModel {
  /** Id in the model list. */
  id: string;
  name: string;
  path: string;
  model: Model;
  /** Chunk size in tokens: from the settings, else the model's default. */
  chunkTokens: number;
}

/**
 * How services get the model, which can change while they run. A change is foreground work of the gate, so a model
 * obtained within gate.foreground or gate.background stays loaded until that work ends; one obtained earlier may be
 * gone.
 */
export interface ModelSource {
  /** Waits while the model is loading. Rejects with the load error (MODEL_NOT_FOUND, MODEL_INVALID, OUT_OF_MEMORY…). */
  current(): Promise<ActiveModel>;
  /** The model if it is loaded now. */
  readonly active: ActiveModel | undefined;
  /** Called after the model or its chunk size has changed. Returns a function that ends the subscription. */
  onChange(listener: (active: ActiveModel) => void): () => void;
}

/** The loaded embedding model. */
export interface ActiveEmbedder {
  id: string;
  /** Identifies the model's file by its content: vectors with the same identity are comparable. */
  identity: string;
  embedder: Pick<Embedder, 'info' | 'embed' | 'countTokens'>;
}

/** How retrieval gets the embedding model; most users have none. */
export interface EmbedderSource {
  readonly embedder: ActiveEmbedder | undefined;
  /** Called after the embedding model has been changed or removed. */
  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void;
}
