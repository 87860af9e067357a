import { expect, test } from 'vitest';
import { fittingBytes } from './folders.ts';

const own = { id: '', state: 'ready', bytes: 10, budgetBytes: 14 } as const;
const big = { id: 'b', state: 'ready', bytes: 30, budgetBytes: 90 } as const;

test('what fits into the other folders is what they have free', () => {
  expect(fittingBytes(big, [own, big])).toBe(4);
  expect(fittingBytes(own, [own, big])).toBe(10);
  expect(fittingBytes(big, [{ ...own, bytes: 20 }, big])).toBe(0);
  expect(fittingBytes(own, [own, { ...big, state: 'not-connected' }])).toBe(0);
});
