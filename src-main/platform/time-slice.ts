import { yieldToEventLoop, throwIfAborted } from './abort.ts';

/** How long work may keep the event loop waiting at a stretch, in milliseconds. */
const STRETCH_MS = 5;

/** Long synchronous work asks between its steps whether others have waited long enough. */
export class TimeSlice {
  #until = performance.now() + STRETCH_MS;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Lets other work run if it is time. ABORTED. */
  async step(signal?: AbortSignal): Promise<void> {
    if (!this.isOver) return;
    await yieldToEventLoop();
    throwIfAborted(signal);
    this.#until = performance.now() + STRETCH_MS;
  }
}
