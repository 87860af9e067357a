import { before, leastWorthFirst, type EvictionCandidate, type EvictionPolicy } from './policy.ts';

interface Node<T> {
  entry: T;
  class: string;
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
}

interface QueueEnds<T> {
  first: Node<T> | undefined;
  last: Node<T> | undefined;
}

/**
 * Entries in memory, by class, in eviction order. Adding a just-used entry and removing one take constant time: a
 * linked list, because a Map finds its first key slowly after many deletions. An entry must not change while it is in
 * here.
 */
export class ClassQueues<T extends EvictionCandidate> {
  readonly #nodes = new Map<T, Node<T>>();
  readonly #queues = new Map<string, QueueEnds<T>>();

  add(entry: T): void {
    if (this.#nodes.has(entry)) throw new Error('ClassQueues.add: the entry is there already.');
    const queue = this.#queue(entry.class);
    let previous = queue.last;
    while (previous && before(entry, previous.entry)) previous = previous.previous;
    const next = previous ? previous.next : queue.first;
    const node: Node<T> = { entry, class: entry.class, previous, next };
    if (previous) previous.next = node;
    else queue.first = node;
    if (next) next.previous = node;
    else queue.last = node;
    this.#nodes.set(entry, node);
  }

  /** Returns false if the entry was not in a queue. */
  remove(entry: T): boolean {
    const node = this.#nodes.get(entry);
    if (!node) return false;
    const queue = this.#queue(node.class);
    if (node.previous) node.previous.next = node.next;
    else queue.first = node.next;
    if (node.next) node.next.previous = node.previous;
    else queue.last = node.previous;
    return this.#nodes.delete(entry);
  }

  /** The caller may remove a yielded entry before requesting the next; nothing else may change meanwhile. */
  leastWorthFirst(policy: EvictionPolicy, now: number): Generator<T, void> {
    return leastWorthFirst<T>([...this.#queues.values()].map(walk), policy, now);
  }

  #queue(name: string): QueueEnds<T> {
    let queue = this.#queues.get(name);
    if (!queue) this.#queues.set(name, (queue = { first: undefined, last: undefined }));
    return queue;
  }
}

/** Reads the next node only on request, so that the previous one may be removed by then. */
function* walk<T>({ first }: QueueEnds<T>): Generator<T, void> {
  for (let node = first; node;) {
    const { next } = node;
    yield node.entry;
    node = next;
  }
}
