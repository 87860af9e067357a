import type { Model } from '../engine/engine.ts';

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

/** Where services get the model from; it can change while they run. */
export interface ModelSource {
  /** Waits while the model is being loaded. Rejects with why it could not be (MODEL_NOT_FOUND, MODEL_INVALID, OUT_OF_MEMORY…). */
  current(): Promise<ActiveModel>;
  /** The model if it is loaded now. */
  readonly active: ActiveModel | undefined;
  /** Told after another model, or another chunk size, came into use. Gives a function that ends the subscription. */
  onChange(listener: (active: ActiveModel) => void): () => void;
}
