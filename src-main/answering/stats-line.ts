import type { AnswerStats } from '../../src-shared/contract/chat.ts';

type Told = Pick<
  AnswerStats,
  'ttftMs' | 'promptTokens' | 'reusedTokens' | 'recomputedTokens' | 'residentTokens'
>;

/** A sentence for exports: when an answer began, and how much of its prompt was computed. */
export function statsLine(stats: Told): string {
  const { ttftMs, promptTokens, reusedTokens, recomputedTokens, residentTokens } = stats;
  const resident = residentTokens > 0 ? `, ${residentTokens} still in memory` : '';
  return `First token after ${(ttftMs.total / 1000).toFixed(2)} s; prompt of ${promptTokens} tokens: ${reusedTokens} from the cache (${recomputedTokens} of them recomputed)${resident}.`;
}
