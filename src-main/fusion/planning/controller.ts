import type { CalibrationChoice } from '../../../src-shared/contract/calibration.ts';
import type { PlanReason, PredictedTtft } from '../../../src-shared/plan.ts';
import { DEFAULT_RATIO, takesRatio, type StrategyChoice } from '../../../src-shared/strategy.ts';
import type { ModelInfo, Strategy } from '../../engine/engine.ts';
import { engineStrategy, type StrategyOrAuto } from '../strategy.ts';
import { DEFAULT_CHECK_LAYER } from '../strategies/deviation.ts';
import { usualQuestionLayers } from '../strategies/query.ts';
import { computedOnly, type CostModel, type Subject } from './cost-model.ts';
import { isLoadedFrom, type Piece, type Tier, type Work } from './work.ts';

/** How a prompt's chunks are fused when the model was not calibrated: decisions 0249 and 0250. */
export const UNCALIBRATED: StrategyChoice = { name: 'query', ratio: DEFAULT_RATIO };

export interface Decision {
  requested: StrategyOrAuto;
  strategy: Strategy;
  choice: StrategyChoice;
  reason: PlanReason;
  /** The whole prompt is computed although some of it is cached. */
  fellBack: boolean;
  /** Pieces (indices) that are cached but computed all the same. */
  computed: ReadonlySet<number>;
  /** The slowest tier that is loaded from. */
  tier: Tier | null;
  /** The slowest tier that would add no delay. */
  cheapestTier: Tier | null;
  predicted: PredictedTtft | null;
  predictedFullMs: number | null;
}

interface DecideOptions {
  info: Subject & Partial<Pick<ModelInfo, 'engine'>>;
  costs: Pick<CostModel, 'predict'>;
  /** The calibration result for the model; absent before calibration. */
  calibrated?: CalibrationChoice | undefined;
  /** The choice without calibration. Default: UNCALIBRATED. */
  unmeasured?: StrategyChoice | undefined;
  /** The minimum ratio set by watching; 1: nothing is blended. */
  leastRatio?: number | undefined;
  /** Tiers from the slowest to the fastest. */
  tiers: readonly Tier[];
}

/** A cost increase up to this share counts as no delay: it is indistinguishable from noise. */
const NO_DELAY = 0.02;

/** Predictions closer than their error (decision 0150) do not tell which is faster. */
const WORTH = 0.15;

/** Ratios are tried in steps of this. */
const STEP = 0.01;

/**
 * The loading controller (CacheBlend §5): r is the quality floor's ratio, or the largest one hidden by loading; pieces that take longer to
 * load than to compute are computed. A strategy that a person chose stays unchanged and is only predicted.
 */
export function decide(work: Work, requested: StrategyOrAuto, options: DecideOptions): Decision {
  const { info, costs, calibrated, unmeasured = UNCALIBRATED, leastRatio = 0 } = options;
  const predictedFullMs = costs.predict(info, work, { kind: 'full' })?.total ?? null;
  const rest = { requested, predictedFullMs };
  if (requested.kind !== 'auto') {
    const reason = info.engine === 'llama' ? 'not-blended' : 'asked';
    return { ...rest, ...plain(work, requested, choiceOf(requested, info.kvLayers), reason, options) };
  }

  const blended = calibrated?.verdict === 'blend' ? calibrated.strategy : unmeasured;
  const floor = atLeast(leastRatio, blended, unmeasured);
  const least = engineStrategy(floor, info.kvLayers);
  if (work.pieces.every(({ tier }) => tier === null))
    return { ...rest, ...plain(work, least, floor, 'nothing-cached', options) };
  if (calibrated && calibrated.verdict !== 'blend') {
    const reason = calibrated.verdict === 'quality' ? 'quality' : 'full-is-faster';
    return { ...rest, ...full(work, reason, options) };
  }
  if (leastRatio >= 1) return { ...rest, ...full(work, 'watched', options) };
  const computed = slowerToLoad(work, least, options);
  const loading = without(work, computed);
  const blendMs = costs.predict(info, loading, least)?.total;
  if (blendMs === undefined || predictedFullMs === null)
    return { ...rest, ...plain(work, least, floor, 'unmeasured', options) };
  const nothingLoaded = loading.pieces.every(({ tier }) => tier === null);
  if (nothingLoaded || predictedFullMs < blendMs * (1 - WORTH))
    return { ...rest, ...full(work, 'full-is-faster', options) };

  const loads = loading.pieces.some(({ tier }) => isLoadedFrom(tier));
  const predict = (strategy: Strategy) => costs.predict(info, loading, strategy)?.total;
  const ratio = loads ? hidden(floor, blendMs, predict, info) : floor.ratio;
  const choice = { ...floor, ratio };
  const reason = ratio > floor.ratio ? 'hidden' : 'floor';
  const strategy = engineStrategy(choice, info.kvLayers);
  return { ...rest, ...plain(loading, strategy, choice, reason, options), computed };
}

/** A way to blend that recomputes no less than this; a strategy without a ratio is replaced by the usual one. */
function atLeast(ratio: number, choice: StrategyChoice, usual: StrategyChoice): StrategyChoice {
  if (choice.ratio >= ratio) return choice;
  return { ...(takesRatio(choice.name) ? choice : usual), ratio };
}

