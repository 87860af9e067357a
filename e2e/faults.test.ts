/** Runs faults of `npm run faults` once each, with real processes. A failure shows the table. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from './support/full.ts';

/** One fault of each kind: a kill, a damaged file, a changed file, a full disk, a crafted file, a forged request. */
const SHORT = [
  'killed at work',
  'damaged database',
  'swapped file',
  'full disk',
  'forged backup',
  'stolen cookie',
];

test('no fault loses data', () => {
  const faults = join(import.meta.dirname, '..', 'tools', 'faults', 'faults.ts');
  const only = FULL ? [] : ['--only', SHORT.join()];
  const run = spawnSync(process.execPath, [faults, '--rounds', '1', ...only], { encoding: 'utf8' });
  expect(run.status, run.stdout + run.stderr).toBe(0);
});
