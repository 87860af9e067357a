import type { Citation, CitedSentence, Message, Thinking } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import type { CallDecision, ToolCall } from '../../src-shared/contract/tool-calls.ts';
import type { Progress } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import { unlessAborted } from '../platform/abort.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';
import { endedCall } from './records.ts';

/** Milliseconds between two events with text, with progress, and between two writes of the text to disk. */
const TEXT_MS = 30;
const PROGRESS_MS = 100;
const SAVE_MS = 500;

/** Before this many milliseconds the remaining time cannot be estimated. */
const FIRST_ESTIMATE_MS = 250;

interface LiveAnswerOptions {
  conversationId: number;
  answerId: number;
  events: EventBus;
  clock: Clock;
  /** Stores the text so far, so that a crash loses half a second of it. Must not throw. */
  save: (written: Pick<Message, 'text' | 'thinking' | 'calls'>) => void;
  /** false for work on a complete answer, which does not change. */
  writes: boolean;
}

/** An answer in progress: its state and events for windows. */
export class LiveAnswer {
  readonly conversationId: number;
  readonly answerId: number;
  state: Extract<Message['state'], 'waiting' | 'prefilling' | 'streaming'> = 'waiting';
  text = '';
  thinking: Thinking | null = null;
  citations: Citation[] = [];
  readonly notices: Notice[] = [];
  readonly calls: ToolCall[] = [];
  readonly #options: LiveAnswerOptions;
  readonly #abort = new AbortController();
  /** By the id of the call. */
  readonly #undecided = new Map<string, (decision: CallDecision) => void>();
  #told = 0;
  #toldThinking = 0;
  /** Start of the thought, minus the time spent on it before it was continued; undefined when none is in progress. */
  #thinkingSince: number | undefined;
  #progress: Progress = { done: 0, total: 0 };
  #progressSince: number | undefined;
  readonly #tellText = throttled(TEXT_MS, () => this.#emitText());
  readonly #tellProgress = throttled(PROGRESS_MS, () => this.#emitProgress());
  readonly #tellThinking = throttled(TEXT_MS, () => this.#emitThinking());
  readonly #save = throttled(SAVE_MS, () => this.#options.save(this));

  constructor(options: LiveAnswerOptions) {
    this.#options = options;
    this.conversationId = options.conversationId;
    this.answerId = options.answerId;
  }

  get writes(): boolean {
    return this.#options.writes;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort();
  }

  get soFar(): Pick<Message, 'text' | 'thinking' | 'notices' | 'calls'> {
    const { text, thinking, notices, calls } = this;
    return { text, thinking, notices: [...notices], calls: [...calls] };
  }

  /** The text so far, to be stored. */
  get written(): Pick<Message, 'text' | 'thinking'> {
    const { text, thinking } = this;
    return { text: text.trimEnd(), thinking: thinking && { ...thinking, text: thinking.text.trimEnd() } };
  }

  /** Continues an answer; windows already have `shown` of its text, which is its beginning. */
  goOnFrom({
    text,
    thinking,
    citations,
    notices,
    calls,
  }: Pick<Message, 'text' | 'thinking' | 'citations' | 'notices' | 'calls'>): void {
    this.text = text;
    this.#told = text.length;
    this.thinking = thinking;
    this.#toldThinking = thinking?.text.length ?? 0;
    this.citations = citations;
    this.notices.push(...notices);
    this.calls.push(...calls);
  }

  /** The earlier text up to the last white space, now that it is known. */
  restore({ thought, answer }: { thought: string; answer: string }): void {
    if (answer.startsWith(this.text)) this.text = answer;
    if (this.thinking && thought.startsWith(this.thinking.text))
      this.thinking = { ...this.thinking, text: thought };
  }

  addNotice(notice: Notice): void {
    this.notices.push(notice);
    this.#options.events.emit('chat.notice', { ...this.#ids, notice });
  }

  /** Adds a call, or replaces the one with its id. */
  setCall(call: ToolCall): void {
    const at = this.calls.findIndex(({ id }) => id === call.id);
    this.calls.splice(at < 0 ? this.calls.length : at, 1, call);
    this.#tellText.cancel();
    this.#emitText(); // the text before it
    this.#options.events.emit('chat.call', { ...this.#ids, call });
    this.#options.save(this);
  }

