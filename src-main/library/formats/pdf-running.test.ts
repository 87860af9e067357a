import { expect, test } from 'vitest';
import type { Line } from './pdf-layout.ts';
import { withoutRunning } from './pdf-running.ts';

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
