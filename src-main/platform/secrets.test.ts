import * as crypto from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { Secrets } from './secrets.ts';

vi.mock('node:crypto', { spy: true });

test('a secret is compared in constant time with every one that there is, right or wrong', () => {
  const secrets = new Secrets(['first', 'second', 'third']);
  const compare = vi.mocked(crypto.timingSafeEqual);
  for (const [given, isKnown] of [
    ['first', true],
    ['third', true],
    ['', false],
    ['first but longer', false],
  ] as const) {
    compare.mockClear();
    expect(secrets.has(given)).toBe(isKnown);
    expect(compare.mock.calls.map(([a, b]) => [a.byteLength, b.byteLength])).toEqual(Array(3).fill([32, 32]));
  }
});

test('a secret that is taken is gone, and of issued ones the oldest go', () => {
  const secrets = new Secrets();
  const [first, second, third] = [1, 2, 3].map(() => secrets.issue(2));
  expect([first, second, third].map((one) => secrets.has(one ?? ''))).toEqual([false, true, true]);
  expect([secrets.take(second ?? ''), secrets.take(second ?? ''), secrets.has(third ?? '')]).toEqual([
    true,
    false,
    true,
  ]);
});
