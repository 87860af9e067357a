/** Questions about a web page, through the real program. A proxy stands for the internet. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO_MODEL, expectFailure, removeDir, runCli, tempDir, type CliResult } from './cli-support.ts';

const ADDRESS = 'http://mill.example/rebuilt';
const asked: string[] = [];
const proxy = http.createServer((request, response) => {
  asked.push(request.url ?? '');
  response.setHeader('content-type', 'text/html');
  response.end(`<title>Mill</title><p>The mill at Orm has four wheels and a sluice.</p>
    <p>${'The sluice was rebuilt after the flood. '.repeat(8)}</p>`);
});
let dir: string;

beforeAll(async () => {
  dir = tempDir();
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  proxy.close();
  removeDir(dir);
});

function ask(...flags: string[]): Promise<CliResult> {
  const { port } = proxy.address() as AddressInfo;
  const env = { HTTP_PROXY: `http://127.0.0.1:${port}`, http_proxy: '', NO_PROXY: '', no_proxy: '' };
  const args = ['--model', DEMO_MODEL, '--max-tokens', '8', '--threads', '1', '--json', ...flags];
  return runCli(['ask', '--data', join(dir, 'data'), ...args, 'How many wheels has the mill?'], env);
}

test('a page is fetched once, and again with --refetch; its passages answer', async () => {
  for (const [flags, requests] of [
    [[], 1],
    [[], 1],
    [['--refetch'], 2],
  ] as const) {
    const { code, stdout, stderr } = await ask('--page', ADDRESS, ...flags);
    expect(code, stderr).toBe(0);
    const { sources } = JSON.parse(stdout) as { sources: { document: string }[] };
    expect(new Set(sources.map(({ document }) => document))).toEqual(new Set(['mill.example/rebuilt.html']));
    expect(asked).toHaveLength(requests);
  }
}, 180_000);

test.each([
  ['http://127.0.0.1:1/', 'PAGE_PRIVATE', 1],
  ['file:///etc/passwd', 'BAD_ARGUMENT', 2],
])(
  '%s is refused: %s',
  async (address, code, exitCode) => {
    expectFailure(await ask('--page', address), code, exitCode);
  },
  60_000,
);
