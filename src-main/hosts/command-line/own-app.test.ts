import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../platform/logger.ts';
import { tempDir } from '../../testing/store.ts';
import { GuestHost } from '../guests/guest-host.ts';
import { handOver } from '../guests/hand-over.ts';
import { seeOff } from './own-app.ts';
import { terminalOn } from './terminal.ts';

const VERSION = '0.0.0';

/** An owner that has finished its own work, and a command for it. */
async function setUp(sent: (signal: AbortSignal) => Promise<void>) {
  const data = tempDir();
  let ran = 0;
  const run = (): Promise<number> => Promise.resolve(ran++);
  const host = await GuestHost.open(data, { version: VERSION, log: silentLogger, run });
  onTestFinished(() => host?.close());
  const stop = new AbortController();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const asker = { terminal: terminalOn(stdout, stderr, false), signal: stop.signal };
  const command = { argv: ['node', 'kvasir'], cwd: '/', color: false, display: false };
  const guest = (): Promise<number | undefined> =>
    handOver(data, VERSION, {
      ...{ ...command, stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() },
      signal: new AbortController().signal,
    });
  return { seeingOff: seeOff(host, { sent }, asker), guest, stop };
}

test('while what was computed is on its way to the others, the commands of others are taken', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
  let asked = 0;
  const { seeingOff, guest } = await setUp(async () => {
    asked++;
    await arrived;
  });
  await expect.poll(() => asked).toBe(1);
  expect(await guest()).toBe(0);
  expect(await guest()).toBe(1);
  arrive(undefined);
  await seeingOff;
  expect(await guest()).toBeUndefined();
});

test('Ctrl-C ends the waiting for what is on its way', async () => {
  const { seeingOff, guest, stop } = await setUp(
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  );
  stop.abort();
  await seeingOff;
  expect(await guest()).toBeUndefined();
});
