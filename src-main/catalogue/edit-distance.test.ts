import { describe, expect, test } from 'vitest';
import { compareWords, mayBeMisspelt } from './edit-distance.ts';

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
    expect(compareWords(from, to, 2).edits).toBe(edits);
    expect(compareWords(to, from, 2).edits).toBe(edits);
  });

  test('the deciding prefix is where no continuation is near', () => {
    expect(compareWords('kernel', 'kingdom', 1).decidedBy).toBe('kin');
    expect(compareWords('kernel', 'kernelspace', 1)).toEqual({ edits: 2, decidedBy: 'kernelsp' });
    expect(compareWords('kernel', 'ker', 1)).toEqual({ edits: 2, decidedBy: 'ker' });
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
