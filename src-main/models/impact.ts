import type { ModelImpact } from '../../src-shared/contract/models.ts';
import type { KvDtype } from '../engine/engine.ts';
import { kvBytesPerToken } from './fit.ts';
import type { ModelRow } from './registry.ts';

/** How much text there is, as one model cuts it. */
interface Corpus {
  chunks: number;
  tokens: number;
}

/** Of a model, in the format of the settings. */
export interface Stored {
  cachedChunks: number;
  cachedTokens: number;
}

/** What making a model the active one means for the caches: of chunk KV, or of vectors. */
export function impactOf(
  row: ModelRow,
  { chunks, tokens, cachedChunks, cachedTokens }: Corpus & Stored,
  dtype: KvDtype,
): ModelImpact {
  const { header } = row;
  const tokensToCompute =
    header.engine === 'llama' || header.engine === 'remote' ? 0 : Math.max(0, tokens - cachedTokens);
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
