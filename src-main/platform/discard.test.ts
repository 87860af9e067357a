import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { discard } from './discard.ts';

test('removes a folder with its files, and does not fail for what cannot be removed', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'kvasir-discard-')), 'copies');
  mkdirSync(folder);
  const file = join(folder, 'copy');
  writeFileSync(file, '');
  await discard(join(file, 'below a file')); // ENOTDIR
  await discard(folder);
  expect(existsSync(folder)).toBe(false);
  await discard(folder);
});
