import { expect, test } from 'vitest';
import { reasonOf } from './errors.ts';

test('the message of a fault in a program is not shown to people', () => {
  for (const message of [
    'Cannot read properties of undefined',
    'x is not a function',
    'Invalid array length',
  ]) {
    expect(reasonOf(new TypeError(message))).toBe('its parts do not fit together');
  }
  expect(reasonOf(new Error('cannot read null'))).toBe('its parts do not fit together');
  expect(reasonOf(new Error(''))).toBe('its parts do not fit together');
  expect(reasonOf(new Error('The cross-reference table is missing.\n  at x'))).toBe(
    'The cross-reference table is missing',
  );
});
