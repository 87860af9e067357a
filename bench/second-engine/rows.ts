import { median } from '../lib/machine.ts';

/** The same conversation by one of the two: a prompt, an answer, and a second question. */
export interface Conversation {
  /** From the prompt to the logits behind its last token. */
  firstTokenMs: number;
  /** What greedy sampling takes there, so that both can be seen to compute the same. */
  firstToken: number;
  tokensPerSecond: number;
  /** The second question alone, behind prompt and answer. */
  secondTurnMs: number;
  /** Of the second turn: what went through the model, as the engine counts it. */
  secondTurnComputed?: number;
}

/** Both, one right after the other. */
export interface Pair {
  ours: Conversation;
  llama: Conversation;
}

/** One model at one context. */
export interface Row {
  model: string;
  context: number;
  /** Medians of Kvasir's runs and of llama.cpp's. */
  medians: Record<'ours' | 'llama', Conversation>;
  /** Medians over the pairs of ours divided by llama.cpp's. */
  ratios: { firstToken: number; decode: number; secondTurn: number };
  /** Whether all runs of both took the same first token. */
  sameFirstToken: boolean;
  /** New tokens of the second turn, and the most that any run computed for it. */
  secondTurn: { newTokens: number; computedTokens: number };
  pairs: Pair[];
}

export interface Bar {
  what: string;
  bar: string;
  measured: number;
  met: boolean;
}

/** How much slower than llama.cpp, or how much less a second, may be. */
const TOLERANCE = 0.05;

export function rowOf(at: { model: string; context: number; newTokens: number }, pairs: Pair[]): Row {
  const ratio = (of: (run: Conversation) => number): number =>
    median(pairs.map(({ ours, llama }) => of(ours) / of(llama)));
  const all = pairs.flatMap(({ ours, llama }) => [ours, llama]);
  return {
    model: at.model,
    context: at.context,
    medians: {
      ours: medianOf(pairs.map(({ ours }) => ours)),
      llama: medianOf(pairs.map(({ llama }) => llama)),
    },
    ratios: {
      firstToken: ratio((run) => run.firstTokenMs),
      decode: ratio((run) => run.tokensPerSecond),
      secondTurn: ratio((run) => run.secondTurnMs),
    },
    sameFirstToken: new Set(all.map(({ firstToken }) => firstToken)).size === 1,
    secondTurn: {
      newTokens: at.newTokens,
      computedTokens: Math.max(...pairs.map(({ ours }) => ours.secondTurnComputed ?? NaN)),
    },
    pairs,
  };
}

function medianOf(runs: readonly Conversation[]): Conversation {
  const of = (value: (run: Conversation) => number): number => median(runs.map(value));
  return {
    firstTokenMs: of((run) => run.firstTokenMs),
    firstToken: runs[0]?.firstToken ?? NaN,
    tokensPerSecond: of((run) => run.tokensPerSecond),
    secondTurnMs: of((run) => run.secondTurnMs),
  };
}

export function barsOf({ model, context, ratios, secondTurn }: Row): Bar[] {
  const { newTokens, computedTokens } = secondTurn;
  const [most, least] = [1 + TOLERANCE, 1 - TOLERANCE];
  return [
    {
      what: 'first token',
      bar: `≤ ${most}`,
      measured: ratios.firstToken,
      met: ratios.firstToken <= most,
    },
    { what: 'decoding', bar: `≥ ${least}`, measured: ratios.decode, met: ratios.decode >= least },
    {
      what: 'turn 2, tokens computed',
      bar: `= ${newTokens}`,
      measured: computedTokens,
      met: computedTokens === newTokens,
    },
  ].map((bar) => ({ ...bar, what: `${model}, ${context}: ${bar.what}` }));
}
