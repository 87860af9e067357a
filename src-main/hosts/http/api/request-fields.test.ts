import { expect, test } from 'vitest';
import { cutAt } from './request-fields.ts';

test('the text between two separators is a chunk', () => {
  expect(cutAt(' # # ', 'Answer from these. # # One. # # Two. # # Why?')).toEqual([
    { text: 'Answer from these.', cache: false },
    { text: 'One.', cache: true },
    { text: 'Two.', cache: true },
    { text: 'Why?', cache: false },
  ]);
  expect(cutAt('|', '|One.|')).toEqual([{ text: 'One.', cache: true }]);
  expect(cutAt('|', 'None of it.')).toEqual([{ text: 'None of it.', cache: false }]);
  expect(cutAt('|', 'One|Two')).toEqual([
    { text: 'One', cache: false },
    { text: 'Two', cache: false },
  ]);
});
