import type { ModelImpact } from '../../src-shared/contract/models.ts';
import type { KvDtype } from '../engine/engine.ts';
import { kvBytesPerToken } from './fit.ts';
import type { ModelRow } from './registry.ts';

/** What the libraries hold, cut for one model. */
export interface Corpus {
  chunks: number;
  tokens: number;
  /** Of these, what is stored already. */
  cachedChunks: number;
  cachedTokens: number;
}

/** What making a model the active one means for the caches. `corpus`: cut for this model, or for another as an estimate. */
export function impactOf(row: ModelRow, corpus: Corpus, dtype: KvDtype): ModelImpact {
  const tokensToCompute = corpus.tokens - corpus.cachedTokens;
  return {
    chunks: corpus.chunks,
    cachedChunks: corpus.cachedChunks,
    tokensToCompute,
    bytesToStore: tokensToCompute * kvBytesPerToken(row.header, dtype),
    secondsEstimate: row.tokensPerSecond ? tokensToCompute / row.tokensPerSecond : null,
  };
}
