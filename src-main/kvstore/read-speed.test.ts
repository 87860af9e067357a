import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measureReads } from './read-speed.ts';
import { tempDir } from '../testing/store.ts';

test('two sizes are read, and nothing is left', async () => {
  const dir = tempDir();
  const times = await measureReads(dir);
  expect(times.map(({ bytes }) => bytes)).toEqual([2 ** 16, 2 ** 22]);
  expect(times.every(({ ms }) => ms > 0)).toBe(true);
  expect(readdirSync(dir)).toEqual([]);
});

test('a folder that cannot be written is a failure', async () => {
  await expect(measureReads(`${tempDir()}/none`)).rejects.toMatchObject({ code: 'ENOENT' });
});
