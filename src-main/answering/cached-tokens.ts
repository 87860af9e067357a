import type { PromptFigures } from '../../src-shared/figures.ts';
import type { LocalTurn } from './backends/backend.ts';

/**
 * Tokens of a prompt that were not computed for it: its known prefix, and those chunk tokens that were reused as stored. Chunks of the
 * parts in `storedNow` were computed for this very prompt.
 */
export function cachedTokens(
  { figures, appended, blended }: Pick<LocalTurn, 'appended' | 'blended'> & { figures: PromptFigures },
  storedNow: ReadonlySet<number>,
): number {
  const recomputed = new Set(blended.report.selected);
  const reuse = blended.reuse.values();
  let cached = figures.residentTokens;
  let offset = 0;
  for (const { kind, tokens, index } of appended) {
    const reused = kind === 'chunk' ? reuse.next().value : undefined;
    const runs = reused?.tier === 'computed' || storedNow.has(index) ? [] : (reused?.runs ?? []);
    for (const { begin, count } of runs)
      for (let at = begin; at < begin + count; at++) if (!recomputed.has(offset + at)) cached++;
    offset += tokens.length;
  }
  return cached;
}
