import type { Comparison } from '../../src-shared/comparison.ts';
import type { CompareRequest, ComparisonStatus } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkCache } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import { throttled } from '../platform/event-bus.ts';
import { rowId } from '../platform/ids.ts';
import { answerPrompt } from './answer-prompt.ts';
import type { LocalChatModels } from './answer-runs.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { tokenPrompt } from '../answering/backends/token-prompt.ts';
import type { MessageStore } from './messages.ts';
import type { MessageRecord } from './records.ts';
import type { ConversationSessions } from './sessions.ts';
import { comparePrompt } from '../answering/compare/compare.ts';
import type { Core } from '../platform/core.ts';

interface CompareServiceOptions extends Omit<Core, 'log'> {
  localModels: LocalChatModels;
  messages: MessageStore;
  /** Runs `work` in one transaction of the conversation database and converts its failures to KvasirErrors. */
  transaction: <T>(work: () => T) => T;
  store: ChunkCache;
  sessions: ConversationSessions;
  clock: Clock;
}

const PROGRESS_MS = 100;

/** Compares ways to compute an answer's prompt, one answer at a time, and stores the results with the answer. */
export class CompareService {
  readonly #options: CompareServiceOptions;
  #running: { answerId: number; controller: AbortController; ended: Promise<unknown> } | undefined;

  constructor(options: CompareServiceOptions) {
    this.#options = options;
  }

  /** NOT_FOUND. */
  status(answerId: string): ComparisonStatus {
    const { messages } = this.#options;
    const { id } = messages.require(rowId(answerId, 'message'));
    return { comparison: messages.comparison(id), running: this.#running?.answerId === id };
  }

  /** NOT_FOUND, CONFLICT, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED, DISK_FULL. */
  async run(request: CompareRequest): Promise<Comparison> {
    const { messages, events } = this.#options;
    const answer = messages.require(rowId(request.answerId, 'message'));
    if (this.#running) {
      const advice = 'Wait until it is done, or stop it.';
      throw new KvasirError('CONFLICT', 'Another answer is being compared.', advice);
    }
    const controller = new AbortController();
    const work = this.#compare(answer, request, controller.signal);
    const ended = work.catch(() => undefined);
    this.#running = { answerId: answer.id, controller, ended };
    const changed = (): void =>
      events.emit('chat.changed', { conversationId: String(answer.conversationId) });
    void ended.then(() => {
      this.#running = undefined;
      changed();
    });
    changed();
    return work;
  }

  /** Stops the running comparison and discards its results. */
  stop(): void {
    this.#running?.controller.abort();
  }

  async close(): Promise<void> {
    this.stop();
    await this.#running?.ended;
  }

  async #compare(answer: MessageRecord, request: CompareRequest, signal: AbortSignal): Promise<Comparison> {
    const { localModels: models, messages, sessions, settings, events, gate, clock, store } = this.#options;
    await models.current(); // outside of the gate, which loading a model needs itself
    const active = models.active;
    if (!active) throw new KvasirError('CONFLICT', 'No model is loaded.', 'Choose a model.');
    const { model, name } = active;
    const { request: asked, stats } = answerPrompt(answer, model, messages, settings.current);
    let progress = { done: 0, total: 0 };
    const tell = throttled(PROGRESS_MS, () =>
      events.emit('compare.progress', { answerId: String(answer.id), ...progress }),
    );
    try {
      const compared = await comparePrompt(tokenPrompt(model, asked), {
        model,
        name,
        store,
        clock,
        signal,
        dtype: settings.current.dtype,
        answered: stats.strategy,
        strategies: request.strategies,
        deep: request.deep,
        answerTokens: request.answerTokens,
        createSession: (capacity) => sessions.borrow(model, capacity),
        // One prompt per step, so that questions asked meanwhile get their turns in between.
        step: (work) =>
          gate.foreground(() => {
            throwIfAborted(signal);
            if (models.active?.model !== model) throw modelChanged(active);
            return work();
          }),
        onProgress: (now) => {
          progress = now;
          tell();
        },
      });
      const question = messages.require(answer.parentId ?? -1).text;
      const comparison: Comparison = {
        version: 1,
        answerId: String(answer.id),
        question,
        madeMs: clock.wall(),
        ...compared,
      };
      this.#options.transaction(() => messages.saveComparison(answer.id, comparison));
      return comparison;
    } finally {
      tell.cancel();
    }
  }
}

function modelChanged({ name }: NamedModel): KvasirError {
  const message = `Another model is in use now, so the comparison made with ${name} was stopped.`;
  return new KvasirError('CONFLICT', message, 'Choose that model again, then compare.');
}
