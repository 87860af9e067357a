import { answersAtOnce, type FusionModel } from '../fusion/model.ts';

/** Steps at once. Each lane has a session of its own, and computes anew what its prompts begin with. */
const MOST_LANES = 4;
/** Fewer steps than this in a lane are taken sooner one after another. */
const LEAST_STEPS = 4;

/**
 * Takes steps in their order, in as many lanes as the model answers at once and as are worth it: each lane gets steps that follow one
 * another, since these share what their prompts begin with. After a failure no more are begun; it is thrown when those that
 * were begun have ended.
 */
export async function inLanes<T>(
  steps: readonly T[],
  model: Pick<FusionModel, 'info'>,
  take: (step: T, lane: number, left: number) => Promise<void>,
): Promise<void> {
  const lanes = Math.max(
    1,
    Math.min(MOST_LANES, answersAtOnce(model), Math.floor(steps.length / LEAST_STEPS)),
  );
  let left = steps.length;
  const failures: unknown[] = [];
  const run = async (lane: number): Promise<void> => {
    const [from, to] = [lane, lane + 1].map((i) => Math.round((i * steps.length) / lanes));
    for (const step of steps.slice(from, to)) {
      if (failures.length > 0) return;
      try {
        await take(step, lane, left);
        left--;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  if (failures.length > 0) throw failures[0];
}
