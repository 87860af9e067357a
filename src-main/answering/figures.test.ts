import { expect, test } from 'vitest';
import { cachedTokens } from './figures.ts';

type Turn = Parameters<typeof cachedTokens>[0];

const part = (kind: 'text' | 'chunk', index: number, count: number) => ({
  kind,
  index,
  tokens: new Int32Array(count),
});

/** Text of 3 tokens, chunks of 10 and 5, text of 2, after 64 known ones. */
function turnOf(reuse: Turn['blended']['reuse'], selected: number[]): Turn {
  const known: Partial<Turn['blended']['report']> = { selected: Int32Array.from(selected) };
  const blended: Partial<Turn['blended']> = { reuse, report: known as Turn['blended']['report'] };
  return {
    figures: { residentTokens: 64 } as Turn['figures'],
    appended: [part('text', 0, 3), part('chunk', 1, 10), part('chunk', 2, 5), part('text', 3, 2)],
    blended: blended as Turn['blended'],
  };
}

const whole = (count: number) => ({ tier: 'ram' as const, runs: [{ begin: 0, count }] });
const NONE = { tier: 'computed' as const, runs: [] };

test('tokens of chunks count where they were reused and not computed again', () => {
  expect(cachedTokens(turnOf([whole(10), whole(5)], []), new Set())).toBe(64 + 15);
  // Positions from the first token after the known ones: two of the first chunk, one of the second, and one of text.
  expect(cachedTokens(turnOf([whole(10), whole(5)], [3, 12, 13, 19]), new Set())).toBe(64 + 12);
});

test('of a chunk that was found in part, only those found', () => {
  const runs = [
    { begin: 1, count: 2 },
    { begin: 6, count: 3 },
  ];
  expect(cachedTokens(turnOf([{ tier: 'disk', runs }, NONE], [3 + 6]), new Set())).toBe(64 + 4);
});

test('none of a chunk that was computed, for the prompt or before it', () => {
  expect(cachedTokens(turnOf([NONE, whole(5)], []), new Set())).toBe(64 + 5);
  expect(cachedTokens(turnOf([whole(10), whole(5)], [4]), new Set([1]))).toBe(64 + 5);
});
