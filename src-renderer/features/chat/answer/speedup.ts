import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';

/** How many times sooner the first token came than with a full prefill; undefined when there is nothing to compare. */
export function speedup({ ttftMs, fullPrefillMs, strategy }: AnswerStats): number | undefined {
  if (fullPrefillMs === null || ttftMs.total <= 0 || strategy.name === 'full') return undefined;
  return fullPrefillMs / ttftMs.total;
}

/** Chunks whose KV needed no computing, and all of them. */
export function cachedChunks({ chunkHits }: AnswerStats): { cached: number; all: number } {
  const cached = chunkHits.resident + chunkHits.ram + chunkHits.disk;
  return { cached, all: cached + chunkHits.partial + chunkHits.computed };
}
