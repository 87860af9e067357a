/** Bytes of a value, or that it is not there. */
type Size = number | 'missing';

const THERE_MS = 5 * 60_000;
/** Another machine may be computing it now. */
const MISSING_MS = 15_000;
const REMEMBERED = 50_000;

/** Which values were seen, or were not, a while ago: prompts ask for the same ones again and again. */
export class Presence {
  readonly #known = new Map<string, { size: Size; untilMs: number }>();
  readonly #clock: () => number;

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** undefined: not known (any more). */
  get(name: string): Size | undefined {
    const known = this.#known.get(name);
    if (!known) return undefined;
    if (known.untilMs > this.#clock()) return known.size;
    this.#known.delete(name);
    return undefined;
  }

  set(name: string, size: Size): void {
    this.#known.delete(name); // goes to the end
    this.#known.set(name, { size, untilMs: this.#clock() + (size === 'missing' ? MISSING_MS : THERE_MS) });
    if (this.#known.size <= REMEMBERED) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}
