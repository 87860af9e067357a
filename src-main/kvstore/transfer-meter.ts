/** A period of transfers from the shared tier. */
export interface Transfer {
  values: number;
  bytes: number;
  ms: number;
  /** Time from opening a value to its first bytes, if this was measured. */
  openMs?: number | undefined;
}

/**
 * Measures the throughput of all concurrent transfers together, since they share one line: from the start of the first
 * to the end of the last, then reports it.
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
