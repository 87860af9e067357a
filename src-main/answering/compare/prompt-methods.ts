import type { ComparedMethod } from '../../../src-shared/comparison.ts';
import { sameStrategy, takesRatio, type StrategyChoice } from '../../../src-shared/strategy.ts';
import type { PromptPart } from '../../fusion/blender.ts';

/** A way to compute a prompt. */
export type PromptMethod = Pick<ComparedMethod, 'kind' | 'strategy' | 'answered'>;

const FULL: StrategyChoice = { name: 'full', ratio: 1 };

/** Every cached chunk unchanged. */
export const REUSE: PromptMethod = { kind: 'reuse', strategy: { name: 'none', ratio: 0 }, answered: false };

/** Full prefill, prefix caching, full reuse, then the way the answer was made and the requested ones; each once. */
export function methodsFor(answered: StrategyChoice, asked: readonly StrategyChoice[]): PromptMethod[] {
  const ways: PromptMethod[] = [
    { kind: 'full', strategy: FULL, answered: answered.name === 'full' },
    { kind: 'prefix', strategy: FULL, answered: false },
    { ...REUSE, answered: answered.name === 'none' },
  ];
  for (const strategy of [answered, ...asked]) {
    const way: PromptMethod = { kind: 'blend', strategy, answered: strategy === answered };
    if (takesRatio(strategy.name) && !ways.some((known) => sameMethod(known, way))) ways.push(way);
  }
  return ways;
}

export function sameMethod(a: PromptMethod, b: PromptMethod): boolean {
  return a.kind === b.kind && sameStrategy(a.strategy, b.strategy);
}

/**
 * What a way finds in memory, and what it appends. Earlier turns are in memory for all but 'full'. A prefix cache also has the text before
 * this turn's first passage, since every question begins with it.
 */
export function split(
  parts: readonly PromptPart[],
  kind: PromptMethod['kind'],
): { before: PromptPart[]; turn: PromptPart[] } {
  const last = parts.at(-1)?.turn;
  const ofTurn = parts.findIndex(({ turn }) => turn === last);
  const passage = parts.findIndex((part) => part.turn === last && part.kind === 'chunk');
  const at = kind === 'full' ? 0 : kind === 'prefix' && passage >= 0 ? passage : ofTurn;
  return { before: parts.slice(0, at), turn: parts.slice(at) };
}
