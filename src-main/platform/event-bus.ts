import type { EventPayload, EventTopic, KvasirEvent } from '../../src-shared/contract/events.ts';

/** From the services to every window. Listeners must not throw; one that does is the host's bug and is not caught. */
export class EventBus {
  readonly #listeners = new Set<(event: KvasirEvent) => void>();

  emit<T extends EventTopic>(topic: T, payload: EventPayload<T>): void {
    const event = { topic, payload } as KvasirEvent;
    for (const listener of this.#listeners) listener(event);
  }

  /** Gives a function that ends the subscription. */
  on(listener: (event: KvasirEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Calls `run` at once, then at most once in `ms`, always with a last call after the last request. */
export function throttled(ms: number, run: () => void): { (): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  const request = (): void => {
    if (timer) {
      again = true;
      return;
    }
    run();
    timer = setTimeout(() => {
      timer = undefined;
      if (!again) return;
      again = false;
      request();
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
