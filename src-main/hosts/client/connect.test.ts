import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import { createApi } from '../../api/api.ts';
import { silentLogger } from '../../platform/logger.ts';
import { tempDir } from '../../testing/store.ts';
import { ContractSocket } from '../window/contract-socket.ts';
import { connectOwner } from './connect.ts';
import { GuestHost } from './guest-host.ts';
import { ownerFailure, socketPlaces, writeHostFile } from './host-file.ts';

const VERSION = '0.0.0';

/**
 * A data folder whose owner accepts connections, as the kernel does for a suspended process, and sends the test's
 * messages.
 */
async function owner(onConnection: (socket: Socket) => void): Promise<{ data: string; server: Server }> {
  const data = tempDir();
  const server = createServer((socket) => onConnection(socket.on('error', () => undefined)));
  const [socket = ''] = socketPlaces(data);
  server.listen(socket);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  writeHostFile(data, { program: VERSION, pid: process.pid, socket, token: 'a token' });
  return { data, server };
}

/** An owner with one procedure, which sends an event, and takes `ms` milliseconds. */
async function servingOwner(ms = 0): Promise<{ data: string; host: GuestHost }> {
  const data = tempDir();
  const host = await GuestHost.open(data, {
    version: VERSION,
    log: silentLogger,
    serve: async (socket) => {
      const handlers = {
        'command.window': async () => {
          guest.tell({ topic: 'cache.changed', payload: {} });
          await new Promise((resolve) => setTimeout(resolve, ms));
          return { address: 'here' };
        },
        'command.close': () => undefined,
      };
      const guest = new ContractSocket(socket, createApi(handlers as never, silentLogger));
      await once(socket, 'close');
    },
  });
  if (!host) throw new Error('no socket');
  onTestFinished(() => host.close());
  return { data, host };
}

test('an owner that takes the connection and says nothing has not taken the command', async () => {
  const { data } = await owner(() => undefined);
  expect(await connectOwner(data, VERSION, { acceptedMs: 20 })).toBeUndefined();
});

test('Ctrl-C ends the waiting for an owner that says nothing', async () => {
  const { data, server } = await owner(() => undefined);
  const stop = new AbortController();
  const connected = connectOwner(data, VERSION, { signal: stop.signal });
  await once(server, 'connection');
  stop.abort();
  expect(await connected).toBeUndefined();
  expect(await connectOwner(data, VERSION, { signal: AbortSignal.abort() })).toBeUndefined();
});

test('a call that was accepted takes as long as it takes', async () => {
  const { data } = await servingOwner(600);
  const client = await connectOwner(data, VERSION, { acceptedMs: 500 });
  expect(await client?.call('command.window', { port: 0 })).toEqual({ address: 'here' });
  await client?.close();
});

test('failures keep their code', async () => {
  const { data } = await servingOwner();
  const client = await connectOwner(data, VERSION);
  await expect(client?.call('app.info')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await client?.close();
});

test('an owner that ends fails the calls, those after it, and the work', async () => {
  const { data, host } = await servingOwner(60_000);
  const client = await connectOwner(data, VERSION);
  const [call, work] = [
    client?.call('command.window', { port: 0 }),
    client?.use(() => new Promise(() => undefined)),
  ];
  const lost = { code: 'CONNECTION_LOST' };
  const failed = [call, work].map((each) => expect(each).rejects.toMatchObject(lost));
  await host.close();
  await Promise.all(failed);
  await expect(client?.call('command.window', { port: 0 })).rejects.toMatchObject(lost);
  expect(await connectOwner(data, VERSION)).toBeUndefined();
});

test('events reach the client before the result of the call that caused them', async () => {
  const { data } = await servingOwner();
  const client = await connectOwner(data, VERSION);
  let events = 0;
  client?.on('cache.changed', () => events++);
  await client?.call('command.window', { port: 0 });
  expect(events).toBe(1);
  await client?.close();
});

test('an owner of another version is not asked', async () => {
  const { data } = await servingOwner();
  expect(await connectOwner(data, '9.9.9')).toBeUndefined();
});

test('why nobody takes a command is said by what is known of the owner', async () => {
  const { data } = await owner(() => undefined);
  const failure = new KvasirError('STORE_IN_USE', 'It is in use.', 'Close it.');
  const silent = ownerFailure(data, VERSION, failure);
  expect([silent.code, silent.message]).toEqual([
    'STORE_IN_USE',
    `Kvasir (process ${process.pid}) has the data folder ${data} open, but does not answer.`,
  ]);
  expect(ownerFailure(data, '9.9.9', failure).message).toContain(`version ${VERSION}`);
  writeHostFile(data, { program: VERSION, pid: 2 ** 30, socket: '', token: '' });
  expect(ownerFailure(data, VERSION, failure)).toBe(failure);
  expect(ownerFailure(tempDir(), VERSION, failure)).toBe(failure);
});

test.skipIf(process.platform === 'win32')(
  'an owner that cannot announce its socket leaves none behind',
  async () => {
    const temporary = tempDir();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const options = { version: VERSION, log: silentLogger, serve: () => Promise.resolve() };
    expect(await GuestHost.open(join(temporary, 'gone'), options)).toBeUndefined();
    expect(readdirSync(temporary)).toEqual([]);
  },
);
