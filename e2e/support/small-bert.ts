/** The shape of a small embedding model. */
export const BERT = {
  arch: 'bert',
  layers: 2,
  embd: 64,
  heads: 4,
  'kv-heads': 4,
  'head-dim': 16,
  ff: 128,
  vocab: 256,
};
