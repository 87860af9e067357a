import type { ConversationOptions, Message } from '../../src-shared/contract/chat.ts';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import type { Clock } from '../platform/clock.ts';
import { failureOf, traceOf } from '../platform/failure.ts';
import type { NamedModel } from '../answering/named-model.ts';
import type { FusionModel } from '../fusion/model.ts';
import { withModel } from '../answering/with-model.ts';
import type { Answerer, ConversationAnswer } from './answerer.ts';
import { LiveAnswer } from './live-answer.ts';
import type { AnswerEnd, MessageStore } from './messages.ts';
import type { MessageRecord } from './records.ts';
import type { ConversationSessions } from './sessions.ts';
import { Stopwatch } from '../answering/stopwatch.ts';
import type { WaitingPrompt, WaitingPrompts } from '../answering/waiting-prompts.ts';
import type { Core } from '../platform/core.ts';
import type { ToolSource } from '../tools/tool.ts';
import { offeredTools } from './conversation-tools.ts';

/** The source of chat's model; ModelSource implements it. */
export interface ChatModels<M = NamedModel> {
  current(): Promise<M>;
  readonly active: M | undefined;
  onChange(listener: (active: M) => void): () => void;
}

/** The same for work that needs the model's engine. */
export type LocalChatModels = ChatModels<NamedModel<FusionModel>>;

interface AnswerRunsOptions extends Core {
  models: ChatModels;
  localModels: LocalChatModels;
  messages: MessageStore;
  sessions: ConversationSessions;
  answerer: Answerer;
  toolSources: readonly ToolSource[];
  waiting?: Pick<WaitingPrompts, 'add' | 'search'> | undefined;
  clock: Clock;
}

/** Options for asking a question again. */
export interface RegenerateOptions {
  /** Whether to ask the model even if no passage was found. */
  mayGuess?: boolean;
  /** Whether the answer should differ from an earlier one that repeated itself. */
  variety?: boolean;
}

type StoredEnd = AnswerEnd & Pick<MessageRecord, 'calls'>;

interface Run {
  live: LiveAnswer;
  done: Promise<unknown>;
}

/** Answers in progress: one per conversation; several conversations share the model, others wait at the gate. */
export class AnswerRuns {
  readonly #options: AnswerRunsOptions;
  /** By conversation. */
  readonly #runs = new Map<number, Run>();
  /** Ends of answers that could not be stored, as on a full disk, and why. They are stored with the next one, or at close. */
  readonly #unsaved = new Map<number, { end: StoredEnd; failure: Failure }>();
  #closed = false;

  constructor(options: AnswerRunsOptions) {
    this.#options = options;
  }

  busy(conversationId: number): boolean {
    return this.#runs.has(conversationId);
  }

