/** What came from the shared tier while anything did. */
export interface Transfer {
  values: number;
  bytes: number;
  ms: number;
  /** From asking for a value to its first bytes, where one was opened to find out. */
  openMs?: number | undefined;
}

/**
 * How fast values arrive, all together: several share one line. It measures from the first to the last that is under way, and tells
 * of it then.
 */
export class TransferMeter {
  readonly #told: (transfer: Transfer) => void;
  #underWay = 0;
  #since = 0;
  #values = 0;
  #bytes = 0;
  #openMs: number | undefined;

  constructor(told: (transfer: Transfer) => void) {
    this.#told = told;
  }

  begin(): void {
    if (this.#underWay++ === 0) [this.#since, this.#values, this.#bytes] = [performance.now(), 0, 0];
    this.#values++;
  }

  opened(ms: number): void {
    this.#openMs = ms;
  }

  received(bytes: number): void {
    this.#bytes += bytes;
  }

  end(): void {
    if (--this.#underWay > 0 || this.#bytes === 0) return;
    const ms = performance.now() - this.#since;
    this.#told({ values: this.#values, bytes: this.#bytes, ms, openMs: this.#openMs });
    this.#openMs = undefined;
  }
}
