import { expect, test } from 'vitest';
import { mergeScans, unrecognised } from './merge-scans.ts';

const own = 'Chapter one\nIt begins.';
const last = 'The end of it.';
const PAGES = [
  { label: 'i', start: 0, end: own.length },
  { label: 'ii', start: own.length + 2, end: own.length + 2, confidence: null },
  { label: 'iii', start: own.length + 2, end: own.length + 2, confidence: null },
  { label: 'iv', start: own.length + 2, end: own.length + 2 + last.length },
];
const DOCUMENT = {
  text: `${own}\n\n${last}`,
  headings: [
    { start: 0, level: 1, title: 'Chapter one' },
    { start: own.length + 2, level: 1, title: 'The end' },
  ],
  pages: PAGES,
};

test('recognised texts stand between those of the file, and headings and pages after them move', () => {
  const scans = new Map([
    [1, { text: 'What was scanned.', confidence: 93 }],
    [2, { text: 'A bad copy.', confidence: 61 }],
  ]);
  const { text, headings, pages, warnings } = mergeScans(DOCUMENT, scans);
  expect(text).toBe(`${own}\n\nWhat was scanned.\n\nA bad copy.\n\n${last}`);
  expect(pages.map(({ start, end }) => text.slice(start, end))).toEqual([
    own,
    'What was scanned.',
    'A bad copy.',
    last,
  ]);
  expect(pages.map(({ confidence }) => confidence)).toEqual([undefined, 93, 61, undefined]);
  expect(headings?.map(({ start }) => text.slice(start, start + 7))).toEqual(['Chapter', 'The end']);
  expect(warnings).toEqual(['Text recognition is not sure of these pages: iii.']);
});

test('pages on which nothing was found are done, and said', () => {
  const scans = new Map([[1, { text: '', confidence: 0 }]]);
  const { text, pages, warnings } = mergeScans(DOCUMENT, scans);
  expect(text).toBe(DOCUMENT.text);
  expect(pages.every(({ confidence }) => confidence === undefined)).toBe(true);
  expect(warnings).toEqual(['Text recognition found no text on these pages: ii, iii.']);
});

test('a text that may be wrong stays where text recognition makes no words of the page either', () => {
  const text = 'XKJBRTPQWZ'.repeat(12);
  const document = { text, pages: [{ label: '1', start: 0, end: text.length, confidence: null }] };
  const worse = mergeScans(document, new Map([[0, { text: 'KJBRTP'.repeat(20), confidence: 85 }]]));
  expect(worse.text).toBe(text);
  expect(worse.warnings).toEqual(['The text that the file has for these pages may be wrong: 1.']);
  const better = mergeScans(document, new Map([[0, { text: 'Codes', confidence: 85 }]]));
  expect(better.text).toBe('Codes');
});

test('what is not recognised yet is a warning', () => {
  expect(unrecognised(PAGES)).toEqual(['The text of pages that are pictures is not recognised: ii, iii.']);
  expect(unrecognised(PAGES.slice(0, 1))).toEqual([]);
});
