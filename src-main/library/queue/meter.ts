import type { Clock } from '../../platform/clock.ts';

/** Weight of the newest chunk in the measured speed. */
const NEWEST = 0.2;

/** How much of the queue's present run is done, and how fast. A run ends when there is nothing left to do. */
export class Meter {
  tokensDone = 0;
  readonly #done = new Set<number>();
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

  /** Documents. */
  get done(): number {
    return this.#done.size;
  }

  get tokensLeft(): number {
    return this.#tokensLeft;
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
    this.#done.delete(documentId);
  }

  /** Tokens of a document that is expected were computed; `startedAt` is of the clock. */
  computed(documentId: number, tokens: number, startedAt: number): void {
    const left = this.#left.get(documentId);
    if (left === undefined) return; // it belongs to a run that another model has ended
    const msPerToken = (this.#clock.now() - startedAt) / Math.max(1, tokens);
    this.#msPerToken =
      this.#msPerToken === 0 ? msPerToken : this.#msPerToken * (1 - NEWEST) + msPerToken * NEWEST;
    this.tokensDone += tokens;
    this.#tokensLeft -= Math.min(tokens, left);
    this.#left.set(documentId, Math.max(0, left - tokens));
  }

  /** Tokens of a document that is expected came from other machines: that says nothing of how fast they are computed. */
  fetched(documentId: number, tokens: number): void {
    const left = this.#left.get(documentId);
    if (left === undefined) return;
    this.tokensDone += tokens;
    this.#tokensLeft -= Math.min(tokens, left);
    this.#left.set(documentId, Math.max(0, left - tokens));
  }

  /** A document needs nothing more. */
  finish(documentId: number): void {
    this.#begin();
    this.#done.add(documentId);
    this.forget(documentId);
  }

  /** A document has nothing to compute any more: it is done, or gone. */
  forget(documentId: number): void {
    this.#tokensLeft -= this.#left.get(documentId) ?? 0;
    this.#left.delete(documentId);
  }

  /** Drops documents that are no more. */
  prune(exists: (documentId: number) => boolean): void {
    for (const id of [...this.#left.keys()]) if (!exists(id)) this.forget(id);
  }

  /**
   * Time until all is computed, documents not yet read taken to be like the others; `room`: tokens that can be stored, since
   * what cannot is not computed either. null until a speed is known.
   */
  secondsLeft(unread: number, room = Infinity): number | null {
    if (this.#msPerToken === 0) return null;
    const each = this.#documentsMeasured > 0 ? this.#tokensMeasured / this.#documentsMeasured : 0;
    return (Math.min(this.#tokensLeft + unread * each, room) * this.#msPerToken) / 1000;
  }

  /** Nothing is left to do; the numbers stay until something is. */
  endRun(): void {
    this.#ended = true;
  }

  /** Another model computes from here on: what was done, was to be done, and how fast, says nothing of it. */
  reset(): void {
    this.#ended = false;
    this.#done.clear();
    this.tokensDone = 0;
    this.#left.clear();
    this.#tokensLeft = 0;
    this.#documentsMeasured = 0;
    this.#tokensMeasured = 0;
    this.#msPerToken = 0;
  }

  #begin(): void {
    if (!this.#ended) return;
    const speed = this.#msPerToken;
    this.reset();
    this.#msPerToken = speed;
  }
}
