/** How long a list may be behind what the store holds: pages of one scroll come from one listing. */
const KEPT_MS = 2000;
/** A store that others fill must not keep a core busy with lists of it. */
const SHARE = 0.05;

/** What takes long to make and is asked for again and again: kept for a while, the longer the longer it took. */
export class Kept<T> {
  readonly #make: () => Promise<T>;
  #kept: { until: number; value: Promise<T> } | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  get(): Promise<T> {
    if (this.#kept && performance.now() <= this.#kept.until) return this.#kept.value;
    const began = performance.now();
    const made = { until: Infinity, value: this.#make() };
    made.value.then(
      () => {
        const now = performance.now();
        made.until = now + Math.max(KEPT_MS, (now - began) / SHARE);
      },
      () => (made.until = 0),
    );
    this.#kept = made;
    return made.value;
  }

  /** The next one to ask has it made anew. */
  drop(): void {
    this.#kept = undefined;
  }
}
