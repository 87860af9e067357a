import type { UnembeddedChunk, VectorTable } from '../catalogue/vector-table.ts';
import { boundScope, type BoundScope, type Hit, type SearchScope } from '../catalogue/word-table.ts';
import type { ActiveEmbedder } from '../models/active-model.ts';
import { yieldToEventLoop, throwIfAborted } from '../platform/abort.ts';

/** Vectors compared before yielding to other work: a few milliseconds. */
const SLICE = 1000;

/**
 * Cosine below which a passage is unrelated to a question, when there are too few passages to determine the model's
 * baseline; some models' cards name another.
 */
const MIN_SIMILARITY = 0.3;
/** This many passages determine the baseline: most are unrelated to the question. */
const TELLING = 50;
/** A related passage exceeds the baseline by this many standard deviations. */
const OUTSTANDING = 2;

/** The passages nearest to a question. */
export interface NearestPassages {
  /** By cosine, nearest first. */
  hits: Hit[];
  /** The cosine of unrelated passages. */
  unrelated: number;
}

/** The chunks' vectors by one embedding model. */
export class VectorIndex {
  readonly #vectors: VectorTable;
  readonly #model: number;
  readonly #floor: number;

  constructor(vectors: VectorTable, { identity, rules }: Pick<ActiveEmbedder, 'identity' | 'rules'>) {
    this.#vectors = vectors;
    this.#model = vectors.modelId(identity);
    this.#floor = rules.floor ?? MIN_SIMILARITY;
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

  /** The chunks whose vectors are nearest to `query`, among those above this model's baseline. ABORTED. */
  async nearest(
    query: Float32Array,
    scope: SearchScope,
    limit: number,
    signal?: AbortSignal,
  ): Promise<NearestPassages> {
    const best: Hit[] = [];
    const all = new RunningStats();
    for (const rows of this.#slices(boundScope(scope))) {
      throwIfAborted(signal);
      for (const { inReach, vector, chunkId, documentId, ordinal } of rows) {
        if (inReach === 0) continue;
        const score = dot(query, floats(vector));
        all.add(score);
        best.push({ chunkId, documentId, ordinal, score });
      }
      best.sort((a, b) => b.score - a.score || a.chunkId - b.chunkId).splice(limit);
      await yieldToEventLoop();
    }
    if (all.count < TELLING) return { hits: best.filter(({ score }) => score >= this.#floor), unrelated: 0 };
    const floor = all.mean + OUTSTANDING * all.deviation;
    return { hits: best.filter(({ score }) => score >= floor), unrelated: all.mean };
  }

  /** If documents are named, only their chunks' vectors; else all, in disk order. */
  *#slices(scope: BoundScope): Generator<ReturnType<VectorTable['scan']>> {
    if (scope.documents !== null) {
      const chunks = this.#vectors.chunksOf(scope);
      for (let start = 0; start < chunks.length; start += SLICE)
        yield this.#vectors.of(this.#model, chunks.slice(start, start + SLICE));
      return;
    }
    for (let after: number | undefined = 0; after !== undefined;) {
      const rows = this.#vectors.scan(this.#model, scope, after, SLICE);
      yield rows;
      after = rows.length < SLICE ? undefined : rows.at(-1)?.id;
    }
  }

  /** Deletes the vectors of every other model. */
  keepOnlyThis(signal: AbortSignal): Promise<void> {
    return this.#vectors.keepOnly(this.#model, signal);
  }
}

/** Running mean and standard deviation (Welford). */
class RunningStats {
  count = 0;
  mean = 0;
  #squares = 0;

  add(value: number): void {
    const off = value - this.mean;
    this.mean += off / ++this.count;
    this.#squares += off * (value - this.mean);
  }

  get deviation(): number {
    return Math.sqrt(this.#squares / this.count);
  }
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
