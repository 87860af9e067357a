import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { hostName, isLoopback, listen } from './listener.ts';

const echo = async (request: Request): Promise<Response> => new Response(await request.text());
const PLACE = { fetch: echo, host: '127.0.0.1', port: 0, advice: 'Take another.' };

test('a server on this machine alone is called by its address, or localhost', () => {
  expect(['127.0.0.1', '::1', 'LOCALHOST', '0.0.0.0', '10.0.0.5'].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test.each([
  ['LOCALHOST:4000', 'localhost'],
  ['localhost.', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]:81', '[::1]'],
  ['127.0.0.1.evil.example:81', '127.0.0.1.evil.example'],
  ['', ''],
])('%s names %s', (header, name) => {
  expect(hostName(header)).toBe(name);
});

test('a request whose headers or body stop arriving loses its connection, one that arrives does not', async () => {
  const server = await listen({ ...PLACE, patienceMs: 200 });
  onTestFinished(() => server.close());
  const closed = (text: string): Promise<unknown> => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    return once(
      socket.resume().on('error', () => undefined),
      'close',
    );
  };
  await closed('POST / HTTP/1.1\r\nHost: x\r\n');
  await closed('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
  const slow = connect(server.port, '127.0.0.1');
  slow.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
  for (const letter of 'slowly'.slice(0, 5)) {
    await sleep(100);
    slow.write(letter);
  }
  const [answer] = (await once(slow.setEncoding('utf8'), 'data')) as [string];
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(Number(/keep-alive: timeout=(\d+)/i.exec(answer)?.[1])).toBeGreaterThanOrEqual(65);
  slow.destroy();
});

test('a response that waits for the one before it has no interim response among its bytes', async () => {
  let answerFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => (answerFirst = resolve));
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') await first;
    return new Response(new Uint8Array(await request.arrayBuffer()));
  };
  const server = await listen({ ...PLACE, fetch });
  onTestFinished(() => server.close());
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  const put = 'PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n';
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${put}\r\nGGUF`);
  await sleep(50);
  answerFirst();
  let text = '';
  socket.on('data', (part: string) => (text += part));
  await expect.poll(() => text.match(/^HTTP\/1.1 200 /gm)).toHaveLength(2);
  expect(text.slice(text.lastIndexOf(' 200 '))).not.toContain('100 Continue');
  const alone = connect(server.port, '127.0.0.1').setEncoding('utf8');
  alone.write(`${put}\r\n`);
  expect(await once(alone, 'data')).toEqual(['HTTP/1.1 100 Continue\r\n\r\n']);
  alone.destroy();
  socket.destroy();
});

test('a port in use is refused with advice, and is free once its server has ended', async () => {
  const one = await listen(PLACE);
  const place = { ...PLACE, port: one.port };
  await expect(listen(place)).rejects.toMatchObject({ code: 'BAD_ARGUMENT', advice: 'Take another.' });
  await one.close();
  await (await listen(place)).close();
});
