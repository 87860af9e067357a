import type { EventPayload, EventTopic, KvasirEvent } from '../../src-shared/contract/events.ts';

/**
 * Events from the services to every window. A listener that throws (its window is gone, a write failed) is reported,
 * and affects neither the other listeners nor the service, which may be in the middle of a change.
 */
export class EventBus {
  readonly #listeners = new Set<(event: KvasirEvent) => void>();
  readonly #onError: (error: unknown) => void;

  /** Without `onError`, emit() throws a listener's error. */
  constructor(onError: (error: unknown) => void = rethrow) {
    this.#onError = onError;
  }

  emit<T extends EventTopic>(topic: T, payload: EventPayload<T>): void {
    const event = { topic, payload } as KvasirEvent;
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Returns a function that ends the subscription. */
  on(listener: (event: KvasirEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/**
 * Calls `run` immediately, then at most once in `ms`, always with a final call after the last request; while it returns
 * false, it is called again without a request.
 */
export function throttled(ms: number, run: () => unknown): { (): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  const request = (): void => {
    if (timer) {
      again = true;
      return;
    }
    again = run() === false;
    timer = setTimeout(() => {
      timer = undefined;
      if (again) request();
    }, ms);
    timer.unref();
  };
  return Object.assign(request, {
    cancel: () => {
      clearTimeout(timer);
      timer = undefined;
      again = false;
    },
  });
}

function rethrow(error: unknown): never {
  throw error;
}
