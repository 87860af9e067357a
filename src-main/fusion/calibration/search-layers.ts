import type { QualityFloor } from '../../../src-shared/contract/calibration.ts';
import {
  layersIn,
  type StrategyChoice,
  type StrategyLayers,
  type StrategyName,
} from '../../../src-shared/strategy.ts';
import { mean, median } from '../averages.ts';
import { defaultQuestionLayer } from '../strategies/query.ts';
import { cheapest } from './choose.ts';
import type { Measured, PromptMeasured } from './measure.ts';

/** Prompts that a search looks at, and the share it recomputes where that was asked for. */
const PROMPTS = 8;
const CHECK_RATIO = 0.15;
/** Where few tokens may be taken it matters most that the question looks where its answer is. */
const QUESTION_RATIO = 0.05;

/** As near as the nearest are those with up to so many times its KL: few prompts tell no better. */
const NEAR = 2;

/** A search takes no further prompt when blending has taken this long: large models are searched on fewer. */
const LIMIT_MS = 60_000;

interface LayerSearchOptions<Prompt> {
  prompts: readonly Prompt[];
  /** What is to be calibrated. */
  strategies: readonly StrategyChoice[];
  layers: number;
  floor: QualityFloor;
  /** A prompt's first token by every strategy. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY. */
  measure: (prompt: Prompt, strategies: readonly StrategyChoice[]) => Promise<PromptMeasured>;
}

type Found = ReadonlyMap<StrategyName, StrategyLayers>;

/**
 * Layers at which a strategy should choose its tokens instead of the usual ones, if any, by its name: first those whose attention
 * tells what the question looks at (QCFuse: it differs from model to model), then, with these, those where deviation is checked.
 */
export async function searchLayers<Prompt>(options: LayerSearchOptions<Prompt>): Promise<Found> {
  const byQuestion = await bestOf(questionCandidates(options), options);
  return new Map([...byQuestion, ...(await bestOf(checkCandidates(options, byQuestion), options))]);
}

/** How many steps a search may take; `steps` says how many measuring a prompt by so many strategies takes. */
export function searchSteps<Prompt>(
  { strategies, layers, prompts }: Pick<LayerSearchOptions<Prompt>, 'strategies' | 'layers' | 'prompts'>,
  steps: (prompt: Prompt, strategies: number) => number,
): number {
  const asked = { strategies, layers };
  return [questionCandidates(asked), checkCandidates(asked, new Map())]
    .filter(({ length }) => length > 0)
    .flatMap(({ length }) => prompts.slice(0, PROMPTS).map((prompt) => steps(prompt, length)))
    .reduce((sum, each) => sum + each, 0);
}

/**
 * Of each strategy's candidates, the cheapest of those that come nearest to the full prefill on a few prompts. Not of those that keep
 * the floor: at the ratio tried one may just keep it that others keep at a much smaller one.
 */
async function bestOf<Prompt>(
  candidates: readonly StrategyChoice[],
  { prompts, floor, measure }: LayerSearchOptions<Prompt>,
): Promise<Found> {
  if (candidates.length === 0) return new Map();
  const measured: PromptMeasured[] = [];
  for (const prompt of prompts.slice(0, PROMPTS)) {
    if (blendedMs(measured) > LIMIT_MS) break;
    measured.push(await measure(prompt, candidates));
  }
  const tried = candidates.map((strategy, i) => {
    const each = measured.flatMap(({ blended }): Measured[] => blended.slice(i, i + 1));
    return { strategy, kl: mean(each.map(({ kl }) => kl)), ms: median(each.map(({ ms }) => ms)) };
  });
  const found = new Map<StrategyName, StrategyLayers>();
  for (const name of new Set(candidates.map((candidate) => candidate.name))) {
    const own = tried.filter(({ strategy }) => strategy.name === name);
    const nearest = Math.min(...own.map(({ kl }) => kl));
    const best = cheapest(own.filter(({ kl }) => kl <= Math.max(NEAR * nearest, floor.maxKl / 10)));
    const layers = best && layersIn(best.strategy);
    if (layers && Object.keys(layers).length > 0) found.set(name, layers);
  }
  return found;
}

/** The usual layer in the middle, and others from a quarter of the model on. */
function questionCandidates({
  strategies,
  layers,
}: Pick<LayerSearchOptions<never>, 'strategies' | 'layers'>): StrategyChoice[] {
  const usual = defaultQuestionLayer(layers);
  const parts = [1 / 4, 1 / 3, 2 / 3, 3 / 4, 7 / 8].map((part) => Math.round(part * layers));
  const others = [...new Set(parts)].filter((layer) => layer > 0 && layer < layers && layer !== usual);
  if (others.length === 0) return [];
  return (['query', 'union'] as const).flatMap((name) => {
    const ratio = nearest(strategies, name, QUESTION_RATIO);
    if (ratio === undefined) return [];
    return [{ name, ratio }, ...others.map((layer) => ({ name, ratio, questionLayers: [layer] }))];
  });
}

/**
 * The cheapest first: the usual layer, the ones after it, a quarter and a third of the model; and for deviation gradual
 * filtering behind a second one. None below the middle, where little would be left to save: a later check sees more of what
 * chunks change in one another, and computes more layers in full.
 */
function checkCandidates(
  { strategies, layers }: Pick<LayerSearchOptions<never>, 'strategies' | 'layers'>,
  byQuestion: Found,
): StrategyChoice[] {
  const later = [2, 3, Math.round(layers / 4), Math.round(layers / 3)];
  const single = [...new Set(later)]
    .filter((layer) => layer > 1 && layer <= layers / 2)
    .toSorted((a, b) => a - b);
  const middle = Math.floor(layers / 2) + 1;
  const gradual = single
    .slice(0, 1)
    .filter((layer) => layer < middle - 1)
    .map((layer) => [layer, middle]);
  if (single.length === 0) return [];
  const at = (name: StrategyName, lists: readonly number[][]): StrategyChoice[] => {
    const ratio = nearest(strategies, name, CHECK_RATIO);
    if (ratio === undefined) return [];
    const usual = { name, ratio, ...byQuestion.get(name) };
    return [usual, ...lists.map((checkLayers) => ({ ...usual, checkLayers }))];
  };
  const singles = single.map((layer) => [layer]);
  return [...at('union', singles), ...at('deviation', [...singles, ...gradual])];
}

/** Of the ratios asked for below 1; undefined where the strategy was not asked for. */
function nearest(
  strategies: readonly StrategyChoice[],
  name: StrategyName,
  wanted: number,
): number | undefined {
  const ratios = strategies
    .filter((choice) => choice.name === name && choice.ratio < 1)
    .map(({ ratio }) => ratio);
  return ratios.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0];
}

function blendedMs(measured: readonly PromptMeasured[]): number {
  return measured
    .flatMap(({ fullMs, blended }) => [fullMs, ...blended.map(({ ms }) => ms)])
    .reduce((sum, ms) => sum + ms, 0);
}
