import type { EntryKind } from '../types.ts';

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

/**
 * The value of keeping entries, per byte: decides which are evicted first, on disk and in memory, and whether one that
 * is not stored yet is worth another's place. What a chunk occupies and what it saves both grow with its tokens, so its
 * value per byte is how often it is used.
 */
export interface EvictionPolicy {
  readonly name: string;
  /** Above 0; within a class it must not rise with the time since the last use. */
  worth(entry: EvictionCandidate, now: number): number;
  /** The worth of storing an entry ahead of its use; `last`: its last use or find, undefined if nobody asked for it. */
  absent(last: Pick<EvictionCandidate, 'class' | 'lastUsedAt'> | undefined, now: number): number;
}

/** What the model in use can be served: its prefixes, and its chunks in this number format. */
export interface ServedTarget {
  fingerprint: string;
  dtype: string;
}

/** Evicts the least recently used entry first; one that is not stored is never worth another's place. */
export const LRU: EvictionPolicy = { name: 'lru', worth: ({ order }) => order, absent: () => 0 };

/** A policy by which entries that the model in use cannot be served have a negative worth, in the policy's order. */
export function servedLast(
  policy: EvictionPolicy,
  served: ServedTarget | undefined,
): { worth(entry: EvictionCandidate & ServedTarget & { kind: EntryKind }, now: number): number } {
  return {
    worth(entry, now) {
      const worth = policy.worth(entry, now);
      const serves =
        !served ||
        (entry.fingerprint === served.fingerprint &&
          (entry.kind === 'prefix' || entry.dtype === served.dtype));
      return serves ? worth : -1 / worth;
    },
  };
}

/**
 * Entries in eviction order. Each queue holds the entries of one class, ordered by before(): so the overall minimum is
 * among the heads of the classes' queues. Queues are read only as far as needed.
 */
export function* leastWorthFirst<T extends EvictionCandidate>(
  queues: Iterable<Iterable<T>>,
  policy: { worth(entry: T, now: number): number },
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
