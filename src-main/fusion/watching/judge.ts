import type { QualityFloor } from '../../../src-shared/contract/calibration.ts';
import type { WatchedAnswer } from '../../../src-shared/contract/watching.ts';
import { intervalOf } from '../averages.ts';

/** How watched answers are judged, and the consequences: decision 0221. */

/** With fewer, an interval is meaningless. */
export const FEWEST = 8;
/** Older ones say little about the current state. */
export const LATEST = 40;

/**
 * Whether answers are worse than the floor allows: the whole interval is beyond it. One bad answer never suffices, however bad: it widens
 * the interval by more than it moves the mean, since T is above 1.
 */
export function breaksFloor(
  answers: readonly Pick<WatchedAnswer, 'kl' | 'agreement'>[],
  { maxKl, minAgreement }: QualityFloor,
): boolean {
  if (answers.length < FEWEST) return false;
  const kl = intervalOf(answers.map((answer) => answer.kl));
  const agreement = intervalOf(answers.map((answer) => answer.agreement));
  return (kl?.low ?? 0) > maxKl || (agreement?.high ?? 1) < minAgreement;
}

/** The raised ratio: a noticeable step that still costs less than computing everything. */
const STEPS = [0.3, 0.5];

/** The minimum ratio after the floor was violated: one step more, and if that was done already, everything. */
export function nextLeastRatio(leastRatio: number, answers: readonly Pick<WatchedAnswer, 'ratio'>[]): number {
  if (leastRatio > 0) return 1;
  const used = Math.min(...answers.map(({ ratio }) => ratio));
  return STEPS.find((step) => step > used) ?? 1;
}
