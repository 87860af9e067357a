import type { Progress } from '../engine/engine.ts';
import type { Clock } from '../platform/clock.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';

/** Milliseconds between two events with text, and between two with progress. */
const TEXT_MS = 50;
const PROGRESS_MS = 200;

/** An analysis that is running or waiting: its state and events for windows. */
export class RunningAnalysis {
  readonly id: number;
  readonly #events: EventBus;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #steps = new Map<number, RunningStep>();
  #stepsLeft = 0;
  #stepsDone = 0;
  #workMs = 0;

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

  step(stepId: number): RunningStep | undefined {
    return this.#steps.get(stepId);
  }

  /** A step starts; `left` counts the steps to run, including this one and others in progress. */
  begin(stepId: number, left: number): RunningStep {
    this.#stepsLeft = left;
    const step = new RunningStep({
      ...{ events: this.#events, clock: this.#clock, analysisId: this.id, stepId },
      secondsLeft: (spent) => this.#secondsLeft(spent),
    });
    this.#steps.set(stepId, step);
    this.#events.emit('analysis.changed', { id: String(this.id) });
    return step;
  }

  /** Returns the milliseconds that the step took since it started or restarted. */
  end(step: RunningStep, done: boolean): number {
    const ms = step.end(done);
    this.#steps.delete(step.stepId);
    if (done) {
      this.#stepsLeft--;
      this.#stepsDone++;
      this.#workMs += ms;
    }
    return ms;
  }

  /** Seconds until all steps are done; null until one is. */
  #secondsLeft(spent: number): number | null {
    if (this.#stepsDone === 0) return null;
    const mean = this.#workMs / this.#stepsDone;
    const beside = Math.max(1, this.#steps.size);
    return Math.max(0, (mean * this.#stepsLeft) / beside - Math.min(spent, mean)) / 1000;
  }
}

interface RunningStepOptions {
  events: EventBus;
  clock: Clock;
  analysisId: number;
  stepId: number;
  /** Given the milliseconds that this step has taken. */
  secondsLeft: (spentMs: number) => number | null;
}

/** A step in progress, and its text so far. */
export class RunningStep {
  readonly stepId: number;
  text = '';
  readonly #options: RunningStepOptions;
  #told = 0;
  #progress: Progress = { done: 0, total: 0 };
  #started: number;
  readonly #tellText = throttled(TEXT_MS, () => this.#emitText());
  readonly #tellProgress = throttled(PROGRESS_MS, () => this.#emitProgress());

  constructor(options: RunningStepOptions) {
    this.#options = options;
    this.stepId = options.stepId;
    this.#started = options.clock.now();
  }

  /** A question came in between: the text is discarded and written again. */
  restart(): void {
    this.text = '';
    this.#told = 0;
    this.#progress = { done: 0, total: 0 };
    this.#started = this.#options.clock.now();
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

  /** As RunningAnalysis.end(), which calls this. */
  end(done: boolean): number {
    for (const timer of [this.#tellText, this.#tellProgress]) timer.cancel();
    if (done) this.#emitText();
    return this.#options.clock.now() - this.#started;
  }

  get #ids(): { id: string; stepId: string } {
    return { id: String(this.#options.analysisId), stepId: String(this.stepId) };
  }

  #emitText(): void {
    const text = this.text.slice(this.#told);
    if (text === '') return;
    const offset = this.#told;
    this.#told = this.text.length;
    this.#options.events.emit('analysis.text', { ...this.#ids, offset, text });
  }

  #emitProgress(): void {
    const { events, clock, secondsLeft } = this.#options;
    const left = secondsLeft(clock.now() - this.#started);
    events.emit('analysis.progress', { ...this.#ids, ...this.#progress, secondsLeft: left });
  }
}
