/** The properties of an evictable entry that a policy may use. Pinned and leased entries never get here. */
export interface EvictionCandidate {
  /** Class of the last request that used it; see Workload. */
  readonly class: string;
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number;
  /** Rises with every request that uses it, independent of the clock. */
  readonly order: number;
  /** Tokens before it in that request's prompt. */
  readonly offset: number;
}

/** An eviction policy: decides which entries are evicted first, on disk and in memory. */
export interface EvictionPolicy {
  readonly name: string;
  /** The value of keeping an entry; within a class it must not rise with the time since the last use. */
  worth(entry: EvictionCandidate, now: number): number;
}

/** Evicts the least recently used entry first. */
export const LRU: EvictionPolicy = { name: 'lru', worth: ({ order }) => order };

/**
 * Entries in eviction order. Each queue holds the entries of one class, ordered by before(): so the overall minimum is
 * among the heads of the classes' queues. Queues are read only as far as needed.
 */
export function* leastWorthFirst<T extends EvictionCandidate>(
  queues: Iterable<Iterable<T>>,
  policy: EvictionPolicy,
  now: number,
): Generator<T, void> {
  const iterators = Array.from(queues, (queue) => queue[Symbol.iterator]());
  const headOf = (iterator: Iterator<T>): Head<T>[] => {
    const next = iterator.next();
    if (next.done) return [];
    return [{ iterator, entry: next.value, worth: policy.worth(next.value, now) }];
  };
  try {
    const heads = iterators.flatMap(headOf);
    while (heads.length > 0) {
      const at = heads.reduce((least, head, i) => (goesBefore(head, heads[least]) ? i : least), 0);
      const { entry, iterator } = heads[at] as Head<T>;
      yield entry;
      heads.splice(at, 1, ...headOf(iterator));
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}

/** Order within a class: by use; within one request, the last in its prompt first. */
export function before(a: EvictionCandidate, b: EvictionCandidate): boolean {
  return a.order < b.order || (a.order === b.order && a.offset > b.offset);
}

interface Head<T> {
  iterator: Iterator<T>;
  entry: T;
  worth: number;
}

function goesBefore<T extends EvictionCandidate>(a: Head<T>, b: Head<T> | undefined): boolean {
  return !b || a.worth < b.worth || (a.worth === b.worth && before(a.entry, b.entry));
}
