import { expect, test } from 'vitest';
import { compareWords } from './words.ts';

test('words are counted as often as they occur, however lines and hyphens divide them', () => {
  const scores = compareWords('The har-\nbour is well-known. Tug', 'the harbour is well-\nknown: the ﬁsh');
  expect(scores).toEqual({ recall: 4 / 6, precision: 4 / 5, missing: ['fish', 'the'], extra: ['tug'] });
});

test('scripts without spaces are compared by character', () => {
  expect(compareWords('港口很深', '港 口 深')).toMatchObject({ recall: 1, precision: 3 / 4 });
});

test('a reference without words says nothing', () => {
  expect(compareWords('x', '–')).toBeUndefined();
});
