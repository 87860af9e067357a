/** Maximum age of a list in relation to the store's content: pages of one scroll come from one listing. */
const KEPT_MS = 2000;
/** A store that others fill must not keep a core busy with listing it. */
const SHARE = 0.05;

/** Caches a result that is slow to compute and requested often; the longer it took, the longer it is cached. */
export class CachedResult<T> {
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

  /** Invalidates the result: the next request computes it again. */
  drop(): void {
    this.#kept = undefined;
  }
}
