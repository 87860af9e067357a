interface BreakerOptions {
  /** A small request to the unreachable tier; rejects while it is still unreachable. */
  probe: () => Promise<unknown>;
  onChange: () => void;
  /** Milliseconds until the first probe; the delay doubles after each. */
  firstMs?: number | undefined;
}

/** Longest delay between two probes, in milliseconds. */
const MAX_PAUSE_MS = 300_000;

/**
 * A circuit breaker: opens on the first failure, after which nobody waits for the tier, and closes when a background
 * probe succeeds.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #pauseMs = 0;
  #untilMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#untilMs !== undefined;
  }

  /** When the next probe is due (milliseconds since 1970); undefined while closed. */
  get untilMs(): number | undefined {
    return this.#untilMs;
  }

  /** A call failed. Failures of calls that began before it opened have no effect. */
  trip(): void {
    if (!this.isOpen) this.#wait();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    if (this.#closed) return;
    const { firstMs = 5000, onChange } = this.#options;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(firstMs, this.#pauseMs * 2));
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
