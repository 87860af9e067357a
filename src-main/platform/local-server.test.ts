import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { endServer, isLoopback, listen, localHosts, portOf } from './local-server.ts';

test('a server on this machine alone is called by its address, or localhost', () => {
  expect(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '10.0.0.5'].map(isLoopback)).toEqual([
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
