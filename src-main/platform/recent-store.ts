/** An LRU cache in memory, limited in number and total size. */
export class RecentStore<V> {
  readonly #most: number;
  readonly #mostSize: number;
  readonly #kept = new Map<string, { value: V; size: number }>();
  #size = 0;

  /** At most `most` values with a total size of `mostSize`. */
  constructor(most: number, mostSize = Infinity) {
    this.#most = most;
    this.#mostSize = mostSize;
  }

  get(key: string): V | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  keep(key: string, value: V, size = 0): void {
    this.#drop(key);
    this.#kept.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most && this.#size <= this.#mostSize) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}
