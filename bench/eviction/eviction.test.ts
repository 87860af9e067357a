import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateChunkTrace } from './chunk-trace.ts';
import { ByStore, ByWorkload, Gdfs, Lfu, Lru, Optimum, type Policy } from './policies.ts';
import { asChunks, nextUses, replay } from './replay.ts';
import { generateTrace, numberBlocks, readTrace, type TraceRequest } from './trace.ts';

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

describe.each([1, 2])('chunks of a library, seed %d', (seed) => {
  const chunks = generateChunkTrace({ seed, requests: 1500 });
  const kinds = numberBlocks(chunks);
  const next = nextUses(chunks);
  const gainOfStore = (size: number): number => {
    const capacity = Math.round(kinds * size);
    const of = (policy: Policy): number => replay(chunks, next, policy, asChunks);
    return of(new ByStore(capacity)) / of(new Lru(capacity, kinds)) - 1;
  };

  test.each([0.01, 0.02, 0.05])('the store: 5 percent more hits than LRU in a small cache: %d', (size) => {
    expect(gainOfStore(size)).toBeGreaterThan(0.05);
  });

  test.each([0.005, 0.1, 0.2, 0.4, 0.7])('the store: never 1 percent fewer hits than LRU: %d', (size) => {
    expect(gainOfStore(size)).toBeGreaterThan(-0.01);
  });
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

test('the public trace format: requests in order of time, by type and turn; blocks numbered anew', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-trace-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'trace.jsonl');
  const lines = [
    { chat_id: 2, timestamp: 9.5, type: 'text', turn: 2, input_length: 40, hash_ids: [700, 900] },
    { chat_id: 1, timestamp: 0.5, type: 'text', turn: 1, input_length: 20, hash_ids: [700, 30] },
  ];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const requests = readTrace(file);
  expect(numberBlocks(requests)).toBe(3);
  expect(requests).toEqual([
    { time: 0.5, class: 'text-1', blocks: [0, 1] },
    { time: 9.5, class: 'text-2', blocks: [0, 2] },
  ]);
  writeFileSync(file, '{"type":"text"}\n');
  expect(() => readTrace(file)).toThrow('not a request');
});
