import { yieldToEventLoop, throwIfAborted } from './abort.ts';

/** Time that work may block the event loop, in milliseconds. */
const STRETCH_MS = 5;

/** Tells long synchronous work, between its steps, when to yield. */
export class TimeSlice {
  #until = performance.now() + STRETCH_MS;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Yields if it is time. ABORTED. */
  async step(signal?: AbortSignal): Promise<void> {
    if (!this.isOver) return;
    await yieldToEventLoop();
    throwIfAborted(signal);
    this.#until = performance.now() + STRETCH_MS;
  }
}
