import type { Settings } from '../../src-shared/settings.ts';
import { tokenPrompt } from '../answering/backends/token-prompt.ts';
import { recomputePrompt } from '../answering/recompute-prompt.ts';
import type { ChunkCache } from '../fusion/model.ts';
import type { BlendedAnswer, Drift, PassingAnswer } from '../fusion/watching/watch-service.ts';
import type { Clock } from '../platform/clock.ts';
import { rowId } from '../platform/ids.ts';
import { answerPrompt } from './answer-prompt.ts';
import type { LocalChatModels } from './answer-runs.ts';
import type { MessageStore } from './messages.ts';

interface AnswerRecomputerOptions {
  localModels: LocalChatModels;
  messages: MessageStore;
  store: ChunkCache;
  settings: { readonly current: Settings };
  clock: Clock;
}

/** Recomputes answers of conversations and compares them with their full prefill. */
export class AnswerRecomputer {
  readonly #options: AnswerRecomputerOptions;

  constructor(options: AnswerRecomputerOptions) {
    this.#options = options;
  }

  /** undefined when an answer was not blended, or with a strategy that a person chose. NOT_FOUND. */
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

  /** What watching needs of an answer whose conversation does not last. As blended(); CONFLICT. */
  passing(answerId: string): PassingAnswer | undefined {
    const { localModels, messages, settings } = this.#options;
    const blended = this.blended(answerId);
    const model = localModels.active?.model;
    if (!blended || !model) return undefined;
    const answer = messages.require(rowId(answerId, 'message'));
    const { request, stats } = answerPrompt(answer, model, messages, settings.current);
    const { parts, behind } = tokenPrompt(model, request);
    return { ...blended, prompt: { parts, behind, strategy: stats.strategy } };
  }

  /** As remakePrompt. NOT_FOUND, CONFLICT when the prompt can no longer be reproduced. */
  async remake(answerId: string, signal: AbortSignal): Promise<Drift | undefined> {
    const { localModels, messages, store, settings, clock } = this.#options;
    const model = localModels.active?.model;
    if (!model) return undefined;
    const answer = messages.require(rowId(answerId, 'message'));
    const { request, stats } = answerPrompt(answer, model, messages, settings.current);
    const { dtype } = settings.current;
    return recomputePrompt(
      { ...tokenPrompt(model, request), strategy: stats.strategy },
      { model, store, clock, signal, dtype },
    );
  }
}
