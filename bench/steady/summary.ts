import type { MethodAnswer } from './methods.ts';

/** The answers of one method to one seed's questions. */
export interface Run {
  name: string;
  answers: MethodAnswer[];
}

export interface SteadyRow {
  method: string;
  /** The questions that the figures are of, from 1. */
  from: number;
  to: number;
  /** Share of the passages' tokens whose KV was cached. */
  hitRate: number;
  /** Sum of times to the first token ÷ that of full prefills of the same prompts. */
  ofFull: number;
  /** At the last of them, the mean over seeds. */
  heldBytes: number;
  writtenBytes: number;
}

/** Questions before each mark. */
const WINDOW = 50;

/** Runs of a method with several seeds count as one. The last method is the full prefill. */
export function steadyRows(runs: readonly Run[], marks: readonly number[]): SteadyRow[] {
  const full = runs.filter(({ name }) => name === runs.at(-1)?.name);
  return [...Map.groupBy(runs, ({ name }) => name)].flatMap(([method, own]) =>
    marks.flatMap((to): SteadyRow[] => {
      const from = Math.max(0, to - WINDOW);
      const windowOf = (some: readonly Run[]): MethodAnswer[] =>
        some.flatMap(({ answers }) => answers.slice(from, to));
      const last = own.flatMap(({ answers }) => answers[to - 1] ?? []);
      if (last.length < own.length) return [];
      return [
        {
          ...{ method, from: from + 1, to },
          hitRate: sum(windowOf(own), 'cachedTokens') / sum(windowOf(own), 'tokens'),
          ofFull: sum(windowOf(own), 'ms') / sum(windowOf(full), 'ms'),
          heldBytes: sum(last, 'heldBytes') / last.length,
          writtenBytes: sum(last, 'writtenBytes') / last.length,
        },
      ];
    }),
  );
}

function sum(answers: readonly MethodAnswer[], field: keyof MethodAnswer): number {
  return answers.reduce((total, answer) => total + answer[field], 0);
}
