import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../testing/store.ts';
import { handOver, type ForwardedCommand } from './hand-over.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
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

function command(signal = new AbortController().signal): ForwardedCommand {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return { argv: ['node', 'kvasir'], cwd: '/', color: false, display: false, stdin, stdout, stderr, signal };
}

test('an owner that takes the connection and says nothing has not taken the command', async () => {
  const { data } = await owner(() => undefined);
  expect(await handOver(data, VERSION, command(), 20)).toBeUndefined();
});

test('Ctrl-C ends the waiting for an owner that says nothing', async () => {
  const { data, server } = await owner(() => undefined);
  const stop = new AbortController();
  const handed = handOver(data, VERSION, command(stop.signal));
  await once(server, 'connection');
  stop.abort();
  expect(await handed).toBeUndefined();
  expect(await handOver(data, VERSION, command(AbortSignal.abort()))).toBeUndefined();
});

test('a command that was accepted takes as long as it takes', async () => {
  const { data } = await owner((socket) => {
    socket.write(`${JSON.stringify({ type: 'accepted' })}\n`);
    setTimeout(() => socket.end(`${JSON.stringify({ type: 'exit', code: 3 })}\n`), 600);
  });
  expect(await handOver(data, VERSION, command(), 500)).toBe(3);
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
