import { expect, test } from 'vitest';
import { rollingHashes } from './rolling-hash.ts';

const TEXT = Int32Array.from({ length: 300 }, (_, i) => (i * 7919 + i * i) % 5000);

test('equal windows have equal hashes, wherever they stand; others differ', () => {
  const shifted = Int32Array.of(9, 8, 7, ...TEXT);
  const hashes = rollingHashes(TEXT, 12);
  expect(hashes).toHaveLength(289);
  expect(rollingHashes(shifted, 12).slice(3)).toEqual(hashes);
  expect(new Set(hashes).size).toBe(289);
});

test('one window is hashed as it would be alone', () => {
  expect(rollingHashes(TEXT, 20)[37]).toBe(rollingHashes(TEXT.slice(37, 57), 20)[0]);
});

test('there are none where the text is shorter than a window', () => {
  expect(rollingHashes(TEXT.slice(0, 11), 12)).toHaveLength(0);
  expect(rollingHashes(new Int32Array(0), 12)).toHaveLength(0);
});
