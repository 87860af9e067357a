import { expect, test } from 'vitest';
import { askAddress, askedScope } from './ask-address.ts';

test('an address keeps what is to be asked about', () => {
  const scope = { documentIds: ['7', 'a&b=c'], libraryIds: ['2'] };
  expect(askedScope(askAddress(scope).split('?')[1] ?? '')).toEqual(scope);
});

test('another address asks about nothing', () => {
  expect(askedScope('')).toBeUndefined();
  expect(askedScope('start=1&end=2')).toBeUndefined();
});
