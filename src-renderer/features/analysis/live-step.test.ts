import { expect, test } from 'vitest';
import { withPiece } from './live-step.ts';

const piece = (offset: number, text: string) => ({ stepId: '7', offset, text });

test('pieces follow one another', () => {
  expect(withPiece({ stepId: '7', text: 'One ' }, piece(4, 'two'), undefined)?.text).toBe('One two');
});

test('what the core knew goes before the first piece', () => {
  expect(withPiece(undefined, piece(4, 'two'), { id: '7', text: 'One ' })?.text).toBe('One two');
});

test('a piece that was there already is not taken twice', () => {
  expect(withPiece(undefined, piece(0, 'One two'), { id: '7', text: 'One ' })?.text).toBe('One two');
});

test('after a question in between it is written anew', () => {
  expect(withPiece({ stepId: '7', text: 'One two' }, piece(0, 'Three'), undefined)?.text).toBe('Three');
});

test('another step begins empty, and a gap is told', () => {
  expect(withPiece({ stepId: '6', text: 'Six' }, piece(0, 'A'), undefined)).toEqual({
    stepId: '7',
    text: 'A',
  });
  expect(withPiece({ stepId: '6', text: 'Six' }, piece(3, 'A'), undefined)).toBeUndefined();
});
