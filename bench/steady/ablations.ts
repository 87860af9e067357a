import type { EvictionCandidate } from '../../src-main/kvstore/eviction/policy.ts';
import { PRECOMPUTE, Workload, type Access, type LastUse } from '../../src-main/kvstore/eviction/workload.ts';

/** Every class of request counts as one. */
class WithoutKinds extends Workload {
  override used(key: string, _: Pick<Access, 'class'>, now: number, known?: LastUse): string {
    return super.used(key, { class: 'any' }, now, known);
  }
}

/** A chunk asked for ten times is like one asked for once. */
class WithoutCounts extends Workload {
  override last(key: string): LastUse | undefined {
    const last = super.last(key);
    return last && { ...last, hits: Math.min(0, last.hits) };
  }
}

/** The rate of a class, however long the chunk has been idle. */
class WithoutIdleTime extends Workload {
  override worth(entry: Pick<EvictionCandidate, 'class' | 'lastUsedAt'>, now: number): number {
    return super.worth({ ...entry, lastUsedAt: now }, now);
  }
}

/** What nobody asked for ages from the time it was stored, like what was used then. */
class WithoutUnusedWorth extends Workload {
  override worth(entry: Pick<EvictionCandidate, 'class' | 'lastUsedAt'>, now: number): number {
    return super.worth(entry.class === PRECOMPUTE ? { ...entry, class: 'never used' } : entry, now);
  }
}

/** Uses of evicted chunks are forgotten. */
class WithoutMemory extends Workload {
  override last(): LastUse | undefined {
    return undefined;
  }
}

/** The worth of a chunk without one of its terms (records 0140, 0288). */
export const ABLATIONS = {
  'without the kind of request': WithoutKinds,
  'without the number of uses': WithoutCounts,
  'without the idle time': WithoutIdleTime,
  'without one worth for unused chunks': WithoutUnusedWorth,
  'without memory of evicted chunks': WithoutMemory,
} as const;
