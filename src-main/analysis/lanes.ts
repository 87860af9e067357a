import type { ChatModel } from '../fusion/model.ts';

/** Concurrent steps. Each lane has its own session and recomputes the beginning of its prompts. */
const MOST_LANES = 4;
/** With fewer steps per lane than this, running them one after another is faster. */
const LEAST_STEPS = 4;

/**
 * Runs steps in order, in as many lanes as the model can serve concurrently and as pay off. Each lane gets consecutive steps, since these
 * share the beginning of their prompts. After a failure no further steps start; the error is thrown once the running ones have ended.
 */
export async function inLanes<T>(
  steps: readonly T[],
  model: Pick<ChatModel, 'answersAtOnce'>,
  take: (step: T, lane: number, left: number) => Promise<void>,
): Promise<void> {
  const lanes = Math.max(
    1,
    Math.min(MOST_LANES, model.answersAtOnce, Math.floor(steps.length / LEAST_STEPS)),
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
