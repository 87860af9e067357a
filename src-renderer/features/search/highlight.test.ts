import { describe, expect, it } from 'vitest';
import { excerptOf, highlighted } from './highlight.ts';

const render = (text: string, ranges: [number, number][]): string =>
  highlighted(
    text,
    ranges.map(([start, end]) => ({ start, end })),
  )
    .map((part) => (part.marked ? `[${part.text}]` : part.text))
    .join('');

describe('highlighted', () => {
  it('marks ranges wherever they stand', () => {
    expect(render('one two three', [])).toBe('one two three');
    expect(render('one two three', [[4, 7]])).toBe('one [two] three');
    expect(
      render('one two three', [
        [8, 13],
        [0, 3],
      ]),
    ).toBe('[one] two [three]');
  });

  it('survives ranges that overlap, are empty, or reach beyond the text', () => {
    expect(
      render('abcdef', [
        [1, 3],
        [2, 4],
      ]),
    ).toBe('a[bc][d]ef');
    expect(
      render('abcdef', [
        [1, 5],
        [2, 3],
      ]),
    ).toBe('a[bcde]f');
    expect(
      render('abc', [
        [1, 1],
        [2, 99],
      ]),
    ).toBe('ab[c]');
    expect(render('', [[0, 4]])).toBe('');
  });
});

describe('excerptOf', () => {
  it('leaves a text alone whose first mark comes early, or that has none', () => {
    expect(excerptOf('some words', [{ start: 5, end: 10 }]).text).toBe('some words');
    expect(excerptOf('x'.repeat(900), []).text).toHaveLength(900);
  });

  it('begins at a word a little before a late mark, and marks the same word', () => {
    const text = `${'word '.repeat(100)}needle and more`;
    const start = text.indexOf('needle');
    const excerpt = excerptOf(text, [{ start, end: start + 6 }]);
    expect(excerpt.text.startsWith('…word')).toBe(true);
    expect(excerpt.text.length).toBeLessThan(150);
    const [range] = excerpt.ranges;
    expect(excerpt.text.slice(range!.start, range!.end)).toBe('needle');
  });

  it('copes with text without spaces', () => {
    const text = `${'字'.repeat(500)}针`;
    const excerpt = excerptOf(text, [{ start: 500, end: 501 }]);
    const [range] = excerpt.ranges;
    expect(excerpt.text.slice(range!.start, range!.end)).toBe('针');
  });
});
