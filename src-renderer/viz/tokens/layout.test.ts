import { describe, expect, test } from 'vitest';
import { keyTarget } from './keys.ts';
import {
  layoutTokens,
  nearestToken,
  rowsWithin,
  tokenAt,
  tokenBeyond,
  visible,
  type TokenMetrics,
} from './layout.ts';
import { columnOf, overviewColumns, partAt, tokenOfColumn } from './overview.ts';

const METRICS: TokenMetrics = {
  measure: (text) => 10 * text.length,
  lineHeight: 20,
  headingHeight: 30,
  partGap: 10,
  gutter: 10,
  rightPadding: 0,
};
const part = (first: number, count: number) => ({ first, count });

describe('layout of tokens', () => {
  test('a heading, then tokens from left to right, a new line where one is full', () => {
    const layout = layoutTokens(['aaa', 'bbb ', 'ccc'], [part(0, 3)], 90, METRICS);
    expect(layout.rows).toEqual([
      { kind: 'heading', part: 0, y: 0, height: 30, first: 0, end: 0 },
      { kind: 'tokens', part: 0, y: 30, height: 20, first: 0, end: 2 },
      { kind: 'tokens', part: 0, y: 50, height: 20, first: 2, end: 3 },
    ]);
    expect([...layout.x]).toEqual([10, 40, 10]);
    expect(layout.height).toBe(80);
  });

  test('a word in several tokens is not torn, and the space before it does not indent', () => {
    const layout = layoutTokens([' one', ' thr', 'ee', 'x'], [part(0, 4)], 100, METRICS);
    expect([...layout.row]).toEqual([1, 2, 2, 2]);
    expect(layout.rows[1]).toMatchObject({ first: 0, end: 1 });
    expect(layout.x[1]).toBe(0);
  });

  test('a word longer than a line is torn rather than lost', () => {
    const layout = layoutTokens(['aaaaa', 'bbbbb', 'ccccc'], [part(0, 3)], 60, METRICS);
    expect([...layout.row]).toEqual([1, 2, 3]);
  });

  test('a token wider than the map is cut to its width', () => {
    const layout = layoutTokens(['a'.repeat(50)], [part(0, 1)], 60, METRICS);
    expect(layout.widths[0]).toBe(50);
  });

  test('a line ends behind a line break, which is shown', () => {
    const layout = layoutTokens(['a\n\n', 'b'], [part(0, 2)], 200, METRICS);
    expect(layout.shown[0]).toBe('a⏎⏎');
    expect([...layout.row]).toEqual([1, 2]);
  });

  test('a token without text (part of a character) can still be pointed at', () => {
    const layout = layoutTokens(['', '水'], [part(0, 2)], 200, METRICS);
    expect(tokenAt(layout, 12, 40)).toBe(0);
  });

  test('every token is found at its own place, at any width', () => {
    const tokens = Array.from({ length: 700 }, (_, i) =>
      i % 41 === 0 ? '.\n' : `${i % 3 === 0 ? ' ' : ''}${'x'.repeat(i % 7)}`,
    );
    for (const width of [40, 97, 480, 2000]) {
      const layout = layoutTokens(tokens, [part(0, 300), part(300, 400)], width, METRICS);
      for (const [token] of tokens.entries()) {
        const row = layout.rows[layout.row[token]!]!;
        expect(token >= row.first && token < row.end).toBe(true);
        expect(tokenAt(layout, layout.x[token]! + 1, row.y + 1)).toBe(token);
        expect(layout.x[token]! + layout.widths[token]!).toBeLessThanOrEqual(width);
      }
      const held = layout.rows.reduce((sum, { first, end }) => sum + end - first, 0);
      expect(held).toBe(tokens.length);
    }
  });
});

describe('finding one’s way', () => {
  const layout = layoutTokens(['aaa', ' bb', ' cc', ' dd'], [part(0, 2), part(2, 2)], 200, METRICS);
  // Rows: heading 0–30, tokens 30–50, heading 60–90, tokens 90–110.

  test('only rows in view are drawn', () => {
    expect(rowsWithin(layout, 0, 30)).toEqual([0, 1]);
    expect(rowsWithin(layout, 35, 61)).toEqual([1, 3]);
    expect(rowsWithin(layout, 500, 600)).toEqual([3, 4]);
  });

  test('no token in a heading, between lines, or right of the text', () => {
    expect(tokenAt(layout, 15, 10)).toBeNull();
    expect(tokenAt(layout, 15, 55)).toBeNull();
    expect(tokenAt(layout, 190, 35)).toBeNull();
    expect(tokenAt(layout, 15, -5)).toBeNull();
    expect(nearestToken(layout, 190, 35)).toBe(1);
    expect(nearestToken(layout, 15, 65)).toBe(2);
  });

  test('up and down keep to the column and step over headings', () => {
    expect(tokenBeyond(layout, 1, 1)).toBe(3);
    expect(tokenBeyond(layout, 3, -1)).toBe(1);
    expect(tokenBeyond(layout, 3, 1)).toBe(3);
  });

  test('keys: token, recomputed token, part', () => {
    const data = {
      tokens: ['aaa', ' bb', ' cc', ' dd'],
      parts: [part(0, 2), part(2, 2)].map((at) => ({ ...at, title: '', note: '', colour: 'ram' as const, quiet: false })), // prettier-ignore
      outlined: Uint8Array.of(0, 1, 2, 1),
    };
    const press = (key: string, from: number, entering = false) =>
      keyTarget(key, from, entering, layout, data);
    expect(press('ArrowRight', 3)).toBe(3);
    expect(press('ArrowRight', 2, true)).toBe(2);
    expect(press('n', 1)).toBe(3); // 2 was dropped by a later check
    expect(press('n', 3)).toBe(3);
    expect(press('p', 3)).toBe(1);
    expect(press('p', 0)).toBe(0);
    expect(press(']', 0)).toBe(2);
    expect(press('[', 3)).toBe(2);
    expect(press('[', 2)).toBe(0);
    expect(press('x', 0)).toBeUndefined();
  });
});

describe('overview', () => {
  test('a column shows the strongest of its tokens and counts the outlined ones', () => {
    const strength = Float32Array.of(0.1, 0.9, NaN, NaN, 0.2, NaN);
    const columns = overviewColumns(strength, Uint8Array.of(1, 1, 0, 0, 2, 1), 3);
    expect([...columns.strength]).toEqual([Math.fround(0.9), NaN, Math.fround(0.2)]);
    expect([...columns.outlined]).toEqual([2, 0, 1]);
  });

  test('columns and tokens lead to one another', () => {
    for (let column = 0; column < 480; column++)
      expect(columnOf(tokenOfColumn(column, 4000, 480), 4000, 480)).toBeLessThanOrEqual(column);
    expect(tokenOfColumn(9999, 40, 480)).toBe(39);
  });

  test('the part of a token', () => {
    const parts = [part(5, 2), part(7, 1)].map((at) => ({ ...at, title: '', note: '', colour: 'ram' as const, quiet: false })); // prettier-ignore
    expect([4, 5, 6, 7, 8].map((token) => partAt(parts, token))).toEqual([-1, 0, 0, 1, 1]);
  });
});

test('characters without a mark are drawn as signs', () => {
  expect(visible('a\r\n\tb\u200b\u202e')).toBe('a⏎⇥ b··');
});
