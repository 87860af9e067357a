/** So many calls at once; the others wait in the order they came. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** `stop` ends the wait: it rejects with its reason. */
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

  /** A place that is left is handed on, so that nobody takes it who came later. */
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
