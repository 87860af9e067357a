import { expect, test } from 'vitest';
import type { Line } from './layout.ts';
import { withoutRunning } from './running.ts';

function page(...texts: string[]): Line[] {
  return texts.map((text, i) => ({ text, y: 700 - 20 * i }) as Line);
}

const textsOf = (pages: readonly (readonly Line[])[]): string[][] =>
  pages.map((lines) => lines.map(({ text }) => text));

test('a line that repeats at the edge of pages goes, but for the first', () => {
  const pages = [1, 2, 3, 4].map((n) =>
    page(`Manual, page ${n}`, `Text ${'x'.repeat(n)}`, 'a', 'b', 'c', 'd'),
  );
  expect(textsOf(withoutRunning(pages)).map(([first]) => first)).toEqual([
    'Manual, page 1',
    'Text xx',
    'Text xxx',
    'Text xxxx',
  ]);
});

test('pages that have nothing else keep theirs', () => {
  const pages = [0, 1, 2, 3].map((n) => page(`Intact, page ${n}.`));
  expect(withoutRunning(pages)).toEqual(pages);
});

/** Lines at the given heights, with the text of the page between them. */
function pagesWith(top: (n: number) => string, bottom: (n: number) => string): Line[][] {
  return [1, 2, 3, 4].map((n) => [
    { text: top(n), y: 800, height: 10 } as Line,
    ...['a', 'b', 'c', 'd'].map(
      (text, i) => ({ text: `${text} ${'x'.repeat(n)}`, y: 740 - 12 * i, height: 10 }) as Line,
    ),
    { text: bottom(n), y: 40, height: 10 } as Line,
  ]);
}

const edgesOf = (pages: Line[][]): string[] =>
  withoutRunning(pages).flatMap((lines) =>
    lines.map(({ text }) => text).filter((text) => !/^[a-d] x+$/.test(text)),
  );

test('headers that repeat go; page numbers of all forms go', () => {
  expect(
    edgesOf(
      pagesWith(
        () => 'The manual',
        (n) => `${n}`,
      ),
    ),
  ).toEqual(['The manual']);
  expect(
    edgesOf(
      pagesWith(
        () => 'The manual',
        (n) => `Page ${n} of 4`,
      ),
    ),
  ).toEqual(['The manual', 'Page 1 of 4']);
  expect(
    edgesOf(
      pagesWith(
        (n) => `Chapter ${n < 3 ? 1 : 2}`,
        (n) => `Page: ${n}`,
      ),
    ),
  ).toEqual(['Chapter 1', 'Page: 1', 'Chapter 2']);
});

test('data at the edge of pages stays, however it repeats', () => {
  const results = (n: number): string => `Result: ${n === 3 ? 'failed' : 'passed'}`;
  const found = edgesOf(pagesWith(results, () => 'Total 0'));
  expect(found).toEqual([1, 2, 3, 4].flatMap((n) => [results(n), 'Total 0']));
  const numbered = edgesOf(
    pagesWith(
      (n) => `Invoice no: ${1000 + n}`,
      () => 'Sum 12.50 €',
    ),
  );
  expect(numbered).toEqual([1, 2, 3, 4].flatMap((n) => [`Invoice no: ${1000 + n}`, 'Sum 12.50 €']));
});

test('the first line of the text is no header, although it repeats', () => {
  const pages = [1, 2, 3, 4].map((n) =>
    ['Passed', `Candidate ${'x'.repeat(n)}`, 'a', 'b', 'c', `d ${'x'.repeat(n)}`].map(
      (text, i) => ({ text, y: 700 - 12 * i, height: 10 }) as Line,
    ),
  );
  expect(withoutRunning(pages)).toEqual(pages);
});

test('a watermark is kept once', () => {
  const pages = pagesWith(
    (n) => `Letter ${'x'.repeat(n)}`,
    () => '',
  ).map((lines) => [...lines, { text: 'DRAFT', y: 0, height: 40, turned: true } as Line]);
  expect(
    withoutRunning(pages)
      .flat()
      .filter(({ text }) => text === 'DRAFT'),
  ).toHaveLength(1);
});
