import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import { ANSWER_TOKENS } from '../fusion/calibration/calibrate.ts';
import { SURE } from '../fusion/calibration/measure.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../fusion/model.ts';
import { klDivergence, likeliest, topProbability, wordF1 } from '../fusion/quality.ts';
import { libraryIdsOf } from '../fusion/text-kind.ts';
import type { WatchedPrompt } from '../fusion/watching/memory-prompts.ts';
import type { Drift, PassingAnswer } from '../fusion/watching/watch-service.ts';
import type { KvDtype } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import { makePrompt } from './compare/run.ts';
import type { Offered, Prompt } from './prompt.ts';
import { partsFrom } from './session-tokens.ts';
import type { TurnResult } from './turn.ts';

interface RemakeOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  clock: Clock;
  signal: AbortSignal;
}

/** What watching needs of an answer that no conversation keeps; undefined where the controller blended nothing. */
export function passingAnswer(
  prompt: Prompt<Offered>,
  { plan, tiers }: Pick<TurnResult, 'plan' | 'tiers'>,
  { reusedTokens, strategy }: Pick<AnswerStats, 'reusedTokens' | 'strategy'>,
  { info }: Pick<FusionModel, 'info'>,
): PassingAnswer | undefined {
  if (plan.wish !== 'auto' || reusedTokens === 0 || strategy.name === 'full') return undefined;
  const blended = prompt.parts.filter((_, part) => tiers.has(part) && tiers.get(part) !== 'computed');
  const { parts, behind } = prompt;
  return {
    fingerprint: info.fingerprint,
    libraryIds: libraryIdsOf(blended),
    prompt: { parts, behind, strategy },
  };
}

/**
 * Makes a prompt twice, blended as it was and in full, and begins an answer to both with the likeliest tokens: what sampling drew would
 * differ by chance alone. Nothing of it is kept, and no conversation gives up memory for it. undefined when nothing of the prompt is
 * cached any more. ABORTED, OUT_OF_MEMORY.
 */
export async function remakePrompt(
  { parts: all, behind, strategy }: WatchedPrompt,
  { model, ...rest }: RemakeOptions,
): Promise<Drift | undefined> {
  const tokens = all.reduce((sum, part) => sum + part.tokens.length, 0);
  const session = model.createSession(tokens + ANSWER_TOKENS);
  try {
    const parts = partsFrom(all, 0);
    const options = { ...rest, model, session, behind, observe: 0, answerTokens: ANSWER_TOKENS };
    const blended = await makePrompt(parts, { kind: 'blend', strategy, answered: true }, options);
    if (blended.report.reusableTokens === 0) return undefined;
    const whole = { name: 'full', ratio: 1 } as const;
    const full = await makePrompt(parts, { kind: 'full', strategy: whole, answered: false }, options);
    const sure = topProbability(full.logits) >= SURE;
    session.truncate(tokens);
    return {
      kl: klDivergence(full.logits, blended.logits),
      agrees: likeliest(full.logits) === likeliest(blended.logits),
      kept: await keptShare(blended.tokens, full.logits, session, rest.signal),
      f1: sure ? wordF1(`${blended.thought} ${blended.text}`, `${full.thought} ${full.text}`) : null,
      ratio: strategy.ratio,
    };
  } finally {
    session.dispose();
  }
}

/** Share of tokens that are the likeliest in their places, behind the prompt that a session holds. */
async function keptShare(
  tokens: Int32Array,
  first: Float32Array,
  session: FusionSession,
  signal: AbortSignal,
): Promise<number> {
  let kept = 0;
  let logits = first;
  for (const [i, token] of tokens.entries()) {
    if (likeliest(logits) === token) kept++;
    if (i === tokens.length - 1) break;
    const next = Int32Array.of(token);
    await session.append([{ kind: 'compute', tokens: next }], { kind: 'full' }, { signal });
    logits = session.logits();
  }
  return tokens.length > 0 ? kept / tokens.length : 1;
}
