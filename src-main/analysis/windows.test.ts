import { describe, expect, test } from 'vitest';
import { randomFrom } from '../testing/random.ts';
import { planCombining, planWindows, shapeOf, type Span } from './windows.ts';

const same = (count: number, tokens = 10): number[] => Array.from({ length: count }, () => tokens);

/** Invariants of every plan. */
function expectRules(
  lengths: readonly number[],
  windows: readonly Span[],
  { room, size = Number.POSITIVE_INFINITY, overlap }: { room: number; size?: number; overlap?: number },
): void {
  expect(windows[0]?.from).toBe(0);
  expect(windows.at(-1)?.to).toBe(lengths.length);
  for (const [i, { from, to }] of windows.entries()) {
    expect(to - from).toBeGreaterThan(0);
    expect(to - from).toBeLessThanOrEqual(size);
    expect(lengths.slice(from, to).reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(room);
    const before = windows[i - 1];
    if (!before) continue;
    expect(from).toBeLessThanOrEqual(before.to); // no chunk is left out
    expect(from).toBeGreaterThan(before.from);
    expect(to).toBeGreaterThan(before.to); // every window reads something new
    if (overlap !== undefined) expect(before.to - from).toBeLessThanOrEqual(overlap);
  }
}

describe('windows', () => {
  test('a document that fits is one window', () => {
    expect(planWindows(same(5), { room: 50 })).toEqual([{ from: 0, to: 5 }]);
  });

  test('have the requested size and overlap', () => {
    expect(planWindows(same(8), { room: 1000, size: 3, overlap: 1 })).toEqual([
      { from: 0, to: 3 },
      { from: 2, to: 5 },
      { from: 4, to: 7 },
      { from: 6, to: 8 },
    ]);
  });

  test('take as many chunks as fit, and repeat a sixth of them', () => {
    const windows = planWindows(same(30), { room: 120 });
    expect(windows[0]).toEqual({ from: 0, to: 12 });
    expect(windows[1]).toEqual({ from: 10, to: 22 });
    expect(shapeOf(windows)).toEqual({ size: 12, overlap: 2 });
  });

  test('overlap less where a long chunk would not fit beside what is repeated', () => {
    const lengths = [10, 10, 10, 95, 10];
    expect(planWindows(lengths, { room: 100, overlap: 2 })).toEqual([
      { from: 0, to: 3 },
      { from: 3, to: 4 },
      { from: 4, to: 5 },
    ]);
  });

  test('of one chunk each never repeat it', () => {
    expect(planWindows(same(3), { room: 10, overlap: 5 })).toHaveLength(3);
  });

  test('a chunk larger than the room is refused with both numbers', () => {
    expect(() => planWindows([10, 200], { room: 100 })).toThrow(/200 tokens.*room for 100/);
  });

  test('no chunks, no windows', () => expect(planWindows([], { room: 10 })).toEqual([]));

  test('keep the rules for any lengths, room, size and overlap', () => {
    const random = randomFrom(7);
    const below = (n: number): number => Math.floor(random() * n);
    for (let round = 0; round < 500; round++) {
      const lengths = Array.from({ length: 1 + below(60) }, () => 1 + below(50));
      const shape = {
        room: 50 + below(400),
        ...(below(2) === 0 && { size: 1 + below(12) }),
        ...(below(2) === 0 && { overlap: below(6) }),
      };
      expectRules(lengths, planWindows(lengths, shape), shape);
    }
  });
});

describe('combining', () => {
  test('notes that fit one prompt are one group', () => {
    expect(planCombining(same(4), 40)).toEqual([{ from: 0, to: 4 }]);
  });

  test('comes to an end after few rounds, whatever the room', () => {
    const random = randomFrom(8);
    for (let round = 0; round < 200; round++) {
      let lengths = Array.from(
        { length: 2 + Math.floor(random() * 100) },
        () => 1 + Math.floor(random() * 40),
      );
      const room = Math.floor(random() * 200);
      let rounds = 0;
      while (lengths.length > 1) {
        const groups = planCombining(lengths, room);
        expect(groups.map(({ from }) => from)).toEqual([0, ...groups.slice(0, -1).map(({ to }) => to)]);
        expect(groups.at(-1)?.to).toBe(lengths.length);
        expect(Math.min(...groups.map(({ from, to }) => to - from))).toBeGreaterThanOrEqual(2);
        lengths = groups.map(() => 40);
        rounds++;
      }
      expect(rounds).toBeLessThanOrEqual(7);
    }
  });
});
