import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TrialRequest } from './protocol.ts';
import { tryFileIn } from './try-file.ts';

const REQUEST: TrialRequest = {
  path: '/a.gguf',
  name: 'A',
  role: 'chat',
  threads: 1,
  device: 'cpu',
  packs: [],
};

/** Runs the trial in a process that runs `work` on its request. */
function trying(work: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-trial-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'worker.mjs');
  writeFileSync(path, `process.on('message', (request) => { ${work} });`);
  return tryFileIn(() => fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }))(REQUEST);
}

test('a file that computes passes, and is known to the process by what it was asked', async () => {
  const asked = JSON.stringify(REQUEST);
  await trying(
    `process.send({ failure: null }); if (JSON.stringify(request) !== '${asked}') process.abort()`,
  );
});

test('what goes wrong in there is told as it is', async () => {
  const failure = { code: 'MODEL_NUMBERS', message: 'No numbers.', advice: 'Download it again.' };
  const tried = trying(`process.send({ failure: ${JSON.stringify(failure)} })`);
  await expect(tried).rejects.toMatchObject(failure);
});

test.each([
  ['aborts', 'process.abort()', 'SIGABRT'],
  ['exits', 'process.exit(3)', 'exit code 3'],
])('a process that %s costs the trial, and says how it ended', async (_, work, how) => {
  const message = expect.stringMatching(
    `^A cannot be used: .*crashed during its test run \\(${how}\\)`,
  ) as string;
  await expect(trying(work)).rejects.toMatchObject({ code: 'MODEL_INVALID', message });
});
