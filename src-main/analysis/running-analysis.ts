import type { Progress } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';

/** Milliseconds between two events with text, and with progress. */
const TEXT_MS = 50;
const PROGRESS_MS = 200;

/** An analysis that is running or waits for its turn: what windows see of it, and what they are told. */
export class RunningAnalysis {
  readonly id: number;
  /** The step that is being taken, and what it has written. */
  stepId: number | undefined;
  text = '';
  readonly #events: EventBus;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #told = 0;
  #progress: Progress = { done: 0, total: 0 };
  #stepsLeft = 0;
  #stepsDone = 0;
  #workMs = 0;
  #stepStarted = 0;
  readonly #tellText = throttled(TEXT_MS, () => this.#emitText());
  readonly #tellProgress = throttled(PROGRESS_MS, () => this.#emitProgress());

  constructor(id: number, events: EventBus, clock: Clock) {
    this.id = id;
    this.#events = events;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort();
  }

  /** A step begins; `left` counts it too. */
  begin(stepId: number, left: number): void {
    this.stepId = stepId;
    this.#stepsLeft = left;
    this.restart();
    this.#changed();
  }

  /** A question came in between: what was written is written anew. */
  restart(): void {
    this.text = '';
    this.#told = 0;
    this.#progress = { done: 0, total: 0 };
    this.#stepStarted = this.#clock.now();
  }

  progress(progress: Progress): void {
    this.#progress = progress;
    this.#tellProgress();
  }

  addText(text: string): void {
    this.text += text;
    this.#tellText();
    this.#tellProgress();
  }

  /** Gives the milliseconds that the step took since it began or began anew. */
  end(done: boolean): number {
    for (const timer of [this.#tellText, this.#tellProgress]) timer.cancel();
    const ms = this.#clock.now() - this.#stepStarted;
    if (done) {
      this.#emitText();
      this.#stepsDone++;
      this.#workMs += ms;
    }
    this.stepId = undefined;
    return ms;
  }

  /** Tells that there is something to ask for again. */
  #changed(): void {
    this.#events.emit('analysis.changed', { id: String(this.id) });
  }

  #emitText(): void {
    const text = this.text.slice(this.#told);
    if (text === '' || this.stepId === undefined) return;
    const offset = this.#told;
    this.#told = this.text.length;
    this.#events.emit('analysis.text', { id: String(this.id), stepId: String(this.stepId), offset, text });
  }

  #emitProgress(): void {
    if (this.stepId === undefined) return;
    const { done, total } = this.#progress;
    const spent = this.#clock.now() - this.#stepStarted;
    const mean = this.#workMs / this.#stepsDone;
    const secondsLeft =
      this.#stepsDone === 0 ? null : Math.max(0, mean * this.#stepsLeft - Math.min(spent, mean)) / 1000;
    const ids = { id: String(this.id), stepId: String(this.stepId) };
    this.#events.emit('analysis.progress', { ...ids, done, total, secondsLeft });
  }
}
