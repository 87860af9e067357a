import { expect, test } from 'vitest';
import { reachOf } from './reach.ts';

test.each([
  ['here', ['localhost', 'LOCALHOST.', 'me.localhost', '127.0.0.1', '127.8.9.1', '[::1]', '[::ffff:7f00:1]']],
  [
    'network',
    [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.9',
      '169.254.1.1',
      '100.64.0.1',
      '0.0.0.0',
      'gpu',
    ],
  ],
  ['network', ['gpu.local', 'gpu.lan', 'nas.home.arpa', '[fe80::1]', '[fd12:3456::1]', '[::ffff:c0a8:1]']],
  [
    'internet',
    [
      '8.8.8.8',
      '172.32.0.1',
      '100.128.0.1',
      'api.example.com',
      'localhost.example.com',
      '127.example.com',
      '[2001:db8::1]',
    ],
  ],
] as const)('%s: %j', (reach, hosts) => {
  expect(hosts.map(reachOf)).toEqual(hosts.map(() => reach));
});
