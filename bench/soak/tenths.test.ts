import { expect, test } from 'vitest';
import { tenths } from './tenths.ts';

test('each tenth of the time has its percentiles, failures, different texts and peak memory', () => {
  const rows = tenths(
    [
      { time: 0, rssMiB: 100, ttftMs: 10, totalMs: 20, same: true },
      { time: 5.9, rssMiB: 120, ttftMs: 30, totalMs: 40, same: false },
      { time: 6, rssMiB: 110, error: 'refused' },
      { time: 59.9, rssMiB: 105, ttftMs: 50, totalMs: 60, same: true },
    ],
    60,
  );
  expect(rows).toHaveLength(10);
  expect(rows[0]).toMatchObject({ from: 0, to: 0.1, requests: 2, failed: 0, different: 1, rssMiB: 120 });
  expect(rows[0]?.ttft).toEqual({ p50: 10, p95: 30, p99: 30 });
  expect(rows[1]).toMatchObject({ requests: 1, failed: 1, different: 0 });
  expect(rows[9]).toMatchObject({ requests: 1, failed: 0, different: 0, rssMiB: 105 });
});
