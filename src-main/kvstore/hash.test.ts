import { expect, test } from 'vitest';
import { chunkKey } from './hash.ts';

test('the key depends on model, prefix, dtype and tokens, and on where one field ends', () => {
  const base = {
    fingerprint: 'f',
    prefix: Int32Array.of(1),
    dtype: 'f16',
    tokens: Int32Array.of(1, 2),
  } as const;
  const variants = [
    base,
    { ...base, fingerprint: 'g' },
    { ...base, prefix: Int32Array.of() },
    { ...base, prefix: Int32Array.of(2) },
    { ...base, dtype: 'q8_0' as const },
    { ...base, tokens: Int32Array.of(2, 1) },
    { ...base, tokens: Int32Array.of(1, 2, 0) },
    { ...base, prefix: Int32Array.of(1, 1), tokens: Int32Array.of(2) },
    { ...base, fingerprint: 'ff' },
  ];
  expect(new Set(variants.map(chunkKey)).size).toBe(variants.length);
});
