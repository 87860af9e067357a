import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';

/** Number of steps, including the combining step that a document with several windows gets. */
export function stepsInAll({ kind, steps }: Pick<Analysis, 'kind' | 'steps'>): number {
  const windows = steps.filter((step) => step.kind === 'window').length;
  const combined = steps.some((step) => step.kind === 'combine');
  return steps.length + (kind === 'document' && windows > 1 && !combined ? 1 : 0);
}

/** The step whose answer covers the whole document; undefined until everything is done. */
export function resultOf({ steps }: Pick<Analysis, 'steps'>): Step | undefined {
  const windows = steps.filter(({ kind }) => kind === 'window');
  const last = windows.length > 1 ? steps.findLast(({ kind }) => kind === 'combine') : windows[0];
  return steps.every(({ state }) => state === 'done') ? last : undefined;
}

export interface Reuse {
  tokens: number;
  /** Tokens that this prompt did not compute: from cached chunks or still in the session. */
  reused: number;
  recomputed: number;
}

/** Prompt tokens, and how many of them came from the cache. */
export function reuseOf(steps: readonly Pick<Step, 'stats'>[]): Reuse {
  const sum = { tokens: 0, reused: 0, recomputed: 0 };
  for (const { stats } of steps) {
    if (!stats) continue;
    sum.tokens += stats.promptTokens;
    sum.reused += stats.reusedTokens + stats.residentTokens;
    sum.recomputed += stats.recomputedTokens;
  }
  return sum;
}
