/** Runs each fault of `npm run faults` once, with real processes. A failure shows the table. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('no fault loses data', () => {
  const faults = join(import.meta.dirname, '..', 'tools', 'faults', 'faults.ts');
  const run = spawnSync(process.execPath, [faults, '--rounds', '1'], { encoding: 'utf8' });
  expect(run.status, run.stdout + run.stderr).toBe(0);
});
