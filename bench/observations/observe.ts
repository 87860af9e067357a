import type { Model, Session } from '../../src-main/engine/engine.ts';
import { mean } from '../../src-main/fusion/averages.ts';
import { rankCorrelation } from '../../src-main/fusion/rank-correlation.ts';
import { interval, type Interval } from '../quality/intervals.ts';
import { computed, PromptMaker, reused, type Prompt } from '../quality/prompt.ts';
import type { Question } from '../quality/question.ts';

/** Intervals are over prompts. */
export interface Observations {
  /**
   * Figure 6: the attention deviation of the question's tokens from the full prefill, relative to full reuse, by the share of tokens
   * recomputed after layer 1. Mean over the layers after the check layer.
   */
  attention: { ratio: number; deviation: Interval }[];
  /** By layer: the share of all deviation in the most deviating 1, 2, … 100 % of the tokens (figure 7). */
  concentration: number[][];
  /** By layer: the smallest share of the tokens that has 90 % of the deviation; 0 for a layer without deviation. */
  holders: Interval[];
  /** Rank correlation of tokens' deviations between each layer and the one before it, from the second layer on (figure 8). */
  correlation: Interval[];
}

const RATIOS = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1];
const CHECK_LAYER = 1;
/** Number of the question's last tokens to observe. */
const OBSERVERS = 8;
const HELD = 0.9;

/** A layer's deviation is measured on tokens that are recomputed in all layers up to it. */
export async function observe(model: Model, questions: readonly Question[]): Promise<Observations> {
  const maker = new PromptMaker(model, { dtype: 'f16', lead: 'none', chunkTokens: 0 });
  const attention = RATIOS.map((): number[] => []);
  const layers: Float32Array[][] = [];
  try {
    for (const question of questions) {
      const prompt = await maker.prompt(question);
      const [full, blended] = [model.createSession(prompt.tokens), model.createSession(prompt.tokens)];
      try {
        for (const [i, value] of (await attentionDeviations(full, blended, prompt)).entries())
          attention[i]?.push(value);
        layers.push(await deviations(blended, prompt, model.info.kvLayers));
      } finally {
        full.dispose();
        blended.dispose();
      }
    }
  } finally {
    maker.dispose();
  }
  const byLayer = Array.from({ length: model.info.kvLayers }, (_, il) =>
    layers.map((one) => one[il] ?? new Float32Array()),
  );
  return {
    attention: RATIOS.map((ratio, i) => ({ ratio, deviation: interval(attention[i] ?? []) })),
    concentration: byLayer.map((prompts) => meanOf(prompts.map(concentrationOf))),
    holders: byLayer.map((prompts) => interval(prompts.map(holdersOf))),
    correlation: byLayer.slice(1).map((prompts, i) => {
      const before = byLayer[i] ?? [];
      return interval(prompts.map((values, p) => rankCorrelation(values, before[p] ?? [])));
    }),
  };
}

/** By ratio, as shares of the first. */
async function attentionDeviations(full: Session, blended: Session, prompt: Prompt): Promise<number[]> {
  const options = { observe: Math.min(OBSERVERS, prompt.ask.length) };
  await full.append(computed(prompt), { kind: 'full' }, options);
  const out: number[] = [];
  for (const ratio of RATIOS) {
    blended.truncate(0);
    await blended.append(
      reused(prompt),
      { kind: 'deviation', checkLayers: [CHECK_LAYER], ratios: [ratio] },
      options,
    );
    const { attention } = await blended.deviationFrom(full, 0, prompt.tokens);
    if (!attention) throw new Error('attention was not recorded');
    out.push(mean([...attention].slice(CHECK_LAYER + 1)));
  }
  return out.map((value) => (out[0] ? value / out[0] : 0));
}

/** Deviations of the passages' tokens, by layer. */
async function deviations(session: Session, prompt: Prompt, layers: number): Promise<Float32Array[]> {
  const checkLayers = Array.from({ length: layers }, (_, il) => il);
  session.truncate(0);
  const { checks } = await session.append(reused(prompt), {
    kind: 'deviation',
    checkLayers,
    ratios: checkLayers.map(() => 1),
  });
  return checks.map(({ deviation }) => deviation);
}

/** Cumulative share of the largest 1, 2, … 100 %. */
function concentrationOf(values: Float32Array): number[] {
  const sorted = values.toSorted().reverse();
  const sum = sorted.reduce((a, b) => a + b, 0);
  const sums = [0];
  for (const value of sorted) sums.push((sums.at(-1) ?? 0) + value);
  return Array.from({ length: 100 }, (_, i) => {
    const kept = Math.round(((i + 1) / 100) * sorted.length);
    return sum > 0 ? (sums[kept] ?? sum) / sum : 0;
  });
}

function holdersOf(values: Float32Array): number {
  const sorted = values.toSorted().reverse();
  const wanted = HELD * sorted.reduce((a, b) => a + b, 0);
  let [sum, count] = [0, 0];
  while (sum < wanted && count < sorted.length) sum += sorted[count++] ?? 0;
  return sorted.length > 0 ? count / sorted.length : 0;
}

function meanOf(lists: readonly number[][]): number[] {
  return Array.from({ length: lists[0]?.length ?? 0 }, (_, i) => mean(lists.map((list) => list[i] ?? 0)));
}
