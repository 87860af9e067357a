import type {
  Calibration,
  CalibrationChoice,
  CalibrationPoint,
  FormatLoss,
  QualityFloor,
} from '../../../src-shared/contract/calibration.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';

/** Decision 0249: published models that are this near choose the same token in 97 of 100 places. */
export const DEFAULT_FLOOR: QualityFloor = { maxKl: 0.01, minAgreement: 0.97 };

/** Times closer than this share are indistinguishable on a machine that does other work, too. */
const SAME_TIME = 0.05;

const FULL: StrategyChoice = { name: 'full', ratio: 1 };

/**
 * The cheapest of the points that meet the floor; on ties, the one nearest to the full prefill. Ratio 1 is a full prefill by another name
 * and is never chosen.
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

/** Strategies that meet the floor by their means but not by their intervals, and are cheaper than what would be chosen now. */
export function undecided(
  points: readonly CalibrationPoint[],
  fullMs: number,
  floor: QualityFloor,
): StrategyChoice[] {
  const kept = points.filter((point) => recomputesLess(point) && keeps(point, floor));
  const costMs = cheapest(kept)?.ms ?? fullMs;
  const open = points.filter(
    (point) => recomputesLess(point) && !keeps(point, floor) && keeps({ ...point, klHigh: point.kl }, floor),
  );
  return open.filter(({ ms }) => ms < costMs).map(({ strategy }) => strategy);
}

/** Of the fastest points, the one nearest to the full prefill. */
function cheapest<Point extends Pick<CalibrationPoint, 'kl' | 'ms'>>(
  points: readonly Point[],
): Point | undefined {
  const least = Math.min(...points.map(({ ms }) => ms));
  const same = points.filter(({ ms }) => ms <= least * (1 + SAME_TIME));
  return same.toSorted((a, b) => a.kl - b.kl || a.ms - b.ms)[0];
}

/** For text that was not measured: of the strategies measured with other text at this ratio, the nearest to the full prefill. */
export function nearestAt(calibrations: readonly Calibration[], ratio: number): StrategyChoice | undefined {
  const points = calibrations.flatMap(({ points: all }) =>
    all.filter(({ strategy }) => strategy.ratio === ratio),
  );
  return points.toSorted((a, b) => a.kl - b.kl)[0]?.strategy;
}

/**
 * By the upper end of what the mean divergence may be: a dozen prompts without a bad one do not show that there are none. Agreement counts
 * single tokens, so a dozen prompts show it to a few per cent only: it must not be shown to be too low.
 */
export function keeps(
  { kl, klHigh = kl, agreement, agreementHigh = agreement }: FormatLoss,
  { maxKl, minAgreement }: QualityFloor = DEFAULT_FLOOR,
): boolean {
  return klHigh <= maxKl && agreementHigh >= minAgreement;
}

function recomputesLess({ strategy: { name, ratio } }: CalibrationPoint): boolean {
  return name === 'none' || (name !== 'full' && ratio < 1);
}
