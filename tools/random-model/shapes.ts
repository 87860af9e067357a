/** Model shapes for benches with random weights, named for the models they resemble. */
export interface Shape {
  layers: number;
  embd: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  ff: number;
}

export const SHAPES: Record<string, Shape> = {
  '0.6b': { layers: 28, embd: 1024, heads: 16, kvHeads: 8, headDim: 128, ff: 3072 },
  '1.7b': { layers: 28, embd: 2048, heads: 16, kvHeads: 8, headDim: 128, ff: 6144 },
  '4b': { layers: 36, embd: 2560, heads: 32, kvHeads: 8, headDim: 128, ff: 9728 },
};
