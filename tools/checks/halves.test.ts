import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { coresOf } from './halves.ts';

/** All cores of this machine: tests are kept to a half of them. */
const ONLINE = '/sys/devices/system/cpu/online';
const ALL = existsSync(ONLINE) ? readFileSync(ONLINE, 'utf8').trim() : '';
const MODULE = JSON.stringify(new URL('./halves.ts', import.meta.url).href);

/** What code that imports halves.ts prints if it may use all cores. */
function runOnAll(code: string): unknown {
  const run = ['-c', ALL, process.execPath, '--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync('taskset', run, { encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout);
}

test("the kernel's list of cores is parsed", () => {
  expect(coresOf('0-1')).toEqual([0, 1]);
  expect(coresOf('3')).toEqual([3]);
  expect(coresOf('0-2,5,8-9')).toEqual([0, 1, 2, 5, 8, 9]);
  expect(coresOf('')).toEqual([]);
});

test.runIf(coresOf(ALL).length > 1)('the halves share no core', () => {
  const code = `import { halvesOfCores } from ${MODULE}; console.log(JSON.stringify(await halvesOfCores()))`;
  const [first, second] = runOnAll(code) as [string, string];
  const cores = [...coresOf(first), ...coresOf(second)];
  expect(new Set(cores).size).toBe(cores.length);
  expect(coresOf(first).length).toBeLessThanOrEqual(coresOf(second).length);
});

test.runIf(coresOf(ALL).length > 1)('a process keeps to a half, with its threads and what it starts', () => {
  const code = `
    import { execFileSync } from 'node:child_process';
    import { readdirSync, readFileSync } from 'node:fs';
    import { halvesOfCores, keepToHalf } from ${MODULE};
    const halves = await halvesOfCores();
    await keepToHalf(1);
    const tasks = readdirSync('/proc/self/task');
    const statuses = tasks.map((id) => readFileSync('/proc/self/task/' + id + '/status', 'utf8'));
    statuses.push(execFileSync('cat', ['/proc/self/status'], { encoding: 'utf8' }));
    const seen = statuses.map((status) => /^Cpus_allowed_list:\\s*(\\S+)$/m.exec(status)[1]);
    console.log(JSON.stringify({ half: halves[1], seen }));
  `;
  const { half, seen } = runOnAll(code) as { half: string; seen: string[] };
  expect(seen.length).toBeGreaterThan(2);
  for (const list of seen) expect(coresOf(list)).toEqual(coresOf(half));
});
