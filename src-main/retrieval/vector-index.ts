import type { UnembeddedChunk, VectorTable } from '../catalogue/vector-table.ts';
import type { Hit, SearchScope } from '../catalogue/search-scope.ts';
import type { Engine, VectorScan, VectorScope } from '../engine/engine.ts';
import type { ActiveEmbedder } from '../models/active-model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import type { SearchRunner } from './search-thread.ts';
import type { VectorCopy } from './vector-copy.ts';

/** Rows read by one request to the thread of searches: a few milliseconds. */
const ROWS_AT_ONCE = 200;

/** Candidates for each hit; about six are read, more where many passages are equally near. */
const CANDIDATES_PER_HIT = 32;
const LEAST_CANDIDATES = 1024;

/**
 * Cosine below which a passage is unrelated to a question, when there are too few passages to determine the model's
 * baseline; some models' cards name another.
 */
const MIN_SIMILARITY = 0.3;
/** This many passages determine the baseline: most are unrelated to the question. */
const TELLING = 50;
/** A related passage exceeds the baseline by this many standard deviations. */
const OUTSTANDING = 2;

export interface NearestPassages {
  /** By cosine, nearest first. */
  hits: Hit[];
  /** The cosine of unrelated passages. */
  unrelated: number;
}

/**
 * The chunks' vectors by one embedding model. Searches scan a compact copy in memory, which is brought up to date with the table before each;
 * the first one loads it.
 */
export class VectorIndex {
  readonly identity: string;
  readonly #vectors: VectorTable;
  readonly #searches: SearchRunner;
  readonly #model: number;
  readonly #floor: number;
  readonly #dimension: number;
  readonly #scan: VectorScan;
  readonly #syncs = new SerialQueue();
  readonly #unsubscribe: () => void;
  /** Id of the last row in the copy. */
  #last = 0;
  /** Rows that were deleted, with their chunks. */
  readonly #deleted: [id: number, chunkId: number][] = [];

  constructor(
    vectors: VectorTable,
    engine: Pick<Engine, 'createVectorScan'>,
    searches: SearchRunner,
    { identity, rules, embedder }: Pick<ActiveEmbedder, 'identity' | 'rules' | 'embedder'>,
  ) {
    this.identity = identity;
    this.#vectors = vectors;
    this.#searches = searches;
    this.#model = vectors.modelId(identity);
    this.#floor = rules.floor ?? MIN_SIMILARITY;
    this.#dimension = embedder.info.dimension;
    this.#scan = engine.createVectorScan(this.#dimension);
    // Those that are not in the copy, too: the thread may just be reading them.
    this.#unsubscribe = vectors.onDelete(this.#model, (id, chunkId) => this.#deleted.push([id, chunkId]));
  }

  /** Chunks after `after` that have no vector yet, of a set or of one of its documents. */
  missing(
    of: { chunkSetId: number; documentId?: number | undefined },
    after: number,
    limit: number,
  ): UnembeddedChunk[] {
    return this.#vectors.missing(this.#model, of, after, limit);
  }

  /** How many tokens of a document's chunks in a set have no vector yet. */
  missingTokens(chunkSetId: number, documentId: number): number {
    return this.#vectors.missingTokens(this.#model, chunkSetId, documentId);
  }

  /** Stores vectors, concatenated in `values`; chunks that no longer exist are skipped. */
  put(chunkIds: readonly number[], values: Float32Array): void {
    const dimension = values.length / chunkIds.length;
    const vectors = chunkIds.map((chunkId, i) => {
      const { buffer, byteOffset, byteLength } = values.subarray(i * dimension, (i + 1) * dimension);
      return [chunkId, Buffer.from(buffer, byteOffset, byteLength)] as const;
    });
    this.#vectors.put(this.#model, vectors);
  }

  /**
   * The chunks whose vectors are nearest to `query`, among those above this model's baseline: exact, unless more candidates than are kept
   * are too near to each other for the compact copy to tell them apart. ABORTED.
   */
  async nearest(
    query: Float32Array,
    scope: SearchScope,
    limit: number,
    signal?: AbortSignal,
  ): Promise<NearestPassages> {
    await this.load(signal);
    const most = Math.max(LEAST_CANDIDATES, limit * CANDIDATES_PER_HIT);
    const { chunks, bounds, count, mean, deviation } = await this.#scan.nearest(query, scopeOf(scope), most);
    const floor = count < TELLING ? this.#floor : mean + OUTSTANDING * deviation;
    const given = [this.#model, query, { chunks, bounds }, { limit, floor }] as const;
    const hits = await this.#searches.run('exactHits', [...given], signal);
    return { hits, unrelated: count < TELLING ? 0 : mean };
  }

  /** Brings the compact copy up to date; the thread of searches reads the rows. ABORTED. */
  load(signal?: AbortSignal): Promise<void> {
    return this.#syncs.run(async () => {
      throwIfAborted(signal);
      do await this.#copyNewer(signal);
      while (await this.#removeDeleted(signal));
    });
  }

  async #copyNewer(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const given = [this.#model, this.#dimension, this.#last, ROWS_AT_ONCE] as const;
      const copy = await this.#searches.run('vectorsAfter', [...given], signal);
      await this.#copy(copy);
      this.#last = copy.last ?? this.#last;
      if (copy.rows < ROWS_AT_ONCE) return;
    }
  }

  /** Some at a time; false: there are none. */
  async #removeDeleted(signal: AbortSignal | undefined): Promise<boolean> {
    const some = this.#deleted.splice(-ROWS_AT_ONCE);
    if (some.length === 0) return false;
    try {
      const kept = await this.#searches.run('vectorsInPlaceOf', [this.#model, this.#dimension, some], signal);
      await this.#scan.remove(Float64Array.from(some.map(([, chunkId]) => chunkId)));
      await this.#copy(kept);
      return true;
    } catch (error) {
      this.#deleted.push(...some);
      throw error;
    }
  }

  async #copy({ places, vectors }: VectorCopy): Promise<void> {
    if (places.length > 0) await this.#scan.put(places, vectors);
  }

  /** Deletes the vectors of every other model. */
  keepOnlyThis(signal: AbortSignal): Promise<void> {
    return this.#vectors.keepOnly(this.#model, signal);
  }

  /** Frees the copy. */
  dispose(): void {
    this.#unsubscribe();
    this.#scan.dispose();
  }
}

function scopeOf({ chunkSetIds, documentIds, standIns }: SearchScope): VectorScope {
  return {
    sets: Float64Array.from(chunkSetIds),
    standIns: Float64Array.from([...(standIns ?? [])].flat()),
    documents: documentIds && Float64Array.from(documentIds),
  };
}