  live(answerId: number): LiveAnswer | undefined {
    for (const { live } of this.#runs.values()) if (live.answerId === answerId && live.writes) return live;
    return undefined;
  }

  /** What the answer is, if its end could not be stored. */
  unsaved(answerId: number): Partial<Message> | undefined {
    const unsaved = this.#unsaved.get(answerId);
    if (!unsaved) return undefined;
    const { text, thinking, citations, notices, calls } = unsaved.end;
    return {
      text,
      thinking,
      citations: [...citations],
      notices: [...notices],
      calls,
      state: 'failed',
      failure: unsaved.failure,
    };
  }

  /** CONFLICT while an answer of the conversation is in progress. */
  requireFree(conversationId: number): void {
    if (this.#closed) throw new KvasirError('ABORTED', 'Kvasir is shutting down.');
    if (!this.busy(conversationId)) return;
    const advice = 'Wait until it is done, or stop it.';
    throw new KvasirError('CONFLICT', 'This conversation is still answering its previous question.', advice);
  }

  start(
    question: MessageRecord,
    answerId: number,
    {
      options,
      instructions,
      mayGuess = false,
      variety = false,
    }: { options: ConversationOptions; instructions: string } & RegenerateOptions,
  ): void {
    const { clock, settings } = this.#options;
    const live = this.#newLive(question.conversationId, answerId, true);
    const stopwatch = new Stopwatch(clock);
    const how = { options, instructions, mayGuess, variety };
    const task = { live, question, ...how, settings: settings.current, stopwatch };
    const make = async (): Promise<ConversationAnswer> => {
      const { toolSources, answerer, waiting } = this.#options;
      const reads = (options.strategy ?? task.settings.strategy).name !== 'full';
      const wait =
        waiting && (() => waiting.add(() => (reads ? waiting.search(question.text, options) : [])));
      const offered = await offeredTools(toolSources, options.tools, live.signal);
      const work = (model: NamedModel): Promise<ConversationAnswer> => {
        const pause = <T>(task: () => Promise<T>): Promise<T> => this.#pause(model, task);
        return answerer.answer(model, { ...task, offered, pause });
      };
      return this.#withModel(this.#options, live, work, wait);
    };
    const done = make().then(
      (answer) => this.#end(live, answer),
      (error: unknown) => this.#end(live, { end: this.#failedEnd(live, error) }),
    );
    this.#runs.set(question.conversationId, { live, done });
  }

  /** Continues a stored answer; if that fails, the answer stays as it was, with the text added so far and the reason for the end. */
  continue(answer: MessageRecord, options: ConversationOptions): void {
    const { clock, settings, messages, answerer } = this.#options;
    const live = this.#newLive(answer.conversationId, answer.id, true);
    live.goOnFrom(answer);
    messages.reopen(answer.id);
    const task = { live, answer, options, settings: settings.current, stopwatch: new Stopwatch(clock) };
    const made = this.#withModel(this.#options, live, (model) => answerer.continue(model, task));
    const done = made.then(
      (answer) => this.#end(live, answer),
      (error: unknown) => {
        const { state, citations, stats } = answer;
        const kept = state === 'waiting' ? 'stopped' : state;
        this.#end(live, { end: { ...this.#failedEnd(live, error), state: kept, citations, stats } });
      },
    );
    this.#runs.set(answer.conversationId, { live, done });
  }

  /** Runs other work on a conversation with a model that runs here, exclusively; stop() ends it. CONFLICT, MODEL_UNSUPPORTED. */
  async alone<T>(
    conversationId: number,
    answerId: number,
    work: (model: NamedModel<FusionModel>, live: LiveAnswer) => Promise<T>,
  ): Promise<T> {
    this.requireFree(conversationId);
    const live = this.#newLive(conversationId, answerId, false);
    const { gate, localModels: models } = this.#options;
    const done = this.#withModel({ gate, models }, live, (model) => work(model, live));
    this.#runs.set(conversationId, { live, done: done.catch(() => undefined) });
    try {
      return await done;
    } finally {
      live.end();
      this.#runs.delete(conversationId);
      this.#options.events.emit('chat.changed', { conversationId: String(conversationId) });
    }
  }

  stop(conversationId: number): void {
    this.#runs.get(conversationId)?.live.stop();
  }

  /** Whether any answer is in progress or waiting. */
  get working(): boolean {
    return this.#runs.size > 0;
  }

  /** Resolves when no answer of the conversation is in progress: its memory may be released. */
  async ended(conversationId: number): Promise<void> {
    for (let run; (run = this.#runs.get(conversationId));) await run.done;
  }

  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map(({ done }) => done));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { live } of this.#runs.values()) live.stop();
    await this.idle();
    this.#saveUnsaved();
  }

  /** Runs work while others may use the model. CONFLICT where it was changed meanwhile. */
  async #pause<T>({ model }: NamedModel, work: () => Promise<T>): Promise<T> {
    const { gate, models } = this.#options;
    const value = await gate.pause(work);
    if (models.active?.model === model) return value;
    throw new KvasirError('CONFLICT', 'The model was changed while the answer used a tool.', 'Ask again.');
  }

  /** Runs `work` when its turn comes; stopping ends the wait immediately. */
  #withModel<M, T>(
    from: Parameters<typeof withModel<M, T>>[0],
    live: LiveAnswer,
    work: (model: M) => Promise<T>,
    wait?: () => WaitingPrompt,
  ): Promise<T> {
    return withModel(from, { signal: live.signal, wait }, (model) => {
      live.begin();
      return work(model);
    });
  }

  #newLive(conversationId: number, answerId: number, writes: boolean): LiveAnswer {
    const { events, clock, messages, log } = this.#options;
    const save = (written: Pick<MessageRecord, 'text' | 'thinking' | 'calls'>): void => {
      try {
        messages.save(answerId, written);
      } catch (error) {
        log.warn('answer-not-saved', { error: String(error) }); // emitted even when its end cannot be saved
      }
    };
    return new LiveAnswer({ conversationId, answerId, events, clock, save, writes });
  }

  #failedEnd(live: LiveAnswer, error: unknown): AnswerEnd {
    const { sessions, log } = this.#options;
    const stopped = error instanceof KvasirError && error.code === 'ABORTED';
    if (!stopped) sessions.drop(live.conversationId); // the contents of the session are unknown now
    if (!(error instanceof KvasirError)) log.error('answer-failed', { error: traceOf(error) });
    const failure = stopped ? null : failureOf(error);
    const { citations, notices } = live;
    const state = stopped ? 'stopped' : 'failed';
    return { ...live.written, state, failure, citations, notices, stats: null, context: undefined };
  }

  #end(live: LiveAnswer, { end, report }: ConversationAnswer): void {
    const { sessions, events } = this.#options;
    live.end();
    this.#saveUnsaved();
    const unsaved = this.#save(live.answerId, { ...end, calls: live.calls }, report);
    const state = unsaved ? 'failed' : end.state;
    const failure = unsaved ?? end.failure;
    const hasReport = report !== undefined && !unsaved;
    this.#runs.delete(live.conversationId);
    sessions.answered(live.conversationId);
    if (!this.working) sessions.trim(); // the next one may have its session already
    const conversationId = String(live.conversationId);
    const ids = { conversationId, answerId: String(live.answerId) };
    events.emit('chat.done', { ...ids, state, failure, stats: end.stats, hasReport });
    events.emit('chat.changed', { conversationId });
  }

  /** Returns why it could not be stored. */
  #save(answerId: number, end: StoredEnd, report?: FusionReport): Failure | undefined {
    const { messages, log } = this.#options;
    try {
      messages.finish(answerId, end);
      if (report) messages.saveReport(answerId, report);
      this.#unsaved.delete(answerId);
      return undefined;
    } catch (error) {
      log.error('answer-not-saved', { error: traceOf(error) });
      const failure = failureOf(error);
      this.#unsaved.set(answerId, { end, failure });
      return failure;
    }
  }

  #saveUnsaved(): void {
    for (const [answerId, { end }] of this.#unsaved) this.#save(answerId, end);
  }
}
