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

test('a port in use is refused with advice, and is free once its server has ended', async () => {
  const one = await listen(PLACE);
  const place = { ...PLACE, port: one.port };
  await expect(listen(place)).rejects.toMatchObject({ code: 'BAD_ARGUMENT', advice: 'Take another.' });
  await one.close();
  await (await listen(place)).close();
});
