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
  expect(localHosts('127.0.0.1', 80)).toEqual(['127.0.0.1:80', 'localhost:80']);
  expect(localHosts('::1', 80)).toEqual(['[::1]:80', 'localhost:80']);
  expect(localHosts('localhost', 80)).toEqual(['127.0.0.1:80', '[::1]:80', 'localhost:80']);
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
