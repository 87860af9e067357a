import { describe, expect, test } from 'vitest';
import { editDistance, mayBeMisspelt } from './edit-distance.ts';

describe('letters that differ', () => {
  test.each([
    ['kernel', 'kernel', 0],
    ['kernal', 'kernel', 1],
    ['kernle', 'kernel', 1],
    ['kerel', 'kernel', 1],
    ['kernnel', 'kernel', 1],
    ['maintainance', 'maintenance', 2],
    ['reveiw', 'revise', 3],
    ['dog', 'elephant', 3],
  ])('%s → %s: %i', (from, to, edits) => {
    expect(editDistance(from, to, 2)).toBe(edits);
    expect(editDistance(to, from, 2)).toBe(edits);
  });
});

test.each([
  ['kernal', true],
  ['größse', true],
  ['cart', false],
  ['2031a', false],
  ['gcc12x', false],
  ['合同条款编号', false],
])('whether %s may be misspelt: %s', (word, expected) => {
  expect(mayBeMisspelt(word)).toBe(expected);
});
