import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../src-main/testing/random.ts';
import { ReuseModel } from '../../src-main/kvstore/eviction/reuse-model.ts';
import { WorkloadAware, type Rates } from './workload-aware.ts';

/** Knows what a test says, and counts how often it is asked. */
function rates(rate: (name: string, idle: number) => number): Rates & { asked: number } {
  const model = {
    asked: 0,
    used: () => undefined,
    reused: () => undefined,
    rate: (name: string, idle: number) => {
      model.asked++;
      return rate(name, idle);
    },
  };
  return model;
}

const RECENCY = (_: string, idle: number): number => 1 / (1 + idle);

/** Conversations that go on or begin anew, some behind a shared prompt; block names are paths in the tree of prompts. */
function* conversations(seed: number, count: number): Generator<string[]> {
  const random = randomFrom(seed);
  const pick = (n: number): number => Math.floor(random() * n);
  const running: string[][] = [];
  for (let i = 0; i < count; i++) {
    const system = `system ${pick(3)}`;
    const at = pick(12);
    const before = random() < 0.6 ? (running[at] ?? [system]) : [system];
    const prompt = [...before, ...Array.from({ length: 1 + pick(4) }, (_, j) => `${i}.${j}`)];
    running[at] = random() < 0.2 ? [] : prompt;
    yield prompt;
  }
}

describe('WorkloadAware', () => {
  test('is LRU, tail first, where recency is all that is known', () => {
    const cache = new WorkloadAware<string>({ capacity: 40, model: rates(RECENCY), remembered: 100 });
    let lru: string[] = []; // least recently used first
    let now = 0;
    for (const prompt of conversations(1, 600)) {
      cache.use(prompt, prompt.length > 3 ? 'a' : 'b', ++now);
      const tailFirst = [...prompt].reverse();
      lru = [...lru.filter((block) => !prompt.includes(block)), ...tailFirst].slice(-40);
      expect(cache.size).toBe(lru.length);
      expect(lru.filter((block) => !cache.has(block))).toEqual([]);
    }
  });

  test('what is never used again goes first, though it was used later', () => {
    const model = rates((name, idle) => (name === 'once' ? 0.001 : 0.1) / (1 + idle));
    const cache = new WorkloadAware<string>({ capacity: 4, model, remembered: 100 });
    cache.use(['chat 1', 'chat 2'], 'chat', 0);
    cache.use(['once 1', 'once 2'], 'once', 5);
    expect(cache.use(['new 1'], 'chat', 6)).toEqual(['once 2']);
    expect(cache.use(['new 2'], 'chat', 7)).toEqual(['once 1']);
    expect(cache.use(['new 3'], 'chat', 8)).toEqual(['chat 2']);
  });

  test('a block never goes before one that stands behind it', () => {
    const cache = new WorkloadAware<string>({ capacity: 30, model: new ReuseModel(100), remembered: 50 });
    const parents = new Map<string, string>();
    let [now, kept] = [0, 0];
    for (const prompt of conversations(2, 1500)) {
      prompt.forEach((block, i) => i > 0 && parents.set(block, prompt[i - 1] ?? ''));
      cache.use(prompt, ['text', 'file', 'image'][now % 3] ?? '', ++now);
      for (const [block, parent] of parents) {
        if (!cache.has(block)) continue;
        kept++;
        expect(cache.has(parent), `${parent}, before ${block}`).toBe(true);
      }
      expect(cache.size).toBeLessThanOrEqual(30);
    }
    expect(kept).toBeGreaterThan(1000);
  });

  test('says what it evicted, each once, and nothing else goes', () => {
    const cache = new WorkloadAware<string>({ capacity: 20, model: new ReuseModel(100), remembered: 50 });
    const expected = new Set<string>();
    let now = 0;
    for (const prompt of conversations(3, 500)) {
      for (const block of prompt) expected.add(block);
      for (const block of cache.use(prompt, 'text', ++now)) expect(expected.delete(block)).toBe(true);
      expect([cache.size, [...expected].every((block) => cache.has(block))]).toEqual([expected.size, true]);
    }
  });

  test('learns from prompts whose blocks are gone', () => {
    const told: [string, number][] = [];
    const model = { ...rates(RECENCY), reused: (name: string, idle: number) => void told.push([name, idle]) };
    const cache = new WorkloadAware<string>({ capacity: 2, model, remembered: 3 });
    cache.use(['a', 'b'], 'chat', 0);
    cache.use(['x', 'y'], 'other', 1);
    cache.use(['a', 'b', 'c'], 'chat', 10);
    expect(told).toEqual([['chat', 10]]);
    for (let i = 0; i < 3; i++) cache.use([`${i}`], 'other', 20 + i);
    cache.use(['x', 'y', 'z'], 'other', 30); // forgotten by now
    expect(told).toHaveLength(1);
  });

  test('looks at one prompt a class for each eviction, however many there are', () => {
    const asked = [10, 1000].map((prompts) => {
      const model = rates(RECENCY);
      const cache = new WorkloadAware<string>({ capacity: prompts, model, remembered: 10_000 });
      for (let i = 0; i < prompts; i++) cache.use([`${i}`], ['text', 'file', 'image'][i % 3] ?? '', i);
      expect(model.asked).toBe(0);
      cache.use(['one more'], 'text', prompts);
      return model.asked;
    });
    expect(asked).toEqual([3, 3]);
  });
});
