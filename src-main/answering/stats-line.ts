import type { AnswerStats } from '../../src-shared/contract/chat.ts';

/** A sentence for exports: when an answer began, and how much of its prompt was computed. */
export function statsLine({
  ttftMs,
  promptTokens,
  reusedTokens,
  recomputedTokens,
  residentTokens,
}: AnswerStats): string {
  const resident = residentTokens > 0 ? `, ${residentTokens} still in memory` : '';
  return `First token after ${(ttftMs.total / 1000).toFixed(2)} s; prompt of ${promptTokens} tokens: ${reusedTokens} from the cache (${recomputedTokens} of them recomputed)${resident}.`;
}
