import type { QualityFloor } from '../../../src-shared/contract/calibration.ts';
import type { WatchedAnswer } from '../../../src-shared/contract/watching.ts';
import { intervalOf } from '../averages.ts';

/** How answers in use are judged, and what follows: decision 0221. */

/** With fewer, an interval says nothing. */
export const FEWEST = 8;
/** Older ones say little of how things are now. */
export const LATEST = 40;

export function lossesOf(answers: readonly Pick<WatchedAnswer, 'f1'>[]): number[] {
  return answers.flatMap(({ f1 }) => (f1 === null ? [] : [1 - f1]));
}

/**
 * Whether answers are worse than the floor allows: all of the interval lies above it. One bad answer never suffices, however bad: it
 * widens the interval by more than it raises the mean, since T is above 1.
 */
export function breaksFloor(
  answers: readonly Pick<WatchedAnswer, 'kl' | 'f1'>[],
  { maxKl, maxF1Loss }: QualityFloor,
): boolean {
  const above = (values: readonly number[], limit: number): boolean => {
    const interval = values.length < FEWEST ? null : intervalOf(values);
    return interval !== null && interval.low > limit;
  };
  return (
    above(
      answers.map(({ kl }) => kl),
      maxKl,
    ) || above(lossesOf(answers), maxF1Loss)
  );
}

/** What is raised to: a step that can be felt, and still costs less than computing everything. */
const STEPS = [0.3, 0.5];

/** The least ratio after the floor broke: a step more, and where that was done already, everything. */
export function nextLeastRatio(leastRatio: number, answers: readonly Pick<WatchedAnswer, 'ratio'>[]): number {
  if (leastRatio > 0) return 1;
  const used = Math.min(...answers.map(({ ratio }) => ratio));
  return STEPS.find((step) => step > used) ?? 1;
}
