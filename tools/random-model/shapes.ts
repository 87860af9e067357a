/** Shapes of random-weight models for benches, named after the models they resemble. */
export interface Shape {
  layers: number;
  embd: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  ff: number;
  /** Has separate output weights instead of reusing the embeddings. */
  untied?: true;
  /** Default: llama. */
  arch?: string;
  /** Tokens that windowed layers see, as in the model family. */
  window?: number;
  experts?: { count: number; used: number; ff: number };
  /** Gemma 4's small models: every `period`-th layer sees all tokens, and the last `layers` layers read the KV of earlier ones. */
  sharing?: { period: number; layers: number };
}

export const SHAPES: Record<string, Shape> = {
  /** For quick runs; resembles no model. */
  '0.1b': { layers: 12, embd: 512, heads: 8, kvHeads: 4, headDim: 64, ff: 1536 },
  /** llama2.c's stories15M: every head has separate keys and values. */
  'stories-15m': { layers: 6, embd: 288, heads: 6, kvHeads: 6, headDim: 48, ff: 768 },
  /** Resembles no model: much KV for little compute, like a large model on a fast GPU. */
  'much-kv': { layers: 24, embd: 128, heads: 8, kvHeads: 8, headDim: 32, ff: 256 },
  '0.6b': { layers: 28, embd: 1024, heads: 16, kvHeads: 8, headDim: 128, ff: 3072 },
  '1.7b': { layers: 28, embd: 2048, heads: 16, kvHeads: 8, headDim: 128, ff: 6144 },
  '4b': { layers: 36, embd: 2560, heads: 32, kvHeads: 8, headDim: 128, ff: 9728 },
  /** Windows in five of six layers. */
  'gemma3-1b': {
    arch: 'gemma3',
    layers: 26,
    embd: 1152,
    heads: 4,
    kvHeads: 1,
    headDim: 256,
    ff: 6912,
    window: 512,
  },
  /** Fifteen of thirty-five layers keep KV; four of five use a window. */
  'gemma4-e2b': {
    ...{ arch: 'gemma4', layers: 35, embd: 1536, heads: 8, kvHeads: 1, headDim: 512, ff: 6144, window: 512 },
    sharing: { period: 5, layers: 20 },
  },
  /** Qwen 3's experts at a size that fits a laptop: 8 of 64. */
  'moe-2b': {
    ...{ arch: 'qwen3moe', layers: 24, embd: 1024, heads: 16, kvHeads: 4, headDim: 128, ff: 3072 },
    experts: { count: 64, used: 8, ff: 384 },
  },
  '8b': { layers: 32, embd: 4096, heads: 32, kvHeads: 8, headDim: 128, ff: 14336, untied: true },
};
