import { Fifo } from './fifo.ts';
import type { ReuseModel } from '../../src-main/kvstore/eviction/reuse-model.ts';

/** A use of a prompt that another may follow, and the blocks it keeps for it. */
interface Claim<K> {
  class: string;
  usedAt: number;
  /** From the prompt's beginning; those it still keeps. */
  blocks: K[];
  last: K;
}

/** What is learned of classes; ReuseModel does it. */
export type Rates = Pick<ReuseModel, 'used' | 'reused' | 'rate'>;

interface WorkloadAwareOptions {
  /** Blocks. */
  capacity: number;
  model: Rates;
  /** How many prompts are remembered. Those whose blocks are gone count: else only what stays would be seen to be used again. */
  remembered: number;
}

/** What a prompt shares with another that goes on differently, e.g. a system prompt, is a class of its own. */
const SHARED = 'shared';

/**
 * Which blocks of prompts to keep, by how soon their class of request is used again.
 *
 * A prompt claims its blocks until one comes that goes on where it ended, which then claims them. When room is needed the
 * claim that is least worth keeping gives up its last block, which is evicted when nobody else claims it. So a block never
 * goes before one that stands behind it and is worthless alone.
 *
 * Within a class the oldest claim is worth least, so the worst of all is found among as many as there are classes.
 */
export class WorkloadAware<K> {
  readonly #options: WorkloadAwareOptions;
  /** How many claim each block that is kept. */
  readonly #kept = new Map<K, number>();
  /** By class, oldest first. */
  readonly #claims = new Map<string, Fifo<Claim<K>>>();
  /** By the last block of the prompt. */
  readonly #byEnd = new Map<K, Claim<K>>();
  readonly #remembered = new Fifo<Claim<K>>();

  constructor(options: WorkloadAwareOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  has(block: K): boolean {
    return this.#kept.has(block);
  }

  /** A prompt is used: its blocks are kept from now on as far as they are worth it. Gives those that are not kept any more. */
  use(blocks: readonly K[], name: string, now: number): K[] {
    const before = this.#predecessor(blocks);
    if (before) {
      this.#options.model.reused(before.class, now - before.usedAt, now);
      this.#byEnd.delete(before.last);
    }
    const shared = this.#sharedWithOthers(blocks, before);
    if (shared > 0) this.#claim(blocks.slice(0, shared), SHARED, now);
    this.#claim(blocks, name, now);
    const evicted: K[] = [];
    while (before && before.blocks.length > 0) this.#giveUp(before, evicted);
    while (this.#kept.size > this.#options.capacity) {
      const worst = this.#worst(now);
      if (!worst) break;
      this.#giveUp(worst, evicted);
    }
    return evicted;
  }

  /** The use that this one follows: the one that ended furthest on its way, unless another went further. */
  #predecessor(blocks: readonly K[]): Claim<K> | undefined {
    for (let i = blocks.length - 1; i >= 0; i--) {
      const claim = this.#byEnd.get(blocks[i] as K);
      if (claim) return claim;
      if (this.#kept.has(blocks[i] as K)) return undefined;
    }
    return undefined;
  }

  /** How many blocks it has in common with one that goes on differently, or that many have had in common before. */
  #sharedWithOthers(blocks: readonly K[], before: Claim<K> | undefined): number {
    if (before) return before.class === SHARED ? blocks.indexOf(before.last) + 1 : 0;
    const miss = blocks.findIndex((block) => !this.#kept.has(block));
    return miss < 0 ? blocks.length : miss;
  }

  #claim(blocks: readonly K[], name: string, now: number): void {
    const last = blocks.at(-1);
    if (last === undefined) return;
    const claim: Claim<K> = { class: name, usedAt: now, blocks: [...blocks], last };
    for (const block of blocks) this.#kept.set(block, (this.#kept.get(block) ?? 0) + 1);
    let queue = this.#claims.get(name);
    if (!queue) this.#claims.set(name, (queue = new Fifo()));
    queue.push(claim);
    this.#byEnd.set(last, claim);
    this.#remembered.push(claim);
    this.#options.model.used(name, now);
    if (this.#remembered.length <= this.#options.remembered) return;
    const oldest = this.#remembered.shift();
    if (oldest && this.#byEnd.get(oldest.last) === oldest) this.#byEnd.delete(oldest.last);
  }

  /** Of each class's oldest claim, the one that is used at the lowest rate. */
  #worst(now: number): Claim<K> | undefined {
    let worst: Claim<K> | undefined;
    let lowest = Infinity;
    for (const [name, queue] of this.#claims) {
      let oldest = queue.peek();
      while (oldest?.blocks.length === 0) {
        queue.shift();
        oldest = queue.peek();
      }
      if (!oldest) continue;
      const rate = this.#options.model.rate(name, now - oldest.usedAt);
      if (rate > lowest || (rate === lowest && worst && oldest.usedAt >= worst.usedAt)) continue;
      lowest = rate;
      worst = oldest;
    }
    return worst;
  }

  #giveUp(claim: Claim<K>, evicted: K[]): void {
    const block = claim.blocks.pop();
    if (block === undefined) return;
    const others = (this.#kept.get(block) ?? 0) - 1;
    if (others > 0) this.#kept.set(block, others);
    else if (this.#kept.delete(block)) evicted.push(block);
  }
}
