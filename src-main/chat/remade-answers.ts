import type { Settings } from '../../src-shared/settings.ts';
import { makePrompt } from '../answering/compare/run.ts';
import { partsFrom } from '../answering/session-tokens.ts';
import { ANSWER_TOKENS } from '../fusion/calibration/calibrate.ts';
import { SURE } from '../fusion/calibration/measure.ts';
import type { ChunkCache, FusionSession } from '../fusion/model.ts';
import { klDivergence, likeliest, topProbability, wordF1 } from '../fusion/quality.ts';
import type { BlendedAnswer, Drift } from '../fusion/watching/watch-service.ts';
import type { Clock } from '../platform/clock.ts';
import { rowId } from '../platform/ids.ts';
import { answerPrompt } from './answer-prompt.ts';
import type { ChatModels } from './answer-runs.ts';
import type { MessageStore } from './messages.ts';

interface RemadeAnswersOptions {
  models: ChatModels;
  messages: MessageStore;
  store: ChunkCache;
  settings: { readonly current: Settings };
  clock: Clock;
}

/** Answers of conversations, made once more beside their full prefill. */
export class RemadeAnswers {
  readonly #options: RemadeAnswersOptions;

  constructor(options: RemadeAnswersOptions) {
    this.#options = options;
  }

  /** undefined where an answer was not blended, or by what people chose themselves. NOT_FOUND. */
  blended(answerId: string): BlendedAnswer | undefined {
    const { messages } = this.#options;
    const { id, stats, citations } = messages.require(rowId(answerId, 'message'));
    const context = messages.context(id);
    if (!context || !stats || stats.reusedTokens === 0 || stats.strategy.name === 'full') return undefined;
    if (messages.report(id)?.plan?.wish !== 'auto') return undefined;
    const cached = citations.filter(({ tier }) => tier !== 'computed');
    const libraryIds = [...new Set(cached.flatMap(({ libraryId }) => libraryId ?? []))];
    return { libraryIds, fingerprint: context.fingerprint };
  }

  /**
   * Makes an answer's prompt twice, blended as it was and in full, and begins an answer to both with the likeliest tokens: what
   * sampling drew would differ by chance alone. Nothing of it is kept, and no conversation gives up memory for it. undefined when nothing
   * of the prompt is cached any more. NOT_FOUND, CONFLICT when the prompt can no longer be made as it was, ABORTED, OUT_OF_MEMORY.
   */
  async remake(answerId: string, signal: AbortSignal): Promise<Drift | undefined> {
    const { models, messages, store, settings, clock } = this.#options;
    const model = models.active?.model;
    if (!model) return undefined;
    const answer = messages.require(rowId(answerId, 'message'));
    const { prompt, stats } = answerPrompt(answer, model, messages, settings.current);
    const session = model.createSession(prompt.tokens + ANSWER_TOKENS);
    try {
      const parts = partsFrom(prompt.parts, 0);
      const how = { model, store, session, clock, signal, dtype: settings.current.dtype, observe: 0 };
      const options = { ...how, behind: prompt.behind, answerTokens: ANSWER_TOKENS };
      const { strategy } = stats;
      const blended = await makePrompt(parts, { kind: 'blend', strategy, answered: true }, options);
      if (blended.report.reusableTokens === 0) return undefined;
      const whole = { name: 'full', ratio: 1 } as const;
      const full = await makePrompt(parts, { kind: 'full', strategy: whole, answered: false }, options);
      const sure = topProbability(full.logits) >= SURE;
      session.truncate(prompt.tokens);
      return {
        kl: klDivergence(full.logits, blended.logits),
        agrees: likeliest(full.logits) === likeliest(blended.logits),
        kept: await keptShare(blended.tokens, full.logits, session, signal),
        f1: sure ? wordF1(`${blended.thought} ${blended.text}`, `${full.thought} ${full.text}`) : null,
        ratio: strategy.ratio,
      };
    } finally {
      session.dispose();
    }
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
