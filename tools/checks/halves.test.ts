import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { coresOf, halvesOfCores } from './halves.ts';

test("the kernel's list of cores is parsed", () => {
  expect(coresOf('0-1')).toEqual([0, 1]);
  expect(coresOf('3')).toEqual([3]);
  expect(coresOf('0-2,5,8-9')).toEqual([0, 1, 2, 5, 8, 9]);
  expect(coresOf('')).toEqual([]);
});

test('a program can be restricted to either half, and the halves share no core', async () => {
  const halves = await halvesOfCores();
  if (!halves) return;
  const seen = halves.flatMap((cores) => {
    const { stdout } = spawnSync('taskset', ['-c', cores, 'grep', 'Cpus_allowed_list', '/proc/self/status'], {
      encoding: 'utf8',
    });
    return coresOf(stdout.split(':')[1]?.trim() ?? '');
  });
  expect(seen).toEqual(halves.flatMap(coresOf));
  expect(new Set(seen).size).toBe(seen.length);
});
