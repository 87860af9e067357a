import { describe, expect, it } from 'vitest';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import { budgetFacts, loweringOf } from './budget.ts';

const stats: CacheStats = {
  chunks: 100,
  bytes: 10e9,
  diskBytes: 10e9,
  diskBudgetBytes: 20e9,
  diskFreeBytes: 30e9,
  proposal: null,
  ramBytes: 1e9,
  ramBudgetBytes: 2e9,
  device: { chunks: 20, bytes: 2e9, budgetBytes: 4e9, automatic: true, totalBytes: 8e9 },
  pinnedChunks: 10,
  pinnedBytes: 1e9,
  prefixes: { entries: 0, bytes: 0, budgetBytes: 0 },
  ramHits: 0,
  diskHits: 0,
  misses: 0,
  prefetched: 0,
  prefetchHits: 0,
  dtype: 'f16',
  formats: [],
  otherModelChunks: 0,
  otherModelBytes: 0,
  folder: '',
  evictions: 0,
  quarantine: { files: 0, bytes: 0 },
};

describe('budgetFacts', () => {
  it('goes up to what the disk or the memory holds', () => {
    expect(budgetFacts('disk', stats, 16e9)).toMatchObject({
      used: 10e9,
      budget: 20e9,
      scale: { max: 40e9 },
    });
    expect(budgetFacts('memory', stats, 16e9)).toMatchObject({
      used: 1e9,
      budget: 2e9,
      scale: { max: 16e9 },
    });
  });

  it('goes up to what the device’s memory holds, and is nothing without one', () => {
    const facts = { used: 2e9, budget: 4e9, scale: { max: 8e9 } };
    expect(budgetFacts('device', stats, 16e9)).toMatchObject(facts);
    expect(budgetFacts('device', { ...stats, device: null }, 16e9)).toMatchObject({ used: 0, budget: 0 });
  });

  it('has room for a budget that is larger than the disk', () => {
    expect(budgetFacts('disk', { ...stats, diskBudgetBytes: 90e9 }, 0).scale.max).toBe(90e9);
    expect(budgetFacts('disk', { ...stats, diskFreeBytes: null }, 0).scale.max).toBe(20e9);
  });
});

describe('loweringOf', () => {
  it('is nothing while everything fits', () => {
    expect(loweringOf('disk', stats, 10e9)).toBeUndefined();
    expect(loweringOf('memory', stats, 5e9)).toBeUndefined();
  });

  it('says how much and about how many chunks go', () => {
    expect(loweringOf('disk', stats, 6e9)).toEqual({ excess: 4e9, chunks: 40, pinnedAbove: false });
    expect(loweringOf('device', stats, 1.5e9)).toEqual({ excess: 0.5e9, chunks: 5, pinnedAbove: false });
    expect(loweringOf('memory', stats, 0.4e9)).toEqual({ excess: 0.6e9, chunks: 6, pinnedAbove: false });
  });

  it('never counts pinned chunks among those that go', () => {
    expect(loweringOf('disk', stats, 0.5e9)).toEqual({ excess: 9e9, chunks: 90, pinnedAbove: true });
  });
});