/** The slowest tier that could hold all of the prompt's stored KV without delay; null while that is unknown. */
function cheapestTier(work: Work, strategy: Strategy, { info, costs, tiers }: DecideOptions): Tier | null {
  const at = (tier: Tier): number | undefined => {
    const pieces = work.pieces.map((piece): Piece => (piece.tier === null ? piece : { ...piece, tier }));
    return costs.predict(info, { ...work, pieces }, strategy)?.total;
  };
  const fastest = at(tiers.at(-1) ?? 'ram');
  if (fastest === undefined) return null;
  return tiers.find((tier) => (at(tier) ?? Infinity) <= fastest * (1 + NO_DELAY)) ?? null;
}

function plain(
  work: Work,
  strategy: Strategy,
  choice: StrategyChoice,
  reason: PlanReason,
  options: DecideOptions,
): Omit<Decision, 'requested' | 'predictedFullMs'> {
  const cached = strategy.kind === 'full' ? [] : work.pieces.flatMap(({ tier }) => tier ?? []);
  const { info, costs, tiers } = options;
  return {
    strategy,
    choice,
    reason,
    fellBack: false,
    computed: new Set(),
    tier: tiers.find((tier) => cached.includes(tier)) ?? null,
    cheapestTier: cached.length > 0 ? cheapestTier(work, strategy, options) : null,
    predicted: costs.predict(info, work, strategy),
  };
}

function full(
  work: Work,
  reason: PlanReason,
  options: DecideOptions,
): Omit<Decision, 'requested' | 'predictedFullMs'> {
  return {
    ...plain(work, { kind: 'full' }, { name: 'full', ratio: 1 }, reason, options),
    fellBack: true,
  };
}

/**
 * Pieces that are faster to compute than to load. Taken in order from the first, which are cheapest to compute, as long as the prompt as a
 * whole gets faster; while they are computed the others load.
 */
function slowerToLoad(work: Work, strategy: Strategy, { info, costs }: DecideOptions): Set<number> {
  const chosen = new Set<number>();
  let best = costs.predict(info, work, strategy)?.total;
  let found = new Set<number>();
  for (const cached of cachedTogether(work)) {
    if (best === undefined || !cached.some((index) => isLoadedFrom(work.pieces[index]?.tier ?? null)))
      continue;
    for (const index of cached) chosen.add(index);
    const ms = costs.predict(info, without(work, chosen), strategy)?.total;
    if (ms === undefined || ms >= best * (1 - WORTH)) continue;
    best = ms;
    found = new Set(chosen);
  }
  return found;
}

/** Indices of cached pieces, grouped by chunk. */
function cachedTogether({ pieces }: Work): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, { tier, chunk }] of pieces.entries()) {
    if (tier === null) continue;
    const name = chunk === undefined ? `piece ${index}` : `chunk ${chunk}`;
    groups.set(name, [...(groups.get(name) ?? []), index]);
  }
  return [...groups.values()];
}

/** The largest ratio whose prompt is ready as soon as the floor's; predictions increase with the ratio. */
function hidden(
  floor: StrategyChoice,
  floorMs: number,
  predict: (strategy: Strategy) => number | undefined,
  { kvLayers }: Pick<ModelInfo, 'kvLayers'>,
): number {
  if (floor.name === 'none' || floor.name === 'full') return floor.ratio;
  const at = (steps: number): number => Math.min(1, Number((floor.ratio + steps * STEP).toFixed(4)));
  const free = (steps: number): boolean => {
    const ms = predict(engineStrategy({ ...floor, ratio: at(steps) }, kvLayers));
    return ms !== undefined && ms <= floorMs * (1 + NO_DELAY);
  };
  let [low, high] = [0, Math.ceil((1 - floor.ratio) / STEP)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (free(middle)) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? floor.ratio : at(low);
}

function without(work: Work, computed: ReadonlySet<number>): Work {
  const only = computedOnly(work).pieces;
  return {
    ...work,
    pieces: work.pieces.map((piece, i) => (computed.has(i) ? (only[i] ?? piece) : piece)),
  };
}

/** A strategy with its name and ratio, for display; of several ratios the last, of an adaptive one the minimum. */
function choiceOf(strategy: Strategy, layers: number): StrategyChoice {
  if (strategy.kind === 'none') return { name: 'none', ratio: 0 };
  if (strategy.kind === 'full') return { name: 'full', ratio: 1 };
  const ratio = 'adaptive' in strategy ? strategy.adaptive.least : strategy.ratios.at(-1);
  const checkLayers = 'checkLayers' in strategy ? [...strategy.checkLayers] : [];
  const questionLayers = 'questionLayers' in strategy ? [...strategy.questionLayers] : [];
  const same = (all: readonly number[], usual: readonly number[]): boolean =>
    all.length === 0 || all.join() === usual.join();
  return {
    ...{ name: strategy.kind, ratio: ratio ?? 0 },
    ...(!same(checkLayers, [DEFAULT_CHECK_LAYER]) && { checkLayers }),
    ...(!same(questionLayers, usualQuestionLayers(layers)) && { questionLayers }),
  };
}
