import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import type { LogScale } from '../../ui/log-scale.ts';

export type Tier = 'disk' | 'memory' | 'device';

const GB = 1e9;
const SMALLEST = 0.05 * GB;

interface BudgetFacts {
  used: number;
  budget: number;
  scale: LogScale;
}

/** Used bytes, budget and maximum of a tier. `memoryTotal`: bytes of the machine's memory. */
export function budgetFacts(tier: Tier, stats: CacheStats, memoryTotal: number): BudgetFacts {
  const { used, budget, most } = sizesOf(tier, stats, memoryTotal);
  return { used, budget, scale: { min: SMALLEST, max: Math.max(most, budget, SMALLEST) } };
}

function sizesOf(
  tier: Tier,
  stats: CacheStats,
  memoryTotal: number,
): { used: number; budget: number; most: number } {
  const { diskBytes, diskBudgetBytes, diskFreeBytes, ramBytes, ramBudgetBytes, device } = stats;
  if (tier === 'disk')
    return { used: diskBytes, budget: diskBudgetBytes, most: diskBytes + (diskFreeBytes ?? 0) };
  if (tier === 'memory') return { used: ramBytes, budget: ramBudgetBytes, most: memoryTotal };
  return { used: device?.bytes ?? 0, budget: device?.budgetBytes ?? 0, most: device?.totalBytes ?? 0 };
}

interface BudgetReduction {
  /** Bytes above the new budget. */
  excess: number;
  /** Approximate number of chunks to evict. */
  chunks: number;
  /** Whether pinned chunks alone exceed it. */
  pinnedAbove: boolean;
}

/** What a lower budget evicts immediately; undefined if nothing. Pinned chunks are always kept. */
export function loweringOf(tier: Tier, stats: CacheStats, bytes: number): BudgetReduction | undefined {
  const { used } = budgetFacts(tier, stats, 0);
  if (used <= bytes) return undefined;
  const pinnedAbove = tier === 'disk' && stats.pinnedBytes > bytes;
  const excess = tier === 'disk' ? Math.min(used - bytes, stats.diskBytes - stats.pinnedBytes) : used - bytes;
  const average = stats.diskBytes / Math.max(1, stats.chunks);
  return { excess, chunks: Math.ceil(excess / Math.max(1, average)), pinnedAbove };
}
