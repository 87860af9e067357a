/** Runs faults of `npm run faults` with real processes. A failure shows the output. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeDir, tempDir } from './cli-support.ts';
import { FULL } from './support/full.ts';
import { readyData } from './support/ready-data.ts';

/** A kill, a damaged file, a full disk and a crafted file. */
const SHORT = ['killed at work', 'damaged database', 'full disk', 'forged backup'];

const FAULTS = join(import.meta.dirname, '..', 'tools', 'faults', 'faults.ts');

let dir: string;
/** Saves each run the sample library's KV and a calibration. */
let from: string[];
beforeAll(async () => {
  dir = tempDir();
  from = ['--from', await readyData(join(dir, 'data'))];
});
afterAll(() => removeDir(dir));

test('no fault loses data', () => {
  const only = FULL ? [] : ['--only', SHORT.join()];
  const run = spawnSync(process.execPath, [FAULTS, ...from, '--rounds', '1', ...only], { encoding: 'utf8' });
  expect(run.status, run.stdout + run.stderr).toBe(0);
});

test.runIf(process.platform === 'linux')('no failing write loses data or changes an answer', () => {
  const rounds = String(FULL ? 50 : 3);
  const run = spawnSync(process.execPath, [FAULTS, ...from, '--seed', '1', '--rounds', rounds], {
    encoding: 'utf8',
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  expect(run.stderr.match(/^\d+ \w+ \w+ \d+: \w+ /gm)).toHaveLength(Number(rounds));
});
