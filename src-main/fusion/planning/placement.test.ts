import { expect, test } from 'vitest';
import { CostModel } from './cost-model.ts';
import { placeChunks, usualCosts, type FolderCost } from './placement.ts';
import { Machine } from '../../testing/machine.ts';

/** One second of computing hides reading 60 ms and 900 ms, not 2,000 ms. */
const SSD: FolderCost = { id: '', loadMs: 60, pricePerGb: 0.1 };
const BIG: FolderCost = { id: 'big', loadMs: 900, pricePerGb: 0.02 };
const TAPE: FolderCost = { id: 'tape', loadMs: 2000, pricePerGb: 0.001 };

const orderOf = (folders: readonly FolderCost[], computeMs: number | null): string[] =>
  placeChunks(folders, computeMs).folders.map(({ id, addsDelay }) => (addsDelay ? `${id}, late` : id));

test('the cheapest folder that adds no delay comes first, then the others that add none, then the fastest', () => {
  expect(orderOf([SSD, TAPE, BIG], 1000)).toEqual(['big', '', 'tape, late']);
  expect(orderOf([SSD, TAPE, BIG], 2000)).toEqual(['tape', 'big', '']);
  expect(orderOf([SSD, TAPE, BIG], 899)).toEqual(['', 'big, late', 'tape, late']);
  expect(orderOf([BIG, TAPE, SSD], 59)).toEqual([', late', 'big, late', 'tape, late']);
});

test('an unknown price is more than any, and equals stay in their order', () => {
  const unpriced = ({ id, loadMs }: FolderCost): FolderCost => ({ id, loadMs });
  expect(orderOf([unpriced(SSD), BIG], 1000)).toEqual(['big', '']);
  expect(orderOf([SSD, unpriced(BIG)], 1000)).toEqual(['', 'big']);
  expect(orderOf([unpriced(SSD), unpriced(BIG)], 1000)).toEqual(['', 'big']);
  expect(orderOf([SSD, { ...BIG, pricePerGb: 0.1 }], 1000)).toEqual(['', 'big']);
});

test('before a measurement, new chunks go to the store’s own folder', () => {
  expect(orderOf([SSD, BIG], null)).toEqual(['', 'big, late']);
  expect(
    orderOf(
      [
        { ...SSD, loadMs: null },
        { ...BIG, loadMs: null },
      ],
      1000,
    ),
  ).toEqual(['', 'big, late']);
  expect(placeChunks([{ ...SSD, loadMs: null }, BIG], 1000)).toMatchObject({ reason: 'cheapest' });
});

test('the reason', () => {
  const reason = (folders: readonly FolderCost[], computeMs: number | null): string =>
    placeChunks(folders, computeMs).reason;
  expect(reason([SSD, BIG], 1000)).toBe('cheapest');
  expect(reason([SSD, BIG], 100)).toBe('only');
  expect(reason([SSD, BIG], 10)).toBe('fastest');
  expect(reason([SSD, BIG], null)).toBe('unmeasured');
  expect(
    reason(
      [
        { id: '', loadMs: 1 },
        { id: 'b', loadMs: 2 },
      ],
      10,
    ),
  ).toBe('unpriced');
});

test('reading is compared with computing at the ratio in use', () => {
  const machine = new Machine();
  const costs = new CostModel('/dev/null/none');
  for (const done of machine.profile()) costs.observe(machine.info, done);
  // 100 bytes a millisecond, and nothing for opening.
  for (const bytes of [1e4, 1e6]) costs.observeTransfer({ values: 1, bytes, ms: bytes / 100 }, 'disk:b');
  const usual = { chunks: 4, chunkTokens: 256, bytesPerToken: 100 };
  const at = (ratio: number) =>
    usualCosts(costs, machine.info, { kind: 'query', questionLayers: [1], ratios: [ratio] }, usual);
  expect(at(0.15).loadMs('b')).toBeCloseTo((4 * 256 * 100) / 100, 0);
  expect(at(0.15).loadMs('unknown')).toBeNull();
  expect(at(0.5).computeMs!).toBeGreaterThan(at(0.15).computeMs! * 1.5);
  expect(costs.bytesPerSecond('disk:b')).toBeCloseTo(100_000, -3);
});
