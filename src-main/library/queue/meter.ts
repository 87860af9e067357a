import type { Clock } from '../../platform/clock.ts';

/** Weight of the newest chunk in the measured speed. */
const NEWEST = 0.2;

/** How much of the queue's present run is done, and how fast. A run ends when there is nothing left to do. */
export class Meter {
  done = 0;
  tokensDone = 0;
  /** Tokens of documents whose chunks are known and not yet computed, by document. */
  readonly #left = new Map<number, number>();
  #tokensLeft = 0;
  #documentsMeasured = 0;
  #tokensMeasured = 0;
  #msPerToken = 0;
  #ended = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get tokensTotal(): number {
    return this.tokensDone + this.#tokensLeft;
  }

  get tokensPerSecond(): number {
    return this.#msPerToken > 0 ? 1000 / this.#msPerToken : 0;
  }

  /** A document has this many tokens to compute. */
  expect(documentId: number, tokens: number): void {
    this.#begin();
    if (!this.#left.has(documentId)) {
      this.#documentsMeasured++;
      this.#tokensMeasured += tokens;
    }
    this.#tokensLeft += tokens - (this.#left.get(documentId) ?? 0);
    this.#left.set(documentId, tokens);
  }

  /** Tokens were computed; `startedAt` is of the clock. */
  computed(documentId: number, tokens: number, startedAt: number): void {
    const msPerToken = (this.#clock.now() - startedAt) / Math.max(1, tokens);
    this.#msPerToken =
      this.#msPerToken === 0 ? msPerToken : this.#msPerToken * (1 - NEWEST) + msPerToken * NEWEST;
    this.tokensDone += tokens;
    const left = Math.min(tokens, this.#left.get(documentId) ?? 0);
    this.#tokensLeft -= left;
    this.#left.set(documentId, (this.#left.get(documentId) ?? 0) - left);
  }

  /** A document needs nothing more. */
  finish(documentId: number): void {
    this.#begin();
    this.done++;
    this.#tokensLeft -= this.#left.get(documentId) ?? 0;
    this.#left.delete(documentId);
  }

  /** Time until all is computed, documents not yet read taken to be like the others. */
  secondsLeft(unread: number): number | null {
    if (this.#msPerToken === 0) return null;
    const each = this.#documentsMeasured > 0 ? this.#tokensMeasured / this.#documentsMeasured : 0;
    return ((this.#tokensLeft + unread * each) * this.#msPerToken) / 1000;
  }

  /** Nothing is left to do; the numbers stay until something is. */
  endRun(): void {
    this.#ended = true;
  }

  #begin(): void {
    if (!this.#ended) return;
    this.#ended = false;
    this.done = 0;
    this.tokensDone = 0;
    this.#left.clear();
    this.#tokensLeft = 0;
    this.#documentsMeasured = 0;
    this.#tokensMeasured = 0;
  }
}
