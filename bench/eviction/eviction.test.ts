import { expect, test } from 'vitest';
import { ByWorkload, Gdfs, Lfu, Lru, Optimum, type Policy } from './policies.ts';
import { nextUses, replay } from './replay.ts';
import { generateTrace, numberBlocks, type TraceRequest } from './trace.ts';

const trace = generateTrace({ seed: 7, requests: 2500, users: 400, rate: 1 });
const distinct = numberBlocks(trace);
const uses = nextUses(trace);

function gain(size: number): number {
  const capacity = Math.round(distinct * size);
  return replay(trace, uses, new ByWorkload(capacity)) / replay(trace, uses, new Lru(capacity, distinct)) - 1;
}

test.each([0.01, 0.02])(
  'at least 5 percent more hits than LRU in a small cache: %d of the blocks',
  (size) => {
    expect(gain(size)).toBeGreaterThan(0.05);
  },
);

test.each([0.2, 0.4])('not 1 percent fewer hits than LRU in a large cache: %d of the blocks', (size) => {
  expect(gain(size)).toBeGreaterThan(-0.01);
});

test('the optimum is above all others', () => {
  const of = (policy: Policy): number => replay(trace, uses, policy);
  const best = of(new Optimum(5000, distinct));
  for (const policy of [
    new Lru(5000, distinct),
    new Lfu(5000, distinct),
    new Gdfs(5000, distinct),
    new ByWorkload(5000),
  ])
    expect(of(policy)).toBeLessThan(best);
});

test('hits counted by hand', () => {
  const request = (time: number, ...blocks: number[]): TraceRequest => ({ time, class: 'text-1', blocks });
  const small = [request(0, 1, 2, 3), request(1, 1, 2, 4), request(2, 5, 6), request(3, 1, 2, 3)];
  // LRU of 4 blocks keeps 3 2 1, then 3 4 2 1, then 2 1 6 5: hits 0, 2, 0, 2 of 11.
  expect(replay(small, nextUses(small), new Lru(4, 7))).toBeCloseTo(4 / 11);
  expect(nextUses(small).map((next) => [...next])).toEqual([
    [1, 1, 3],
    [3, 3, Infinity],
    [Infinity, Infinity],
    [Infinity, Infinity, Infinity],
  ]);
});
