import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';
import { compareTtft, wasFullPrefill, type TtftComparison } from '../../../../src-shared/ttft.ts';

/** TTFT compared with that of a full prefill; null if it is a full prefill itself or the comparison is unknown. */
export function comparedWithFull(stats: AnswerStats): TtftComparison | null {
  return wasFullPrefill(stats) ? null : compareTtft(stats);
}

/** Chunks whose KV needed no computing, and the total number of chunks. */
export function cachedChunks({ chunkHits }: AnswerStats): { cached: number; all: number } {
  const cached = chunkHits.resident + chunkHits.device + chunkHits.ram + chunkHits.disk + chunkHits.shared;
  return { cached, all: cached + chunkHits.partial + chunkHits.computed };
}
