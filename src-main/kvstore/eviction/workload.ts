import type { EvictionCandidate, EvictionPolicy } from './policy.ts';
import { ReuseModel } from './reuse-model.ts';

/** Who uses an entry. */
export interface Access {
  /** Kind of request, e.g. 'question', 'follow-up', 'analysis': what reuse is learned by. */
  class: string;
  /** Tokens before it in the prompt. Default 0. */
  offset?: number;
  /** The same object for all uses of one request: none of them is more recent than another. */
  request?: object;
}

/** The last use of an entry. */
export interface LastUse {
  class: string;
  /** Milliseconds since 1970. */
  lastUsedAt: number;
  /** How often it was asked for. */
  hits: number;
}

interface WorkloadOptions {
  /** Milliseconds after which what was learned counts a third. */
  memoryMs: number;
  /** Of how many entries the last use is kept in mind, at least: those that are gone count too. */
  remembered: number;
  /** What state() gave once; anything else is as good as nothing. */
  state?: string | undefined;
}

/** Class of what was computed ahead and has not been used. */
export const PRECOMPUTE = 'precompute';
/** Class of what was brought into memory since somebody is about to use it. */
const EXPECTED = 'expected';
/** From 2^5 uses on, more say nothing new. */
const MOST_DOUBLINGS = 5;

/**
 * Learns from every use how soon entries of each class are used again ("KVCache in the wild", ATC '25), and keeps what
 * is used at the highest rate. A class is a kind of request and how often (to a power of two) the entry has been asked
 * for: the paper found that frequency tells nothing of blocks of prefixes, but few texts are asked about again and again.
 */
export class Workload implements EvictionPolicy {
  readonly name = 'workload-aware';
  readonly #model: ReuseModel;
  readonly #remembered: number;
  /** Two generations, so that the oldest are forgotten at no cost. */
  #young = new Map<string, LastUse>();
  #old = new Map<string, LastUse>();

  constructor({ memoryMs, remembered, state }: WorkloadOptions) {
    this.#model = new ReuseModel(memoryMs, state);
    this.#remembered = remembered;
  }

  /** An entry was asked for, found or not; gives the class it is in from now on. `known`: its last use, as the store has it. */
  used(key: string, access: Pick<Access, 'class'>, now: number, known?: LastUse): string {
    const last = this.last(key) ?? known;
    if (last) this.#model.reused(last.class, Math.max(0, now - last.lastUsedAt), now);
    const hits = (last?.hits ?? 0) + 1;
    const doublings = Math.min(MOST_DOUBLINGS, Math.floor(Math.log2(hits)));
    return this.#enter(key, `${access.class} ${2 ** doublings}`, now, hits).class;
  }

  /** An entry was stored; gives its last use, which may be that which missed it. */
  stored(key: string, now: number): LastUse {
    return this.last(key) ?? this.#enter(key, PRECOMPUTE, now, 0);
  }

  /** An entry is expected to be used soon; gives the class it is in until then. */
  expected(now: number): string {
    this.#model.used(EXPECTED, now);
    return EXPECTED;
  }

  /** An entry that was brought into memory ahead of its use is used. */
  cameTrue(entry: Omit<LastUse, 'hits'>, now: number): void {
    if (entry.class === EXPECTED) this.#model.reused(EXPECTED, Math.max(0, now - entry.lastUsedAt), now);
  }

  last(key: string): LastUse | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  worth(entry: EvictionCandidate, now: number): number {
    return this.#model.rate(entry.class, Math.max(0, now - entry.lastUsedAt));
  }

  /** For the options of the next run. */
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
