import { whyNotBlended } from '../../src-shared/blending.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Embedder, Model } from '../engine/engine.ts';
import type { EmbeddingRules } from './embedding/families.ts';
import { ServerModel } from './sources/servers/server-model.ts';

/** The chat model in use. */
export interface ActiveModel<M = Model | ServerModel> {
  /** Id in the model list. */
  id: string;
  name: string;
  path: string;
  model: M;
  /** Chunk size in tokens: from the settings, else the model's default. */
  chunkTokens: number;
}

/**
 * How services get the model, which can change while they run. A change is foreground work of the gate, so a model
 * obtained within gate.foreground or gate.background stays loaded until that work ends; one obtained earlier may be
 * gone.
 */
export interface ModelSource<M = Model | ServerModel> {
  /** Waits while the model is loading. Rejects with the load error (MODEL_NOT_FOUND, MODEL_INVALID, OUT_OF_MEMORY…). */
  current(): Promise<ActiveModel<M>>;
  /** The model if it is loaded now. */
  readonly active: ActiveModel<M> | undefined;
  /** Called after the model or its chunk size has changed. Returns a function that ends the subscription. */
  onChange(listener: (active: ActiveModel<M>) => void): () => void;
}

/** The chat model for work that needs its engine: none while it is on a server. */
export class LocalModels implements ModelSource<Model> {
  readonly #models: ModelSource;

  constructor(models: ModelSource) {
    this.#models = models;
  }

  /** The model if it runs here. */
  static ofActive(active: ActiveModel): ActiveModel<Model> | undefined {
    return isLocal(active) ? active : undefined;
  }

  /** As ModelSource.current(); MODEL_UNSUPPORTED for a model on a server. */
  async current(): Promise<ActiveModel<Model>> {
    const active = await this.#models.current();
    if (isLocal(active)) return active;
    throw new KvasirError(
      'MODEL_UNSUPPORTED',
      whyNotBlended(active.name, 'remote'),
      'Choose a model that blends.',
    );
  }

  get active(): ActiveModel<Model> | undefined {
    const { active } = this.#models;
    return active && isLocal(active) ? active : undefined;
  }

  onChange(listener: (active: ActiveModel<Model>) => void): () => void {
    return this.#models.onChange((active) => {
      if (isLocal(active)) listener(active);
    });
  }
}

function isLocal(active: ActiveModel): active is ActiveModel<Model> {
  return !(active.model instanceof ServerModel);
}

/** The loaded embedding model. */
export interface ActiveEmbedder {
  id: string;
  /** Of the file's content and its rules for passages: vectors with the same identity are comparable. */
  identity: string;
  rules: EmbeddingRules;
  embedder: Pick<Embedder, 'info' | 'embed' | 'countTokens'>;
}

/** The loaded reranker. */
export interface ActiveReranker {
  id: string;
  reranker: Pick<Embedder, 'info' | 'rank' | 'countTokens'>;
}

/** How retrieval gets the embedding model and the reranker; most users have none. */
export interface EmbedderSource {
  readonly embedder: ActiveEmbedder | undefined;
  readonly reranker?: ActiveReranker | undefined;
  /** Called after the embedding model has been changed or removed. */
  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void;
}