  /** The person's decision about a call. ABORTED when the answer is stopped. */
  async decision(callId: string): Promise<CallDecision> {
    const { promise, resolve } = Promise.withResolvers<CallDecision>();
    this.#undecided.set(callId, resolve);
    try {
      return await unlessAborted(promise, this.signal);
    } finally {
      this.#undecided.delete(callId);
    }
  }

  /** false where no such call waits for a decision. */
  decide(callId: string, decision: CallDecision): boolean {
    const resolve = this.#undecided.get(callId);
    resolve?.(decision);
    return resolve !== undefined;
  }

  setCitations(citations: Citation[]): void {
    this.citations = citations;
    this.#options.events.emit('chat.citations', { ...this.#ids, citations });
  }

  /** Its turn comes. Until then it is queued, and windows show that. */
  begin(): void {
    this.state = 'prefilling';
    this.#emitProgress();
  }

  progress(progress: Progress): void {
    this.state = 'prefilling';
    this.#progress = progress;
    this.#progressSince ??= this.#options.clock.now();
    this.#tellProgress();
  }

  /** `tokens`: of the whole thought so far. */
  addThought(text: string, tokens: number): void {
    this.state = 'streaming';
    const now = this.#options.clock.now();
    this.#thinkingSince ??= now - (this.thinking?.ms ?? 0);
    this.thinking = { text: (this.thinking?.text ?? '') + text, ms: now - this.#thinkingSince, tokens };
    this.#tellThinking();
    this.#save();
  }

  addText(text: string): void {
    this.state = 'streaming';
    this.#endThought();
    this.text += text;
    this.#tellText();
    this.#save();
  }

  /** Its text has been added; it is emitted first, so that windows can mark it. */
  addSentence(sentence: CitedSentence): void {
    this.#tellText.cancel();
    this.#emitText();
    this.#options.events.emit('chat.sentence', { ...this.#ids, sentence });
  }

  /** Emits the rest of the text, and ends its calls; nothing is emitted or saved afterwards. */
  end(): void {
    for (const call of this.calls.map(endedCall)) if (!this.calls.includes(call)) this.setCall(call);
    for (const timer of [this.#tellText, this.#tellThinking, this.#tellProgress, this.#save]) timer.cancel();
    this.#emitThinking();
    this.#emitText();
  }

  get #ids() {
    return { conversationId: String(this.conversationId), answerId: String(this.answerId) };
  }

  /** Its duration is known now, and emitted before the answer. */
  #endThought(): void {
    if (this.thinking === null || this.#thinkingSince === undefined) return;
    const { text } = this.thinking;
    const ms = this.#options.clock.now() - this.#thinkingSince;
    this.thinking = { ...this.thinking, text: text.trimEnd(), ms };
    this.#thinkingSince = undefined;
    this.#tellThinking.cancel();
    this.#emitThinking(true);
  }

  /** `anyway`: also without more text. */
  #emitThinking(anyway = false): void {
    if (this.thinking === null) return;
    const text = this.thinking.text.slice(this.#toldThinking);
    if (text === '' && !anyway) return;
    this.#options.events.emit('chat.thinking', {
      ...this.#ids,
      ...this.thinking,
      offset: this.#toldThinking,
      text,
    });
    this.#toldThinking += text.length;
  }

  #emitText(): void {
    const text = this.text.slice(this.#told);
    if (text === '') return;
    this.#options.events.emit('chat.text', { ...this.#ids, offset: this.#told, text });
    this.#told = this.text.length;
  }

  #emitProgress(): void {
    const { done, total } = this.#progress;
    const now = this.#options.clock.now();
    const elapsed = now - (this.#progressSince ?? now);
    const known = elapsed >= FIRST_ESTIMATE_MS && done > 0;
    const secondsLeft = known ? (elapsed / 1000) * ((total - done) / done) : null;
    this.#options.events.emit('chat.progress', { ...this.#ids, done, total, secondsLeft });
  }
}
