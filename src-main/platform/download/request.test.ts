import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import { transfer } from './transfer.ts';

const BODY = Buffer.alloc(6_000_000, 'kvasir');
const HEAD = `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** A raw TCP server that sends each connection the test's text; returns its URL. */
async function peer(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => speak(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny.gguf`;
}

/** One attempt, by a reader that is slower than the network, as with a busy disk. */
async function attempt(url: string): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-request-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const part = join(dir, 'tiny.part');
  await transfer({
    url,
    part,
    known: { bytesTotal: 0, validator: '' },
    checksummed: false,
    onRemote: async () => undefined,
    onBytes: () => wait(1),
    stallMs: 30_000,
    signal: new AbortController().signal,
  });
  return readFileSync(part);
}

describe('whatever a peer does, the process goes on', () => {
  test('a server that closes the connection while the body still waits to be read', async () => {
    const url = await peer((socket) => void socket.end(Buffer.concat([Buffer.from(HEAD), BODY])));
    for (let round = 0; round < 4; round++) expect((await attempt(url)).equals(BODY)).toBe(true);
  });

  test('one that says no length, and ends the body by closing', async () => {
    const url = await peer(
      (socket) => void socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), BODY])),
    );
    expect((await attempt(url)).equals(BODY)).toBe(true);
  });

  test.each<[string, (socket: Socket) => void]>([
    [
      'cuts the body',
      (socket) => void socket.end(Buffer.concat([Buffer.from(HEAD), BODY.subarray(0, 100_000)])),
    ],
    ['resets in the body', (socket) => void socket.write(HEAD + 'kvasir', () => socket.resetAndDestroy())],
    ['resets before it answers', (socket) => void socket.resetAndDestroy()],
    ['closes before it answers', (socket) => void socket.end()],
    ['answers with garbage', (socket) => void socket.end('\0\x01\x02 no HTTP at all\r\n\r\n')],
    ['ends within the headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Len')],
    [
      'says two lengths',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    [
      'switches protocols',
      (socket) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    [
      'breaks off a chunk',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nab'),
    ],
    [
      'garbles a chunk',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n'),
    ],
    [
      'resets after a refusal',
      (socket) =>
        void socket.write('HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nab', () => socket.resetAndDestroy()),
    ],
  ])('a server that %s', async (_name, speak) => {
    const failed = await attempt(await peer(speak)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(KvasirError);
    expect(failed).toMatchObject({ code: 'DOWNLOAD_FAILED' });
    await wait(20); // for any later error
  });
});

/** Answers requests for every host of the internet. */
async function proxyOf(listener: RequestListener): Promise<void> {
  const proxy = createHttpServer(listener);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('http_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  vi.stubEnv('no_proxy', '');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    proxy.close();
  });
}

describe('a server on the internet that redirects', () => {
  const redirectTo = async (location: string): Promise<string[]> => {
    const asked: string[] = [];
    await proxyOf((request, response) => {
      asked.push(request.url ?? '');
      if (asked.length === 1) response.writeHead(302, { location }).end();
      else response.end('found');
    });
    return asked;
  };

  test.each(['10.0.0.1', '127.0.0.1', '[::1]', '169.254.169.254', 'localhost', 'router.lan'])(
    'to %s gets nothing from there',
    async (host) => {
      const asked = await redirectTo(`http://${host}/private`);
      await expect(attempt('http://files.example/tiny.gguf')).rejects.toMatchObject({
        code: 'DOWNLOAD_FAILED',
        message: expect.stringContaining('on this computer or a private network') as string,
      });
      expect(asked).toHaveLength(1);
    },
  );

  test('to another of the internet is followed', async () => {
    const asked = await redirectTo('http://9.9.9.9/tiny.gguf');
    expect(await attempt('http://files.example/tiny.gguf')).toEqual(Buffer.from('found'));
    expect(asked).toEqual(['http://files.example/tiny.gguf', 'http://9.9.9.9/tiny.gguf']);
  });
});

describe('a proxy that the environment names', () => {
  test('is asked for what is elsewhere, and not for what is on this machine', async () => {
    const proxied: string[] = [];
    await proxyOf((request, response) => {
      proxied.push(request.url ?? '');
      response.end('by the proxy');
    });
    expect(await attempt('http://files.example/tiny.gguf')).toEqual(Buffer.from('by the proxy'));
    const here = await peer((socket) => void socket.end(Buffer.concat([Buffer.from(HEAD), BODY])));
    expect(await attempt(here)).toEqual(BODY);
    expect(proxied).toEqual(['http://files.example/tiny.gguf']);
  });
});
