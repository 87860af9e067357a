import { expect, test } from 'vitest';
import { textMarks } from './text-marks.ts';

test.each([
  [
    'Tesla earned $1.100 in 2031.',
    ['1.100', '2031', 'Tesla'],
    ['', 'Tesla', ' earned $', '1.100', ' in ', '2031', '.'],
  ],
  ['Ann met Anna.', ['Ann'], ['', 'Ann', ' met Anna.']],
  ['特斯拉在哪里', ['特斯拉'], ['', '特斯拉', '在哪里']],
  ['A-1 (b) [c] x^2', ['A-1', '(b)', '[c]', 'x^2'], ['', 'A-1', ' ', '(b)', ' ', '[c]', ' ', 'x^2', '']],
  ['May and 1 May 2031', ['1 May 2031', 'May'], ['', 'May', ' and ', '1 May 2031', '']],
  ['none', [], ['none']],
])('%j', (text, words, pieces) => {
  expect(textMarks(text, words)).toEqual(pieces);
});
