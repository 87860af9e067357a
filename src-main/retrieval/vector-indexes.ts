import type { VectorTable } from '../catalogue/vector-table.ts';
import type { Engine } from '../engine/engine.ts';
import type { ActiveEmbedder } from '../models/active-model.ts';
import { VectorIndex } from './vector-index.ts';

/** The vectors by the embedding model in use, for everyone who searches. */
export class VectorIndexes {
  readonly #vectors: VectorTable;
  readonly #engine: Pick<Engine, 'createVectorScan'>;
  #index: VectorIndex | undefined;

  constructor(vectors: VectorTable, engine: Pick<Engine, 'createVectorScan'>) {
    this.#vectors = vectors;
    this.#engine = engine;
  }

  /** The index of a model's vectors; that of another model is freed. */
  of(active: ActiveEmbedder): VectorIndex {
    if (this.#index?.identity !== active.identity) {
      this.close();
      this.#index = new VectorIndex(this.#vectors, this.#engine, active);
    }
    return this.#index;
  }

  close(): void {
    this.#index?.dispose();
    this.#index = undefined;
  }
}
