interface BreakerOptions {
  /** Asks something small of what is out; rejects when it still is. */
  probe: () => Promise<unknown>;
  onChange: () => void;
  /** Milliseconds until the first probe; each further one takes twice as long to come. */
  firstMs?: number | undefined;
  mostMs?: number | undefined;
}

/**
 * Takes out what does not answer: the first failure opens it, and from then on nobody waits for it again. It closes when a probe
 * is answered, which is made in the background.
 */
export class Breaker {
  readonly #options: BreakerOptions & { firstMs: number; mostMs: number };
  #pauseMs = 0;
  #untilMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: BreakerOptions) {
    const { firstMs = 5000, mostMs = 300_000 } = options;
    this.#options = { ...options, firstMs, mostMs };
  }

  get isOpen(): boolean {
    return this.#untilMs !== undefined;
  }

  /** When the next probe is due (milliseconds since 1970); undefined while all is well. */
  get untilMs(): number | undefined {
    return this.#untilMs;
  }

  /** Something was not answered. Failures of what began before it opened change nothing. */
  trip(): void {
    if (!this.isOpen) this.#wait();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    if (this.#closed) return;
    const { firstMs, mostMs, onChange } = this.#options;
    this.#pauseMs = Math.min(mostMs, Math.max(firstMs, this.#pauseMs * 2));
    this.#untilMs = Date.now() + this.#pauseMs;
    this.#timer = setTimeout(() => void this.#try(), this.#pauseMs).unref();
    onChange();
  }

  async #try(): Promise<void> {
    try {
      await this.#options.probe();
    } catch {
      this.#wait();
      return;
    }
    if (this.#closed) return;
    this.#pauseMs = 0;
    this.#untilMs = undefined;
    this.#options.onChange();
  }
}
