import type { StoreParts } from './store-parts.ts';
import type { StoreStats } from './types.ts';

export function storeStats({ disk, tiers, ramTier, leases, shared }: StoreParts): StoreStats {
  const { index, folders, newerFormat } = disk;
  const { ram, disk: read, misses, prefetched, prefetchHits } = leases.counts;
  const { entries, bytes, budgetBytes, prefixBytes } = ramTier;
  const quarantined = folders.ready.map(({ quarantine }) => quarantine.totals);
  const newerBytes = [...newerFormat.values()].reduce((sum, size) => sum + size, 0);
  return {
    entries: folders.ready.reduce((sum, { id }) => sum + index.entriesIn(id), 0),
    bytes: folders.ready.reduce((sum, { id }) => sum + index.bytesIn(id), 0),
    diskBudgetBytes: tiers.budgetBytes,
    folders: tiers.stats(),
    prefixes: { ...index.held('prefix'), budgetBytes: tiers.own.prefixBytes, ramBytes: prefixBytes },
    pinned: index.pinnedTotals(),
    leased: leases.leases.size,
    ram: { entries, bytes, budgetBytes },
    hits: { ram, disk: read, shared: shared?.counts.hits ?? 0 },
    misses,
    prefetches: { made: prefetched, used: prefetchHits },
    ...(shared && { shared: { ...shared.counts } }),
    evictions: tiers.evictions,
    moved: { ...tiers.moved },
    quarantine: {
      files: quarantined.reduce((sum, { files }) => sum + files, 0),
      bytes: quarantined.reduce((sum, each) => sum + each.bytes, 0),
    },
    newerFormat: { files: newerFormat.size, bytes: newerBytes },
  };
}
