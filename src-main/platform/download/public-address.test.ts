import { expect, test } from 'vitest';
import { isPublicAddress, publicConnection } from './public-address.ts';

/** Resolves no name: literal addresses need no resolver. */
const connect = publicConnection({ resolve: () => Promise.reject(new Error('ENOTFOUND')), env: {} });

test.each([
  'http://127.0.0.1/',
  'http://127.255.255.254/',
  'http://127.1/',
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://0/',
  'http://0.0.0.0:8080/',
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://169.254.169.254/latest/meta-data/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.0.0.8/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://192.168.1.1/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://198.51.100.7/',
  'http://203.0.113.7/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:c0a8:101]/',
  'http://[::ffff:0:7f00:1]/',
  'http://[64:ff9b::a00:1]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b:1::808:808]/',
  'http://[100::1]/',
  'http://[2001::1]/',
  'http://[2001:1ff::1]/',
  'http://[2001:db8::1]/',
  'http://[2002:7f00:1::1]/',
  'http://[2002:808:808::1]/',
  'http://[3fff::1]/',
  'http://[4000::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
])('%s is not on the internet', async (url) => {
  await expect(connect(new URL(url))).rejects.toMatchObject({ code: 'PAGE_PRIVATE' });
});

test.each([
  'http://1.1.1.1/',
  'http://8.8.8.8/',
  'http://100.63.255.255/',
  'http://100.128.0.1/',
  'http://172.15.255.255/',
  'http://172.32.0.1/',
  'http://192.0.1.1/',
  'http://198.20.0.1/',
  'http://223.255.255.255/',
  'http://[2001:200::1]/',
  'http://[2606:4700:4700::1111]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[64:ff9b::808:808]/',
])('%s is', async (url) => {
  await expect(connect(new URL(url))).resolves.toHaveProperty('agent');
});

test('what is not an address is not public', () => {
  expect(['', 'localhost', '1.2.3', 'fe80::1%eth0', '1.1.1.1/8'].filter(isPublicAddress)).toEqual([]);
});

test.each([
  [['93.184.216.34', '10.0.0.1']],
  [['127.0.0.1']],
  [['::1']],
  [['2606:4700:4700::1111', 'fd00::1']],
])('a host with one private address among %j is refused', async (addresses) => {
  const resolve = async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const rejected = publicConnection({ resolve, env: {} })(new URL('http://example.com/'));
  await expect(rejected).rejects.toMatchObject({
    code: 'PAGE_PRIVATE',
    message: expect.stringContaining('example.com') as string,
  });
});

test('the connection is to the addresses that were checked, whatever the name means later', async () => {
  let asked = 0;
  const resolve = async () => [{ address: asked++ === 0 ? '93.184.216.34' : '127.0.0.1', family: 4 }];
  const { lookup } = await publicConnection({ resolve, env: {} })(new URL('http://example.com/'));
  const addresses: unknown[] = [];
  lookup?.('example.com', { all: true }, (_, found) => addresses.push(found));
  lookup?.('example.com', {}, (_, found) => addresses.push(found));
  expect([asked, addresses]).toEqual([1, [[{ address: '93.184.216.34', family: 4 }], '93.184.216.34']]);
});

test('with a proxy, local names and names that are private here are refused, and unknown ones left to it', async () => {
  const env = { HTTPS_PROXY: 'http://proxy.corp:3128', NO_PROXY: '.corp' };
  const known: Record<string, string> = { 'wiki.example': '10.1.2.3', 'example.com': '93.184.216.34' };
  const through = publicConnection({
    env,
    resolve: async (host) => {
      const address = known[host];
      if (address === undefined) throw new Error('ENOTFOUND');
      return [{ address, family: 4 }];
    },
  });
  for (const host of ['localhost', 'intranet', 'nas.local', 'git.internal', 'wiki.example', '127.0.0.1'])
    await expect(through(new URL(`https://${host}/`))).rejects.toMatchObject({ code: 'PAGE_PRIVATE' });
  for (const host of ['example.com', 'not-known-here.org']) {
    const options = await through(new URL(`https://${host}/`));
    expect(options.lookup).toBeUndefined();
  }
});
