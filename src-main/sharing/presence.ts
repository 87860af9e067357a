/** Size of a value in bytes, or that it is missing. */
type Size = number | 'missing';

const THERE_MS = 5 * 60_000;
/** In milliseconds: another machine may be computing it now. */
const MISSING_MS = 15_000;
const REMEMBERED = 50_000;

/** Caches which values exist: prompts look up the same ones again and again. Times are monotonic: the clock may be set back. */
export class Presence {
  readonly #known = new Map<string, { size: Size; untilMs: number }>();

  /** undefined: unknown or expired. */
  get(name: string): Size | undefined {
    const known = this.#known.get(name);
    if (!known) return undefined;
    if (known.untilMs > performance.now()) return known.size;
    this.#known.delete(name);
    return undefined;
  }

  set(name: string, size: Size): void {
    this.#known.delete(name); // moves to the end
    this.#known.set(name, {
      size,
      untilMs: performance.now() + (size === 'missing' ? MISSING_MS : THERE_MS),
    });
    if (this.#known.size <= REMEMBERED) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}
