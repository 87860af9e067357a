/** Guesses of one address in a minute. A client with a wrong key that retries every second stays below. */
const MOST = 100;
const MINUTE_MS = 60_000;
/** Addresses counted in a minute; those beyond share one count, so that many addresses take no memory. */
const MOST_ADDRESSES = 10_000;

/** Counts the wrong keys that each address has sent in this minute, against guessing. */
export class WrongKeys {
  readonly #clock: () => number;
  readonly #counts = new Map<string, number>();
  #since = -Infinity;

  /** `clock`: milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  count(address: string): void {
    this.#startMinute();
    const name = this.#nameOf(address);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Seconds until the address may send a key again; 0: now. */
  waitSeconds(address: string): number {
    this.#startMinute();
    if ((this.#counts.get(this.#nameOf(address)) ?? 0) < MOST) return 0;
    return Math.ceil((this.#since + MINUTE_MS - this.#clock()) / 1000);
  }

  #startMinute(): void {
    if (this.#clock() - this.#since < MINUTE_MS) return;
    this.#since = this.#clock();
    this.#counts.clear();
  }

  /** Whoever has an IPv6 address has its network of 64 bits. */
  #nameOf(address: string): string {
    const name = address.includes('.') ? address : address.split(':').slice(0, 4).join(':');
    return this.#counts.has(name) || this.#counts.size < MOST_ADDRESSES ? name : 'others';
  }
}
