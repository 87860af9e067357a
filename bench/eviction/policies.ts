import TinyQueue from 'tinyqueue';
import { ReuseModel } from '../../src-main/kvstore/eviction/reuse-model.ts';
import { ClassQueues } from '../../src-main/kvstore/eviction/class-queues.ts';
import type { EvictionCandidate } from '../../src-main/kvstore/eviction/policy.ts';
import { Workload } from '../../src-main/kvstore/eviction/workload.ts';
import { WorkloadAware } from './workload-aware.ts';
import type { TraceRequest } from './trace.ts';

/** A cache of a number of blocks that chooses what it keeps. */
export interface Policy {
  has(block: number): boolean;
  /** `nextUses`: for each block the number of the request that uses it next, Infinity when none does. */
  use(request: TraceRequest, nextUses: Float64Array): void;
}

interface Ranked {
  block: number;
  value: number;
  order: number;
}

/** Evicts the block of lowest value, which is set at each use; of equal ones the least recently used. */
abstract class ByValue implements Policy {
  readonly #capacity: number;
  readonly #kept: Uint8Array;
  readonly #values: Float64Array;
  readonly #orders: Float64Array;
  /** Every block that is kept, at no more than its value: one that has risen since is put back when it comes up. */
  readonly #queue = new TinyQueue<Ranked>([], before);
  #size = 0;
  #order = 0;

  /** Of `blocks` blocks, numbered from 0, it holds `capacity`. */
  constructor(capacity: number, blocks: number) {
    this.#capacity = capacity;
    this.#kept = new Uint8Array(blocks);
    this.#values = new Float64Array(blocks);
    this.#orders = new Float64Array(blocks);
  }

  has(block: number): boolean {
    return this.#kept[block] === 1;
  }

  use({ blocks }: TraceRequest, nextUses: Float64Array): void {
    // Tail first, so that of one request's blocks the tail is the least recently used.
    for (let at = Math.min(blocks.length, this.#capacity) - 1; at >= 0; at--) {
      const block = blocks[at] as number;
      if (!this.has(block) && this.#size >= this.#capacity) this.#evict();
      this.#touch(block, this.value(block, nextUses[at] ?? Infinity));
    }
  }

  #touch(block: number, value: number): void {
    const order = this.#order++;
    if (!this.has(block)) this.#size++;
    if (!this.has(block) || value < (this.#values[block] ?? 0)) this.#queue.push({ block, value, order });
    this.#kept[block] = 1;
    this.#values[block] = value;
    this.#orders[block] = order;
  }

  #evict(): void {
    for (let next = this.#queue.pop(); next; next = this.#queue.pop()) {
      const { block } = next;
      const now = { block, value: this.#values[block] ?? 0, order: this.#orders[block] ?? 0 };
      if (!this.has(block) || before(now, next) < 0) continue; // it is in the queue again
      if (before(now, next) > 0) {
        this.#queue.push(now);
        continue;
      }
      this.#kept[block] = 0;
      this.#size--;
      this.evicted?.(next);
      return;
    }
  }

  protected abstract value(block: number, nextUse: number): number;
  /** Most policies learn nothing from it. */
  protected evicted?(ranked: Ranked): void;
}

function before(a: Ranked, b: Ranked): number {
  return a.value - b.value || a.order - b.order;
}

export class Lru extends ByValue {
  protected value(): number {
    return 0;
  }
}

export class Lfu extends ByValue {
  readonly #uses = new Map<number, number>();

  protected value(block: number): number {
    const uses = (this.#uses.get(block) ?? 0) + 1;
    this.#uses.set(block, uses);
    return uses;
  }
  protected override evicted({ block }: Ranked): void {
    this.#uses.delete(block);
  }
}

/** Greedy-Dual-Frequency-Size; all blocks have one size and one cost. */
export class Gdfs extends ByValue {
  readonly #uses = new Map<number, number>();
  #clock = 0;

  protected value(block: number): number {
    const uses = (this.#uses.get(block) ?? 0) + 1;
    this.#uses.set(block, uses);
    return this.#clock + uses;
  }
  protected override evicted({ block, value }: Ranked): void {
    this.#clock = value;
    this.#uses.delete(block);
  }
}

/** Evicts what is used furthest in the future: the most that any policy could reach. */
export class Optimum extends ByValue {
  protected value(_block: number, nextUse: number): number {
    return -nextUse;
  }
}

/** Seconds that the reuse model remembers, and prompts that are. */
const MEMORY = 3600;
const REMEMBERED = 20_000;

export class ByWorkload implements Policy {
  readonly #cache: WorkloadAware<number>;

  constructor(capacity: number) {
    this.#cache = new WorkloadAware({ capacity, model: new ReuseModel(MEMORY), remembered: REMEMBERED });
  }

  has(block: number): boolean {
    return this.#cache.has(block);
  }
  use({ blocks, class: name, time }: TraceRequest): void {
    this.#cache.use(blocks, name, time);
  }
}

/** The chunk store's policy, as its memory tier runs it: chunk by chunk. */
export class ByStore implements Policy {
  readonly #capacity: number;
  readonly #workload = new Workload({ memoryMs: WEEK, remembered: REMEMBERED });
  readonly #queues = new ClassQueues<Kept>();
  readonly #kept = new Map<number, Kept>();
  #order = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(block: number): boolean {
    return this.#kept.has(block);
  }

  use(request: TraceRequest): void {
    const { blocks, time, stored } = request;
    const lastUsedAt = time * 1000;
    this.#order++;
    for (let offset = blocks.length - 1; offset >= 0; offset--) {
      const block = blocks[offset] as number;
      const key = String(block);
      const before = this.#kept.get(block);
      if (stored && before) continue;
      const name = stored
        ? this.#workload.stored(key, lastUsedAt).class
        : this.#workload.used(key, request, lastUsedAt);
      if (before) this.#queues.remove(before);
      const kept: Kept = { block, class: name, lastUsedAt, order: this.#order, offset };
      this.#kept.set(block, kept);
      this.#queues.add(kept);
    }
    for (const worst of this.#queues.leastWorthFirst(this.#workload, lastUsedAt)) {
      if (this.#kept.size <= this.#capacity) return;
      this.#queues.remove(worst);
      this.#kept.delete(worst.block);
    }
  }
}

interface Kept extends EvictionCandidate {
  block: number;
}

const WEEK = 7 * 24 * 3600 * 1000;
