import { expect, test } from 'vitest';
import { randomFrom } from '../../src-main/testing/random.ts';
import { growth, type LifeTenth } from './growth.ts';
import { ACTIONS, schedule, WHOLE_LIFE, type Action } from './schedule.ts';

test('every tenth has its share of each action, in random order', () => {
  const tenths = schedule(0.1, randomFrom(1));
  const count = (actions: Action[], action: Action): number =>
    actions.filter((each) => each === action).length;
  expect(tenths).toHaveLength(10);
  for (const actions of tenths) {
    expect(count(actions, 'question')).toBe(100);
    expect(count(actions, 'switch')).toBe(2);
    expect(actions).not.toEqual(actions.toSorted());
  }
  expect(count(tenths.flat(), 'sleep')).toBe(WHOLE_LIFE.sleep / 10);
});

test('a short life has at least one of each action', () => {
  const all = schedule(0.001, randomFrom(1)).flat();
  expect(new Set(all)).toEqual(new Set(ACTIONS));
});

test('growth is more memory than allocators keep, or one more descriptor or thread', () => {
  const ms = { question: [], edit: [], switch: [], deletion: [], sleep: [] };
  const row = (rssMiB: number, descriptors: number, threads: number): LifeTenth => ({
    ...{ rssMiB, descriptors, threads, diskMiB: 1, ms },
  });
  expect(growth([row(100, 40, 20), row(300, 90, 30), row(102, 40, 20)])).toEqual([]);
  expect(growth([row(100, 40, 20), row(102.1, 41, 21)])).toEqual([
    'resident memory: 100.0 → 102.1 MiB',
    'descriptors: 40 → 41',
    'threads: 20 → 21',
  ]);
});
