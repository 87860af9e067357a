import { expect, test } from 'vitest';
import type { GgufInfo } from '../engine/engine.ts';
import { modelName } from './entry.ts';

test.each([
  [' Tiny 1B ', 'Tiny 1B'],
  ['Tiny\n\t1B\0', 'Tiny 1B'],
  ['x'.repeat(10_000), 'x'.repeat(200)],
  ['\n', 'file'],
])('a model that says it is %j is %j in lists', (name, shown) => {
  expect(modelName({ name: null, header: { name } as GgufInfo, path: '/models/file.GGUF' })).toBe(shown);
});
