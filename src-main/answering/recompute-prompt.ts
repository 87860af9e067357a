import { ANSWER_TOKENS } from '../fusion/calibration/calibrate.ts';
import { divergenceOf, followGreedy, generateGreedy } from '../fusion/divergence.ts';
import { mean } from '../fusion/averages.ts';
import type { ChunkCache, FusionModel } from '../fusion/model.ts';
import { libraryIdsOf } from '../fusion/text-kind.ts';
import type { WatchedPrompt } from '../fusion/watching/memory-prompts.ts';
import type { Drift, PassingAnswer } from '../fusion/watching/watch-service.ts';
import type { KvDtype } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import type { Answer } from './answer.ts';
import { makePrompt } from './compare/run.ts';
import { partsFrom } from './session-tokens.ts';

interface RecomputeOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  clock: Clock;
  signal: AbortSignal;
}

/** What watching needs of an answer that no conversation keeps; undefined where the controller blended nothing. */
export function passingAnswer({ local, tiers, stats }: Answer): PassingAnswer | undefined {
  const { reusedTokens, strategy } = stats;
  if (local?.plan.wish !== 'auto' || reusedTokens === 0 || strategy.name === 'full') return undefined;
  const { parts, behind } = local.prompt;
  const blended = parts.filter((_, part) => tiers.has(part) && tiers.get(part) !== 'computed');
  return {
    fingerprint: local.model.info.fingerprint,
    libraryIds: libraryIdsOf(blended),
    prompt: { parts, behind, strategy },
  };
}

/**
 * Computes a prompt twice, blended as before and in full, and follows the blended answer's most likely tokens with both: sampled ones would
 * differ by chance. Nothing of it is stored, and no conversation gives up memory for it. undefined when nothing of the prompt is cached any
 * more. ABORTED, OUT_OF_MEMORY.
 */
export async function recomputePrompt(
  { parts: all, behind, strategy }: WatchedPrompt,
  { model, ...rest }: RecomputeOptions,
): Promise<Drift | undefined> {
  const tokens = all.reduce((sum, part) => sum + part.tokens.length, 0);
  const session = model.createSession(tokens + ANSWER_TOKENS);
  try {
    const parts = partsFrom(all, 0);
    const options = { ...rest, model, session, behind, observe: 0, answerTokens: 0 };
    const blended = await makePrompt(parts, { kind: 'blend', strategy, answered: false }, options);
    if (blended.report.reusableTokens === 0) return undefined;
    const written = await generateGreedy(session, ANSWER_TOKENS, rest);
    const whole = { name: 'full', ratio: 1 } as const;
    await makePrompt(parts, { kind: 'full', strategy: whole, answered: false }, options);
    const { kl, agrees } = divergenceOf(await followGreedy(session, written, rest), written.logits);
    return { kl: mean(kl), agreement: mean(agrees.map(Number)), ratio: strategy.ratio };
  } finally {
    session.dispose();
  }
}
