import { expect, test } from 'vitest';
import { closedLoop, openLoop } from './load.ts';
import type { ServeMethod } from './methods.ts';
import { percentiles, summary } from './summary.ts';
import { drawRequests } from './workload.ts';

const SHAPE = { context: 64, chunkTokens: 32, questionTokens: 8, answerTokens: 4 };

/** Takes some time, and counts concurrent requests. */
function method(): ServeMethod & { most: number } {
  let now = 0;
  const self = {
    name: 'waits',
    most: 0,
    forget: () => Promise.resolve(),
    serve: async (_: unknown, began: number) => {
      self.most = Math.max(self.most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      const ms = performance.now() - began;
      return { ttftMs: ms, totalMs: ms, tokens: 4 };
    },
  };
  return self;
}

test('requests are the same for every method, place each chunk once, and arrive in order', () => {
  const requests = drawRequests(6, SHAPE, 20, 2);
  expect(drawRequests(6, SHAPE, 20, 2)).toEqual(requests);
  for (const { chunks } of requests) expect(new Set(chunks).size).toBe(2);
  const times = requests.map(({ time }) => time);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBe(0);
  expect(times.at(-1)).toBeGreaterThan(0);
});

test('an open loop limits concurrency, a closed loop has one request per client', async () => {
  const [open, closed] = [method(), method()];
  const served = await openLoop(open, drawRequests(6, SHAPE, 9), 3);
  expect(served).toHaveLength(9);
  expect(open.most).toBe(3);
  expect(await closedLoop(closed, drawRequests(6, SHAPE, 9), 2)).toHaveLength(9);
  expect(closed.most).toBe(2);
});

test('summary of a run: percentiles, throughput and goodput', () => {
  expect(percentiles([4, 1, 3, 2])).toEqual({ p50: 2, p95: 4, p99: 4 });
  const one = (came: number, ttftMs: number) => ({
    came,
    ttftMs,
    totalMs: 500,
    ended: came + 500,
    tokens: 5,
  });
  const row = summary([one(0, 100), one(500, 300)], {
    ...{ method: 'm', load: 'l', rate: null, idle: 100, limit: 200 },
  });
  expect(row).toMatchObject({
    requests: 2,
    meanTtft: 200,
    tokensPerSecond: 10,
    requestsPerSecond: 2,
    goodput: 1,
  });
  expect(row.perToken.p50).toBe(50);
});
