import type { VectorTable } from '../catalogue/vector-table.ts';

/** Rows of a VectorTable in the form that the engine's scan takes. */
export interface VectorCopy {
  /** Number of rows, those without a usable vector included, and the id of the last one. */
  rows: number;
  last: number | undefined;
  /** Chunk, document and set of each usable vector. */
  places: Float64Array;
  /** These vectors, concatenated. */
  vectors: Float32Array;
}

export function vectorCopy(rows: ReturnType<VectorTable['after']>, dimension: number): VectorCopy {
  const bytes = dimension * Float32Array.BYTES_PER_ELEMENT;
  const usable = rows.filter(({ vector }) => vector?.byteLength === bytes);
  const places = usable.flatMap(({ chunkId, documentId, setId }) => [chunkId, documentId, setId]);
  const vectors = new Uint8Array(usable.length * bytes);
  usable.forEach(({ vector }, i) => vector && vectors.set(vector, i * bytes));
  return {
    rows: rows.length,
    last: rows.at(-1)?.id,
    places: Float64Array.from(places),
    vectors: new Float32Array(vectors.buffer),
  };
}
