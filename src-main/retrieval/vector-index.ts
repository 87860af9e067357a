import type { Unembedded, VectorTable } from '../catalogue/vector-table.ts';
import { boundScope, type Hit, type SearchScope } from '../catalogue/word-table.ts';
import { yieldToEventLoop, throwIfAborted } from '../platform/abort.ts';

/** Vectors compared before other work gets its turn: a few milliseconds. */
const SLICE = 1000;

/** Cosine below which a passage has nothing to do with a question, for the embedding models in common use. */
const MIN_SIMILARITY = 0.3;

/** The chunks' vectors by one embedding model. */
export class VectorIndex {
  readonly #vectors: VectorTable;
  readonly #model: number;

  constructor(vectors: VectorTable, identity: string) {
    this.#vectors = vectors;
    this.#model = vectors.modelId(identity);
  }

  /** Chunks that have no vector yet, of a set or of one of its documents. */
  missing(chunkSetId: number, limit: number, documentId?: number): Unembedded[] {
    return this.#vectors.missing(this.#model, chunkSetId, limit, documentId);
  }

  /** Keeps vectors, one after another in `values`; chunks that are gone by now are passed over. */
  put(chunkIds: readonly number[], values: Float32Array): void {
    const dimension = values.length / chunkIds.length;
    const vectors = chunkIds.map((chunkId, i) => {
      const { buffer, byteOffset, byteLength } = values.subarray(i * dimension, (i + 1) * dimension);
      return [chunkId, Buffer.from(buffer, byteOffset, byteLength)] as const;
    });
    this.#vectors.put(this.#model, vectors);
  }

  /** The chunks whose vectors are nearest to `query`, by cosine, nearest first. ABORTED. */
  async nearest(
    query: Float32Array,
    scope: SearchScope,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Hit[]> {
    const best: Hit[] = [];
    const bound = boundScope(scope);
    for (let after = 0; ;) {
      throwIfAborted(signal);
      const rows = this.#vectors.scan(this.#model, bound, after, SLICE);
      for (const { inReach, vector, chunkId, documentId, ordinal } of rows) {
        if (inReach === 0) continue;
        const score = dot(query, floats(vector));
        if (score >= MIN_SIMILARITY) best.push({ chunkId, documentId, ordinal, score });
      }
      const last = rows.at(-1);
      best.sort((a, b) => b.score - a.score || a.chunkId - b.chunkId).splice(limit);
      if (!last || rows.length < SLICE) return best;
      after = last.id;
      await yieldToEventLoop();
    }
  }

  /** Forgets the vectors of every other model. */
  keepOnlyThis(): void {
    this.#vectors.keepOnly(this.#model);
  }
}

function floats(bytes: Buffer): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes));
  return new Float32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
}

/** Of unit vectors the dot product is the cosine. */
function dot(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
