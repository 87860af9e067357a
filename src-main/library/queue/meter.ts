import type { CutSize, DocumentBacklog } from '../../catalogue/document-table.ts';
import type { Clock } from '../../platform/clock.ts';

/** Milliseconds of work after which a measurement counts e⁻¹: one slow chunk changes little, another speed shows soon. */
const MEMORY_MS = 180_000;

/** Used until documents of a format were chunked: text has about four bytes (or characters) per token, packed formats many more bytes. */
const UNITS_PER_TOKEN = 4;
const PACKED_BYTES_PER_TOKEN = 40;
const PACKED: ReadonlySet<string> = new Set(
  'png jpg jpeg tif tiff webp heic heif pdf docx docm dotx pptx pptm ppsx potx odt odp doc ppt xlsx epub'.split(
    ' ',
  ),
);

/** Tokens of documents that one lane has to process, and its speed. */
class LaneMeter {
  readonly #left = new Map<number, number>();
  #tokensLeft = 0;
  #ms = 0;
  #tokens = 0;

  get tokensLeft(): number {
    return this.#tokensLeft;
  }

  /** 0 until something was processed. */
  get msPerToken(): number {
    return this.#tokens > 0 ? this.#ms / this.#tokens : 0;
  }

  expect(documentId: number, tokens: number): void {
    this.#tokensLeft += tokens - (this.#left.get(documentId) ?? 0);
    this.#left.set(documentId, tokens);
  }

  /** `ms`: the time it took; undefined where it says nothing about the speed. False when the document is not expected. */
  did(documentId: number, tokens: number, ms?: number): boolean {
    const left = this.#left.get(documentId);
    if (left === undefined) return false; // it belongs to a run that a model change has ended
    this.expect(documentId, Math.max(0, left - tokens));
    if (ms !== undefined) {
      const kept = Math.exp(-ms / MEMORY_MS);
      this.#ms = this.#ms * kept + ms;
      this.#tokens = this.#tokens * kept + tokens;
    }
    return true;
  }

  forget(documentId: number): void {
    this.#tokensLeft -= this.#left.get(documentId) ?? 0;
    this.#left.delete(documentId);
  }

  prune(exists: (documentId: number) => boolean): void {
    for (const id of [...this.#left.keys()]) if (!exists(id)) this.forget(id);
  }

  clear(): void {
    this.#left.clear();
    this.#tokensLeft = 0;
  }
}

/** Estimates the tokens of documents that were not chunked yet, from those that were. */
class TokenEstimate {
  readonly #sizes = new Map<string, CutSize>();

  learn({ format, bytes, textLength, tokens }: CutSize): void {
    const known = this.#sizes.get(format) ?? { format, bytes: 0, textLength: 0, tokens: 0 };
    this.#sizes.set(format, {
      format,
      bytes: known.bytes + bytes,
      textLength: known.textLength + textLength,
      tokens: known.tokens + tokens,
    });
  }

  of({ phase, format, bytes, textLength }: DocumentBacklog): number {
    const known = this.#sizes.get(format);
    const has = known !== undefined && known.tokens > 0;
    if (phase === 'chunking') return textLength / (has ? known.textLength / known.tokens : UNITS_PER_TOKEN);
    if (has) return bytes / (known.bytes / known.tokens);
    return bytes / (PACKED.has(format) ? PACKED_BYTES_PER_TOKEN : UNITS_PER_TOKEN);
  }

  clear(): void {
    this.#sizes.clear();
  }
}

/** Progress and speed of the queue's current run. A run ends when there is nothing left to do. */
export class Meter {
  /** Tokens whose KV was computed, or fetched from other machines. */
  tokensDone = 0;
  readonly #done = new Set<number>();
  #kv = new LaneMeter();
  readonly #vectors = new LaneMeter();
  readonly #estimate = new TokenEstimate();
  #ended = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Documents. */
  get done(): number {
    return this.#done.size;
  }

  /** Tokens whose KV is still to be computed, of chunked documents. */
  get tokensLeft(): number {
    return this.#kv.tokensLeft;
  }

  get tokensPerSecond(): number {
    return this.#kv.msPerToken > 0 ? 1000 / this.#kv.msPerToken : 0;
  }

  /** Records the sizes of chunked documents. */
  learn(sizes: readonly CutSize[]): void {
    for (const size of sizes) this.#estimate.learn(size);
  }

  /** Estimated tokens of documents that were not chunked yet. */
  estimate(unprepared: readonly DocumentBacklog[]): number {
    return Math.round(unprepared.reduce((sum, each) => sum + this.#estimate.of(each), 0));
  }

  expect(documentId: number, tokens: number): void {
    this.#begin();
    this.#kv.expect(documentId, tokens);
    this.#done.delete(documentId);
  }

  expectVectors(documentId: number, tokens: number): void {
    this.#begin();
    this.#vectors.expect(documentId, tokens);
    this.#done.delete(documentId);
  }

  /** Tokens of an expected document were computed; `startedAt` is a time of the clock. */
  computed(documentId: number, tokens: number, startedAt: number): void {
    if (this.#kv.did(documentId, tokens, this.#clock.now() - startedAt)) this.tokensDone += tokens;
  }

  /** Tokens of an expected document were fetched from other machines: that says nothing about the computing speed. */
  fetched(documentId: number, tokens: number): void {
    if (this.#kv.did(documentId, tokens)) this.tokensDone += tokens;
  }

  embedded(documentId: number, tokens: number, startedAt: number): void {
    this.#vectors.did(documentId, tokens, this.#clock.now() - startedAt);
  }

  /** A document needs nothing more. */
  finish(documentId: number): void {
    this.#begin();
    this.#done.add(documentId);
    this.forget(documentId);
  }

  /** A document has nothing to compute any more: it is done, or was deleted. */
  forget(documentId: number): void {
    this.#kv.forget(documentId);
    this.#vectors.forget(documentId);
  }

  /** Drops documents that no longer exist. */
  prune(exists: (documentId: number) => boolean): void {
    this.#kv.prune(exists);
    this.#vectors.prune(exists);
  }

  /**
   * Time until all is done. Vectors and KV are computed concurrently: the slower one counts. `uncut`: estimated tokens that were not
   * chunked yet; `room`: tokens whose KV can be stored, since others are not computed; `predicted`: milliseconds a token, until KV was
   * computed. null until a speed is known.
   */
  secondsLeft(uncut: number, room = Infinity, predicted: number | null = null): number | null {
    const kv = Math.min(this.#kv.tokensLeft + uncut, room) * (this.#kv.msPerToken || (predicted ?? 0));
    const vectors = (this.#vectors.tokensLeft + uncut) * this.#vectors.msPerToken;
    return kv + vectors > 0 ? Math.max(kv, vectors) / 1000 : null;
  }

  /** Nothing is left to do; the numbers stay until there is new work. */
  endRun(): void {
    this.#ended = true;
  }

  /** Another model computes from here on: finished work, pending work and speed no longer apply. */
  reset(): void {
    this.#restart();
    this.#kv = new LaneMeter();
    this.#vectors.clear();
    this.#estimate.clear();
  }

  #begin(): void {
    if (this.#ended) this.#restart();
  }

  #restart(): void {
    this.#ended = false;
    this.#done.clear();
    this.tokensDone = 0;
    this.#kv.clear();
    this.#vectors.clear();
  }
}
