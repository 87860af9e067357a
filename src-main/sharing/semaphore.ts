/** Limits concurrent calls; the others wait in call order. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** `stop` cancels the wait: it rejects with the signal's reason. */
  async run<T>(call: () => Promise<T>, stop: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#place(stop);
    try {
      return await call();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    }
  }

  /** A freed slot goes directly to the next waiter, so that no later caller takes it. */
  #place(stop: AbortSignal): Promise<void> {
    stop.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(stop.reason as Error);
      };
      const begin = (): void => {
        this.#waiting.delete(begin);
        stop.removeEventListener('abort', leave);
        resolve();
      };
      this.#waiting.add(begin);
      stop.addEventListener('abort', leave, { once: true });
    });
  }
}
