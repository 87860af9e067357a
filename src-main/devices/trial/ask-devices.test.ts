import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askDevicesIn, type AskDevices } from './ask-devices.ts';

const REQUEST = { ask: 'try', pack: '/packs/a.so', device: 'Vulkan0', model: '/demo.gguf' } as const;
const never = new AbortController().signal;

/** Starts a process that runs `work` on its request. */
function asking(work: string, limitMs?: number): AskDevices {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-devices-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'worker.mjs');
  writeFileSync(path, `process.on('message', (request) => { ${work} });`);
  return askDevicesIn(
    () => fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    limitMs,
  );
}

test('the reply is what the process found out', async () => {
  const ask = asking(`process.send({ devices: [{ name: request.device, description: request.pack }] })`);
  expect(await ask(REQUEST, never)).toEqual({ devices: [{ name: 'Vulkan0', description: '/packs/a.so' }] });
});

test('what goes wrong in there is told as it is', async () => {
  const failure = { code: 'DEVICE_FAILED', message: 'No driver.', advice: 'Install it.' };
  const asked = asking(`process.send({ failure: ${JSON.stringify(failure)} })`)(REQUEST, never);
  await expect(asked).rejects.toMatchObject(failure);
});

test.each([
  ['aborts', 'process.abort()', 'SIGABRT'],
  ['exits', 'process.exit(3)', 'exit code 3'],
])('a process that %s says how it ended', async (_, work, how) => {
  const message = expect.stringContaining(`The test process of Vulkan0 crashed (${how})`) as string;
  await expect(asking(work)(REQUEST, never)).rejects.toMatchObject({ code: 'DEVICE_FAILED', message });
});

test('a process that hangs is ended', async () => {
  const asked = asking('setInterval(() => {}, 1000)', 200)(REQUEST, never);
  const message = expect.stringContaining('no result after 0.2 seconds') as string;
  await expect(asked).rejects.toMatchObject({ code: 'DEVICE_FAILED', message });
});

test('a question that comes in stops it', async () => {
  const controller = new AbortController();
  const asked = asking('setInterval(() => {}, 1000)')(REQUEST, controller.signal);
  controller.abort();
  await expect(asked).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(asking('process.abort()')(REQUEST, controller.signal)).rejects.toMatchObject({
    code: 'ABORTED',
  });
});
