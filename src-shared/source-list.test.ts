import { expect, test } from 'vitest';
import { citedText, sourceList } from './source-list.ts';

const TEXT = 'She lives in Oslo. I think. She builds bridges.';
const source = (citation: number) => ({ citation, start: 0, end: 4 });

test('sentences end with the numbers of their sources, each once and ascending', () => {
  const sentences = [
    { start: 0, end: 18, sources: [source(2), source(0), source(2)] },
    { start: 19, end: 27, sources: [] },
    { start: 28, end: 47, sources: [source(1)] },
  ];
  expect(citedText(TEXT, sentences)).toBe('She lives in Oslo. [1] [3] I think. She builds bridges. [2]');
  expect(citedText(TEXT)).toBe(TEXT);
});

test('the list has titles, files, pages or parts, and what supports the answer', () => {
  const citation = {
    ...{ documentId: '1', libraryId: '1', path: 'a/mara.md', title: 'Mara ›\n Home', page: '7', ordinal: 2 },
    ...{ start: 0, end: 9, text: 'Mara lives in Oslo.', highlights: [{ start: 5, end: 18 }] },
    ...{ score: 1, reason: 'match', tier: 'disk' as const, tokens: 5 },
  };
  const words = {
    title: 'Sources:',
    page: (label: string) => `p. ${label}`,
    part: (n: number) => `part ${n}`,
  };
  expect(sourceList([citation, { ...citation, page: null, highlights: [] }], words)).toBe(
    'Sources:\n\n1. Mara › Home (`a/mara.md`, p. 7): “lives in Oslo”\n2. Mara › Home (`a/mara.md`, part 3)',
  );
});
