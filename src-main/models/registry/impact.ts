import type { ModelImpact } from '../../../src-shared/contract/models.ts';
import type { KvDtype } from '../../engine/engine.ts';
import { kvBytesPerToken } from './fit.ts';
import type { ModelRow } from './model-registry.ts';

/** Amount of text, as chunked for one model, and how much of it is cached in the format of the settings. */
interface Corpus {
  chunks: number;
  tokens: number;
  cachedChunks: number;
  cachedTokens: number;
}

/** The effect of activating the model on the caches: of chunk KV, or of vectors. */
export function impactOf(
  row: ModelRow,
  { chunks, tokens, cachedChunks, cachedTokens }: Corpus,
  dtype: KvDtype,
): ModelImpact {
  const { header } = row;
  const tokensToCompute = header.obstacle ? 0 : Math.max(0, tokens - cachedTokens);
  return {
    chunks,
    cachedChunks: Math.min(chunks, cachedChunks),
    tokensToCompute,
    bytesToStore: header.embedding
      ? chunks * header.embeddingLength * Float32Array.BYTES_PER_ELEMENT
      : tokensToCompute * kvBytesPerToken(header, dtype),
    secondsEstimate: row.tokensPerSecond ? tokensToCompute / row.tokensPerSecond : null,
  };
}
