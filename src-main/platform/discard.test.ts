import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../testing/store.ts';
import { discard } from './discard.ts';

test('removes a folder with its files, and does not fail for what cannot be removed', async () => {
  const folder = join(tempDir(), 'copies');
  mkdirSync(folder);
  const file = join(folder, 'copy');
  writeFileSync(file, '');
  await discard(join(file, 'below a file')); // ENOTDIR
  await discard(folder);
  expect(existsSync(folder)).toBe(false);
  await discard(folder);
});
