/** What a policy may know of an entry that could be evicted. Pinned and leased entries never get here. */
export interface EvictionCandidate {
  readonly key: string;
  /** Bytes of the file. */
  readonly bytes: number;
  readonly tokens: number;
  readonly hits: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** Decides which entries go first when room is needed. */
export interface EvictionPolicy {
  readonly name: string;
  /**
   * Gives the candidates in the order in which they should go. The input comes least recently used first and is read
   * lazily; the store stops reading the result once it has freed enough.
   */
  order(leastRecentlyUsedFirst: Iterable<EvictionCandidate>, now: number): Iterable<EvictionCandidate>;
}

export const LRU: EvictionPolicy = {
  name: 'lru',
  order: (leastRecentlyUsedFirst) => leastRecentlyUsedFirst,
};
