import type { EvictionCandidate, EvictionPolicy } from './policy.ts';
import { ReuseModel } from './reuse-model.ts';

/** A use of an entry. */
export interface Access {
  /** Class of the request, e.g. 'question', 'follow-up', 'analysis': reuse is learned per class. */
  class: string;
  /** Tokens before it in the prompt. Default 0. */
  offset?: number;
  /** The same object for all uses of one request: none of them is more recent than another. */
  request?: object;
}

export interface LastUse {
  class: string;
  /** Milliseconds since 1970. */
  lastUsedAt: number;
  /** Number of requests for it. */
  hits: number;
}

export interface WorkloadOptions {
  /** Time constant in milliseconds: observations of that age count e⁻¹. */
  memoryMs: number;
  /** Minimum number of last uses remembered, including those of evicted entries. */
  remembered: number;
  /** An earlier result of state(); anything else is ignored. */
  state?: string | undefined;
}

/** Class of precomputed entries that have not been used. */
export const PRECOMPUTE = 'precompute';
/**
 * How likely such an entry is used, against those that were, until it is known: questions read a small part of a
 * library.
 */
const UNUSED_PRIOR = 0.05;
/** Class of entries whose text a search found, and that have not been used. */
const FOUND = 'found';
/** Class of entries prefetched into memory for an expected use. */
const EXPECTED = 'expected';
/** From 2^5 uses on, more uses add no information. */
const MOST_DOUBLINGS = 5;

/**
 * Learns from every use how soon entries of each class are reused ("KVCache in the wild", ATC '25), and keeps the
 * entries with the highest rate. A class is a kind of request and the entry's number of uses (rounded to a power of
 * two): the paper found that frequency says nothing about prefix blocks, but a few texts are asked about again and
 * again.
 */
export class Workload implements EvictionPolicy {
  readonly name = 'workload-aware';
  readonly #model: ReuseModel;
  readonly #remembered: number;
  /** Two generations, so that dropping the oldest costs nothing. */
  #young = new Map<string, LastUse>();
  #old = new Map<string, LastUse>();

  constructor({ memoryMs, remembered, state }: WorkloadOptions) {
    this.#model = new ReuseModel(memoryMs, state);
    this.#remembered = remembered;
  }

  /** An entry was requested, found or not; returns its new class. `known`: its last use according to the store. */
  used(key: string, access: Pick<Access, 'class'>, now: number, known?: LastUse): string {
    const last = this.last(key) ?? known;
    if (last) this.#model.reused(last.class, Math.max(0, now - last.lastUsedAt), now);
    const hits = (last?.hits ?? 0) + 1;
    const doublings = Math.min(MOST_DOUBLINGS, Math.floor(Math.log2(hits)));
    return this.#enter(key, `${access.class} ${2 ** doublings}`, now, hits).class;
  }

  /** An entry was stored; returns its last use, which may be the request that missed it. */
  stored(key: string, now: number): LastUse {
    return this.last(key) ?? this.#enter(key, PRECOMPUTE, now, 0);
  }

  /** A search found the text of an entry; returns its class if that changes: until now nobody had asked for it. */
  found(key: string, now: number, known: Pick<LastUse, 'class'> | undefined): string | undefined {
    const last = this.last(key) ?? known;
    return last && last.class !== PRECOMPUTE ? undefined : this.#enter(key, FOUND, now, 0).class;
  }

  /** An entry is expected to be used soon; returns its class until then. */
  expected(now: number): string {
    this.#model.used(EXPECTED, now);
    return EXPECTED;
  }

  /** A prefetched entry is used. */
  cameTrue(entry: Omit<LastUse, 'hits'>, now: number): void {
    if (entry.class === EXPECTED) this.#model.reused(EXPECTED, Math.max(0, now - entry.lastUsedAt), now);
  }

  last(key: string): LastUse | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  worth(entry: Pick<EvictionCandidate, 'class' | 'lastUsedAt'>, now: number): number {
    if (entry.class === PRECOMPUTE) return this.#model.meanRate(PRECOMPUTE, UNUSED_PRIOR);
    if (entry.class === FOUND) return this.#model.meanRate(FOUND, 1);
    return this.#model.rate(entry.class, Math.max(0, now - entry.lastUsedAt));
  }

  absent(last: LastUse | undefined, now: number): number {
    return this.worth(last ?? { class: PRECOMPUTE, lastUsedAt: now }, now);
  }

  /** The state, for the next run's options. */
  state(): string {
    return this.#model.state();
  }

  #enter(key: string, name: string, now: number, hits: number): LastUse {
    const use = { class: name, lastUsedAt: now, hits };
    this.#model.used(name, now);
    this.#young.set(key, use);
    if (this.#young.size >= this.#remembered) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return use;
  }
}
