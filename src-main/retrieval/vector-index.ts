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

/** Candidates whose exact vectors are read at a time. */
const READ_AT_ONCE = 64;
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
  /** Rows that were deleted, by id, with their chunks. */
  #deleted = new Map<number, number>();

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
    this.#unsubscribe = vectors.onDelete(this.#model, (id, chunkId) => this.#deleted.set(id, chunkId));
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
    throwIfAborted(signal);
    const floor = count < TELLING ? this.#floor : mean + OUTSTANDING * deviation;
    const hits: Hit[] = [];
    for (let start = 0; start < chunks.length; start += READ_AT_ONCE) {
      const least = Math.max(floor, hits[limit - 1]?.score ?? floor);
      if ((bounds[start] ?? 0) < least) break; // no later one is nearer
      const ids = [...chunks.subarray(start, start + READ_AT_ONCE)];
      for (const { vector, ...place } of this.#vectors.of(this.#model, ids))
        hits.push({ ...place, score: dot(query, floats(vector)) });
      hits.sort((a, b) => b.score - a.score || a.chunkId - b.chunkId).splice(limit);
    }
    return { hits: hits.filter(({ score }) => score >= floor), unrelated: count < TELLING ? 0 : mean };
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
    const some = [...this.#deleted].slice(0, ROWS_AT_ONCE);
    if (some.length === 0) return false;
    for (const [id] of some) this.#deleted.delete(id);
    try {
      const kept = await this.#searches.run('vectorsInPlaceOf', [this.#model, this.#dimension, some], signal);
      await this.#scan.remove(Float64Array.from(some.map(([, chunkId]) => chunkId)));
      await this.#copy(kept);
      return true;
    } catch (error) {
      for (const [id, chunkId] of some) this.#deleted.set(id, chunkId);
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

function floats(bytes: Buffer): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes));
  return new Float32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
}

/** For unit vectors the dot product is the cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
