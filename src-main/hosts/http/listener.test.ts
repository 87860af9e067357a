import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  boundBody,
  endServer,
  hostName,
  httpOptions,
  isLoopback,
  listen,
  localHosts,
  portOf,
} from './listener.ts';

test('a server on this machine alone is called by its address, or localhost', () => {
  expect(['127.0.0.1', '::1', 'LOCALHOST', '0.0.0.0', '10.0.0.5'].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(localHosts('127.0.0.1', 81)).toEqual(['127.0.0.1:81', 'localhost:81']);
  expect(localHosts('::1', 81)).toEqual(['[::1]:81', 'localhost:81']);
  expect(localHosts('localhost', 81)).toEqual(['127.0.0.1:81', '[::1]:81', 'localhost:81']);
});

test('the port may be left out of its name where it is the one that its scheme has', () => {
  const [bare, full] = [
    ['127.0.0.1', 'localhost'],
    (port: number) => [`127.0.0.1:${port}`, `localhost:${port}`],
  ];
  expect(localHosts('127.0.0.1', 80)).toEqual([...bare, ...full(80)]);
  expect(localHosts('127.0.0.1', 443)).toEqual(full(443));
  expect(localHosts('127.0.0.1', 443, 'https')).toEqual([...bare, ...full(443)]);
  expect(localHosts('127.0.0.1', 80, 'https')).toEqual(full(80));
  expect(localHosts('::1', 80)).toEqual(['[::1]', 'localhost', '[::1]:80', 'localhost:80']);
});

test.each([
  ['LOCALHOST:4000', 'localhost'],
  ['localhost.', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]:81', '[::1]'],
  ['127.0.0.1.evil.example:81', '127.0.0.1.evil.example'],
  [undefined, ''],
])('%s names %s', (header, name) => {
  expect(hostName(header)).toBe(name);
});

test('a request whose headers or body stop arriving loses its connection, one that arrives does not', async () => {
  const patienceMs = 200;
  const server = createServer(httpOptions(patienceMs), (request, response) => {
    boundBody(request, response, patienceMs);
    request.resume().on('end', () => response.end('done'));
  });
  await listen(server, { host: '127.0.0.1', port: 0 }, '');
  onTestFinished(() => endServer(server));
  const closed = (text: string): Promise<unknown> => {
    const socket = connect(portOf(server), '127.0.0.1', () => socket.write(text));
    return once(
      socket.resume().on('error', () => undefined),
      'close',
    );
  };
  await closed('POST / HTTP/1.1\r\nHost: x\r\n');
  await closed('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf');
  const slow = connect(portOf(server), '127.0.0.1');
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

test('a port that is taken is told with advice, and free once its server has ended', async () => {
  const [one, other] = [createServer(), createServer()];
  await listen(one, { host: '127.0.0.1', port: 0 }, '');
  const place = { host: '127.0.0.1', port: portOf(one) };
  await expect(listen(other, place, 'Take another.')).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
    advice: 'Take another.',
  });
  await endServer(one);
  await listen(other, place, '');
  await endServer(other);
});
