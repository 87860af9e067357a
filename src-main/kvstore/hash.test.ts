import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chunkKey, keyOf, kindOf, prefixHash, prefixKey } from './hash.ts';

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

// Known from another implementation (UCM#867), which served entries of one space in the other.
test('a prefix block and a chunk of the same tokens after the same tokens never share a key', () => {
  const id = {
    fingerprint: 'f',
    prefix: Int32Array.of(1),
    dtype: 'f16',
    tokens: Int32Array.of(1, 2),
  } as const;
  const keys = { chunk: chunkKey(id), prefix: prefixKey({ ...id, root: prefixHash(id.prefix) }) };
  expect(keys.chunk).not.toBe(keys.prefix);
  const header = { ...id, prefixHash: prefixHash(id.prefix) };
  expect(kindOf(header, keys.chunk)).toBe('chunk');
  expect(kindOf(header, keys.prefix)).toBe('prefix');
  expect(kindOf({ ...header, prefixHash: prefixHash(Int32Array.of(2)) }, keys.chunk)).toBeUndefined();
});

test('a lead starts where the prefix ends', () => {
  const id = { fingerprint: 'ab'.repeat(32), dtype: 'f16', tokens: Int32Array.of(10) } as const;
  const led = chunkKey({ ...id, prefix: Int32Array.of(1), lead: Int32Array.of(2, 3) });
  expect(led).toBe(chunkKey({ ...id, prefix: Int32Array.of(1, 2, 3) }));
  expect(led).not.toBe(chunkKey({ ...id, prefix: Int32Array.of(1) }));
});

test('the example of docs/formats/store.md', () => {
  const id = {
    fingerprint: 'ab'.repeat(32),
    prefix: Int32Array.of(1),
    dtype: 'f16',
    tokens: Int32Array.of(10, 11, 12),
  } as const;
  const hash = '67abdd721024f0ff4e0b3f4c2fc13bc5bad42d0b7851d456d88d203d15aaa450';
  const key = 'c6c56de36c066cec481294d1d47f7cf479050d3324e126fc51843bdd27c1a7a4';
  expect(prefixHash(id.prefix)).toBe(hash);
  expect(chunkKey(id)).toBe(key);
  expect(keyOf({ ...id, prefixHash: hash })).toBe(key);
  const page = readFileSync(new URL('../../docs/formats/store.md', import.meta.url), 'utf8');
  expect(page).toContain(hash);
  expect(page).toContain(key);
});
