import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';

/** The parts of a time to first token in the order in which they happen, with their colours. */
export const TTFT_PARTS = [
  { part: 'retrieve', color: 'var(--kv-retrieve)' },
  { part: 'assemble', color: 'var(--kv-muted)' },
  { part: 'acquire', color: 'var(--kv-ram)' },
  { part: 'load', color: 'var(--kv-load)' },
  { part: 'place', color: 'var(--kv-place)' },
  { part: 'check', color: 'var(--kv-check)' },
  { part: 'recompute', color: 'var(--kv-compute)' },
  { part: 'firstToken', color: 'var(--kv-accent)' },
  { part: 'other', color: 'var(--kv-line)' },
] as const;

/** How many times sooner the first token came than with a full prefill; undefined when there is nothing to compare. */
export function speedup({ ttftMs, fullPrefillMs, strategy }: AnswerStats): number | undefined {
  if (fullPrefillMs === null || ttftMs.total <= 0 || strategy.name === 'full') return undefined;
  return fullPrefillMs / ttftMs.total;
}

/** Chunks whose KV needed no computing, and all of them. */
export function cachedChunks({ chunkHits }: AnswerStats): { cached: number; all: number } {
  const cached = chunkHits.resident + chunkHits.ram + chunkHits.disk;
  return { cached, all: cached + chunkHits.computed };
}
