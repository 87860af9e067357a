import type { Citation, Message } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import type { Progress } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';

/** Milliseconds between two events with text, with progress, and between two writes of the text to disk. */
const TEXT_MS = 30;
const PROGRESS_MS = 100;
const SAVE_MS = 500;

/** Before this many milliseconds nothing can be said about the time left. */
const FIRST_ESTIMATE_MS = 250;

interface LiveAnswerOptions {
  conversationId: number;
  answerId: number;
  events: EventBus;
  clock: Clock;
  /** Keeps the text so far, so that a crash loses half a second of it. Must not throw. */
  save: (text: string) => void;
  /** false for work on an answer that is complete already, which then stays as it is. */
  writes: boolean;
}

/** An answer while it is being made: what a window sees of it, and what is told to windows. */
export class LiveAnswer {
  readonly conversationId: number;
  readonly answerId: number;
  state: Extract<Message['state'], 'waiting' | 'prefilling' | 'streaming'> = 'waiting';
  text = '';
  citations: Citation[] = [];
  readonly notices: Notice[] = [];
  readonly #options: LiveAnswerOptions;
  readonly #abort = new AbortController();
  #told = 0;
  #progress: Progress = { done: 0, total: 0 };
  #progressSince: number | undefined;
  readonly #tellText = throttled(TEXT_MS, () => this.#emitText());
  readonly #tellProgress = throttled(PROGRESS_MS, () => this.#emitProgress());
  readonly #save = throttled(SAVE_MS, () => this.#options.save(this.text));

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

  /** Goes on with an answer; windows have `shown` of its text, which is what it begins with. */
  goOnFrom({ text: shown, citations, notices }: Pick<Message, 'text' | 'citations' | 'notices'>): void {
    this.text = shown;
    this.#told = shown.length;
    this.citations = citations;
    this.notices.push(...notices);
  }

  /** What the text begins with to the last blank, now that it is known. */
  restore(text: string): void {
    if (text.startsWith(this.text)) this.text = text;
  }

  addNotice(notice: Notice): void {
    this.notices.push(notice);
    this.#options.events.emit('chat.notice', { ...this.#ids, notice });
  }

  setCitations(citations: Citation[]): void {
    this.citations = citations;
    this.#options.events.emit('chat.citations', { ...this.#ids, citations });
  }

  /** Its turn has come. Until then it waits for others, and windows say so. */
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

  addText(text: string): void {
    this.state = 'streaming';
    this.text += text;
    this.#tellText();
    this.#save();
  }

  /** Tells the rest of the text; nothing is told or saved afterwards. */
  end(): void {
    for (const timer of [this.#tellText, this.#tellProgress, this.#save]) timer.cancel();
    this.#emitText();
  }

  get #ids() {
    return { conversationId: String(this.conversationId), answerId: String(this.answerId) };
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
