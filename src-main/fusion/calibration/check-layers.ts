import type { QualityFloor } from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice, StrategyName } from '../../../src-shared/strategy.ts';
import { cheapest } from './choose.ts';
import { mean, median } from '../averages.ts';
import type { Measured, PromptMeasured } from './measure.ts';

/** Prompts that the search looks at, and the share it recomputes where that was asked for. */
const PROMPTS = 8;
const RATIO = 0.15;

/** The search takes no further prompt when blending has taken this long: large models are searched on fewer. */
const LIMIT_MS = 60_000;

interface CheckSearchOptions<Prompt> {
  prompts: readonly Prompt[];
  /** What is to be calibrated. */
  strategies: readonly StrategyChoice[];
  layers: number;
  floor: QualityFloor;
  /** A prompt's first token by every strategy. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY. */
  measure: (prompt: Prompt, strategies: readonly StrategyChoice[]) => Promise<PromptMeasured>;
}

/**
 * Layers at which a strategy should choose its tokens instead of layer 1, if any, by its name: of all that keep the quality on
 * a few prompts the cheapest, or else the nearest to the full prefill. A later check sees more of what chunks change in one
 * another, and computes more layers in full.
 */
export async function searchChecks<Prompt>(
  options: CheckSearchOptions<Prompt>,
): Promise<Map<StrategyName, number[]>> {
  const { prompts, strategies, layers, floor, measure } = options;
  const candidates = candidatesFor(strategies, layers);
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
  const found = new Map<StrategyName, number[]>();
  for (const name of new Set(candidates.map((candidate) => candidate.name))) {
    const own = tried.filter(({ strategy }) => strategy.name === name);
    const good = own.filter(({ kl }) => kl <= floor.maxKl);
    const best = good.length > 0 ? cheapest(good) : own.toSorted((a, b) => a.kl - b.kl)[0];
    if (best?.strategy.checkLayers) found.set(name, best.strategy.checkLayers);
  }
  return found;
}

/** How many blends a search may take. */
export function searchSteps(strategies: readonly StrategyChoice[], layers: number, prompts: number): number {
  return candidatesFor(strategies, layers).length * Math.min(PROMPTS, prompts);
}

/**
 * What is tried, the cheapest first: the usual layer, the ones after it, a quarter and a third of the model; and for
 * deviation gradual filtering behind a second one. None below the middle, where little would be left to save.
 */
function candidatesFor(strategies: readonly StrategyChoice[], layers: number): StrategyChoice[] {
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
  const names = new Set(strategies.map(({ name }) => name));
  const at = (name: StrategyName, lists: readonly number[][]): StrategyChoice[] => {
    const ratio = nearest(strategies.filter((choice) => choice.name === name && choice.ratio < 1));
    if (!names.has(name) || ratio === undefined) return [];
    return [{ name, ratio }, ...lists.map((checkLayers) => ({ name, ratio, checkLayers }))];
  };
  const singles = single.map((layer) => [layer]);
  return [...at('union', singles), ...at('deviation', [...singles, ...gradual])];
}

function nearest(strategies: readonly StrategyChoice[]): number | undefined {
  const ratios = strategies.map(({ ratio }) => ratio);
  return ratios.toSorted((a, b) => Math.abs(a - RATIO) - Math.abs(b - RATIO))[0];
}

function blendedMs(measured: readonly PromptMeasured[]): number {
  return measured
    .flatMap(({ fullMs, blended }) => [fullMs, ...blended.map(({ ms }) => ms)])
    .reduce((sum, ms) => sum + ms, 0);
}
