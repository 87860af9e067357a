/** What a policy may know of an entry that could go. Pinned and leased entries never get here. */
export interface EvictionCandidate {
  /** Of the request that used it last; see Workload. */
  readonly class: string;
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number;
  /** Rises with every request that uses it, whatever the clock does. */
  readonly order: number;
  /** Tokens that stood before it in that request's prompt. */
  readonly offset: number;
}

/** Decides which entries go first when room is needed, on disk and in memory. */
export interface EvictionPolicy {
  readonly name: string;
  /** What keeping an entry is worth; must not rise with the time since its last use among entries of one class. */
  worth(entry: EvictionCandidate, now: number): number;
}

/** The least recently used goes first. */
export const LRU: EvictionPolicy = { name: 'lru', worth: ({ order }) => order };

/**
 * Entries in the order in which they should go. Each queue holds entries of one class, in the order of before(): so the
 * least worth of all is found among as many as there are classes. Queues are read as far as needed.
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

/** Order within a class: by use; of what one request used, the last of its prompt first. */
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
