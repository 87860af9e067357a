/** Counts the current users of each key. */
export class UseCounts {
  readonly #counts = new Map<string, number>();

  hold(key: string): void {
    this.#counts.set(key, this.count(key) + 1);
  }

  release(key: string): void {
    const left = this.count(key) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Keys with at least one user. */
  get size(): number {
    return this.#counts.size;
  }
}
