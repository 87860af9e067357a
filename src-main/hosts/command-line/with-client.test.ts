import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../platform/logger.ts';
import { tempDir } from '../../testing/store.ts';
import { connectOwner } from '../client/connect.ts';
import { GuestHost } from '../client/guest-host.ts';
import { terminalOn } from './terminal.ts';
import { seeOff } from './with-client.ts';

const VERSION = '0.0.0';

/** An owner that has finished its own work, and a command for it. */
async function setUp(sent: (signal: AbortSignal) => Promise<void>) {
  const data = tempDir();
  const host = await GuestHost.open(data, {
    version: VERSION,
    log: silentLogger,
    serve: async (socket) => {
      socket.on('message', () => socket.terminate());
      await once(socket, 'close');
    },
  });
  onTestFinished(() => host?.close());
  const stop = new AbortController();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const caller = { terminal: terminalOn(stdout, stderr, false), signal: stop.signal };
  const isAccepted = async (): Promise<boolean> => {
    const client = await connectOwner(data, VERSION);
    await client?.close().catch(() => undefined);
    return client !== undefined;
  };
  return { seeingOff: seeOff(host, { sent }, caller), isAccepted, stop };
}

test('while what was computed is on its way to the others, the commands of others are taken', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
  let asked = 0;
  const { seeingOff, isAccepted } = await setUp(async () => {
    asked++;
    await arrived;
  });
  await expect.poll(() => asked).toBe(1);
  expect(await isAccepted()).toBe(true);
  expect(await isAccepted()).toBe(true);
  arrive(undefined);
  await seeingOff;
  expect(await isAccepted()).toBe(false);
});

test('Ctrl-C ends the waiting for what is on its way', async () => {
  const { seeingOff, isAccepted, stop } = await setUp(
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  );
  stop.abort();
  await seeingOff;
  expect(await isAccepted()).toBe(false);
});
