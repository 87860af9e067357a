import type { VectorTable } from '../catalogue/vector-table.ts';
import type { Hit } from '../catalogue/search-scope.ts';

/** Candidates whose exact vectors are read at a time. */
const READ_AT_ONCE = 64;

/** Chunks that may be near to a vector, with upper bounds of their cosines in descending order. */
export interface Candidates {
  chunks: Float64Array;
  bounds: Float32Array;
}

/** The candidates with the largest cosines of at least `floor`, nearest first; reads exact vectors until no bound reaches the last hit. */
export function exactHits(
  vectors: VectorTable,
  model: number,
  query: Float32Array,
  { chunks, bounds }: Candidates,
  { limit, floor }: { limit: number; floor: number },
): Hit[] {
  const hits: Hit[] = [];
  for (let start = 0; start < chunks.length; start += READ_AT_ONCE) {
    const least = Math.max(floor, hits[limit - 1]?.score ?? floor);
    if ((bounds[start] ?? 0) < least) break; // no later one is nearer
    const ids = [...chunks.subarray(start, start + READ_AT_ONCE)];
    for (const { vector, ...place } of vectors.of(model, ids))
      hits.push({ ...place, score: dot(query, floats(vector)) });
    hits.sort((a, b) => b.score - a.score || a.chunkId - b.chunkId).splice(limit);
  }
  return hits.filter(({ score }) => score >= floor);
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
