import type {
  Calibration,
  CalibrationChoice,
  CalibrationPoint,
  QualityFloor,
} from '../../../src-shared/contract/calibration.ts';
import {
  layersIn,
  type StrategyChoice,
  type StrategyLayers,
  type StrategyName,
} from '../../../src-shared/strategy.ts';

export const DEFAULT_FLOOR: QualityFloor = { maxKl: 0.05, maxF1Loss: 0.01 };

/** Times closer than this share cannot be told apart on a machine that does other things too. */
const SAME_TIME = 0.05;

const FULL: StrategyChoice = { name: 'full', ratio: 1 };

/**
 * The cheapest of the points that keep the floor; of those that cost the same, the one nearest to the full prefill. Ratio 1 is a
 * full prefill by another name and is never chosen.
 */
export function chooseStrategy(
  points: readonly CalibrationPoint[],
  fullMs: number,
  floor: QualityFloor = DEFAULT_FLOOR,
): CalibrationChoice {
  const good = points.filter((point) => recomputesLess(point) && keeps(point, floor));
  if (good.length === 0) return { verdict: 'quality', strategy: FULL };
  if (good.every(({ ms }) => ms >= fullMs)) return { verdict: 'slower', strategy: FULL };
  return { verdict: 'blend', strategy: cheapest(good)?.strategy ?? FULL };
}

/** Of those that take the least time, the nearest to the full prefill. */
export function cheapest<Point extends Pick<CalibrationPoint, 'kl' | 'ms'>>(
  points: readonly Point[],
): Point | undefined {
  const least = Math.min(...points.map(({ ms }) => ms));
  const same = points.filter(({ ms }) => ms <= least * (1 + SAME_TIME));
  return same.toSorted((a, b) => a.kl - b.kl || a.ms - b.ms)[0];
}

/** Layers at which a strategy that people name should choose its tokens; none where the usual ones do. */
export function layersOf(calibration: Calibration | undefined, name: StrategyName): StrategyLayers {
  if (!calibration) return {};
  const { points, fullMs, floor } = calibration;
  const own = points.filter(({ strategy }) => strategy.name === name);
  return layersIn(chooseStrategy(own, fullMs, floor).strategy);
}

/** By the upper end of what the mean may be: a dozen prompts without a bad one do not show that there are none. */
function keeps({ kl, klHigh = kl, answerF1 }: CalibrationPoint, { maxKl, maxF1Loss }: QualityFloor): boolean {
  return klHigh <= maxKl && 1 - answerF1 <= maxF1Loss + 1e-9;
}

function recomputesLess({ strategy: { name, ratio } }: CalibrationPoint): boolean {
  return name === 'none' || (name !== 'full' && ratio < 1);
}
