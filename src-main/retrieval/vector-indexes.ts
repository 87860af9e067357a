import type { VectorTable } from '../catalogue/vector-table.ts';
import type { Engine } from '../engine/engine.ts';
import type { ActiveEmbedder } from '../models/active-model.ts';
import type { SearchRunner } from './search-thread.ts';
import { VectorIndex } from './vector-index.ts';

/** The vectors by the embedding model in use, for everyone who searches. */
export class VectorIndexes {
  readonly #vectors: VectorTable;
  readonly #engine: Pick<Engine, 'createVectorScan'>;
  readonly #searches: SearchRunner;
  #index: VectorIndex | undefined;

  constructor(vectors: VectorTable, engine: Pick<Engine, 'createVectorScan'>, searches: SearchRunner) {
    this.#vectors = vectors;
    this.#engine = engine;
    this.#searches = searches;
  }

  /** The index of a model's vectors; that of another model is freed. */
  of(active: ActiveEmbedder): VectorIndex {
    if (this.#index?.identity !== active.identity) {
      this.close();
      this.#index = new VectorIndex(this.#vectors, this.#engine, this.#searches, active);
    }
    return this.#index;
  }

  close(): void {
    this.#index?.dispose();
    this.#index = undefined;
  }
}
