import { expect, test } from 'vitest';
import { proposeBudget } from './budget-proposal.ts';

const GB = 1e9;
const disk = (freeGb: number) => ({ total: 4000 * GB, free: freeGb * GB });

test('a quarter of what is free or taken by the cache, in whole gigabytes, at most 200', () => {
  expect(proposeBudget(disk(101), 0)).toEqual({ bytes: 25 * GB });
  expect(proposeBudget(disk(3000), 0)).toEqual({ bytes: 200 * GB });
});

test('the proposal does not change while the cache fills the disk', () => {
  for (const held of [0, 10, 25])
    expect(proposeBudget(disk(100 - held), held * GB)).toEqual({ bytes: 25 * GB });
});

test('there is none for a disk with little space, or that does not report it', () => {
  expect(proposeBudget(disk(7.9), 0)).toEqual({ obstacle: 'small-disk' });
  expect(proposeBudget(disk(8), 0)).toEqual({ bytes: 2 * GB });
  expect(proposeBudget(undefined, 0)).toEqual({ obstacle: 'unknown-space' });
});
