import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { Connect } from '../../platform/download/request.ts';
import { publicConnection } from '../../platform/download/public-address.ts';
import { fetchPage, type FetchLimits } from './fetch-page.ts';

/** Takes every host for this machine's server, as an address of the internet, but for `private.example`. */
const HERE = publicConnection({
  env: {},
  resolve: async (host) => [{ address: host === 'private.example' ? '10.0.0.1' : '127.0.0.1', family: 4 }],
  isPublic: (address) => address === '127.0.0.1',
});

/** Answers with `listener`; returns the port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function fetched(
  path: string,
  listener: RequestListener,
  { limits, connect = HERE }: { limits?: Partial<FetchLimits>; connect?: Connect } = {},
): Promise<{ text: string; format: string }> {
  const port = await serve(listener);
  const { bytes, format } = await fetchPage(`http://page.example:${port}${path}`, undefined, connect, limits);
  return { text: bytes.toString(), format };
}

const page =
  (
    body: string | Buffer,
    headers: Record<string, string> = { 'content-type': 'text/html' },
  ): RequestListener =>
  (_, response) =>
    void response.writeHead(200, headers).end(body);

test('a request says what is asked for, and nothing about who asks', async () => {
  let headers: http.IncomingHttpHeaders = {};
  const answer = await fetched('/a', (request, response) => {
    headers = request.headers;
    page('<p>words')(request, response);
  });
  expect(answer).toEqual({ text: '<p>words', format: 'html' });
  expect(Object.keys(headers).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
  expect(headers['accept-encoding']).toBe('identity');
});

test.each([
  ['/a', 'application/pdf', 'pdf'],
  ['/a', 'application/xhtml+xml; charset=utf-8', 'xhtml'],
  ['/a', 'text/plain', 'txt'],
  ['/notes.md', 'text/plain; charset=utf-8', 'md'],
  ['/table.csv?x=1', 'application/octet-stream', 'csv'],
  ['/a', 'application/json', 'json'],
  ['/a.php', 'TEXT/HTML;charset=UTF-8', 'html'],
  ['/a', '', 'html'],
])('%s of the type %j is read as %3$s', async (path, type, format) => {
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
  expect(await fetched(path, page('words', headers))).toEqual({ text: 'words', format });
});

test.each(['image/png', 'video/mp4', 'application/zip', 'application/octet-stream'])(
  'a page of the type %s is refused',
  async (type) => {
    const answer = fetched('/a', page('words', { 'content-type': type }));
    await expect(answer).rejects.toMatchObject({ code: 'PAGE_UNSUPPORTED' });
  },
);

test('the encoding that only the response names is kept', async () => {
  const gbk = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]);
  const { text } = await fetched('/a', page(gbk, { 'content-type': 'text/html; charset="GBK"' }));
  expect(text).toBe('\ufeff你好');
  const same = await fetched('/a', page('ä', { 'content-type': 'text/html; charset=iso-8859-1' }));
  expect(same.text).toBe('ä');
});

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
])('a body that is compressed all the same is read: %s', async (encoding, compress) => {
  const headers = { 'content-type': 'text/html', 'content-encoding': encoding };
  expect((await fetched('/a', page(compress('words'), headers))).text).toBe('words');
});

test('a small body that becomes a large one is refused, and so is one without end', async () => {
  const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
  const limits = { maxBytes: 100_000 };
  const bomb = fetched('/a', page(gzipSync(Buffer.alloc(10_000_000)), headers), { limits });
  await expect(bomb).rejects.toMatchObject({ code: 'DOCUMENT_TOO_LARGE' });
  const endless = fetched(
    '/a',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void =>
        void (response.destroyed || response.write(Buffer.alloc(50_000), () => setImmediate(more)));
      more();
    },
    { limits },
  );
  await expect(endless).rejects.toMatchObject({ code: 'DOCUMENT_TOO_LARGE' });
});

test.each(['http://private.example/', 'http://10.0.0.1/', 'http://[::1]/'])(
  'a redirect to a private address is not followed: %s',
  async (location) => {
    const answer = fetched('/a', (_, response) => void response.writeHead(302, { location }).end());
    await expect(answer).rejects.toMatchObject({ code: 'PAGE_PRIVATE' });
  },
);

test('a name that becomes private between two requests is refused at the second', async () => {
  const addresses = ['127.0.0.1', '10.0.0.1'];
  const connect = publicConnection({
    env: {},
    resolve: async () => [{ address: addresses.shift() ?? '', family: 4 }],
    isPublic: (address) => address === '127.0.0.1',
  });
  const answer = fetched('/a', (_, response) => void response.writeHead(302, { location: '/b' }).end(), {
    connect,
  });
  await expect(answer).rejects.toMatchObject({ code: 'PAGE_PRIVATE' });
});

test('without the exception of these tests, nothing connects to this machine', async () => {
  let requests = 0;
  const port = await serve((_, response) => {
    requests++;
    response.end();
  });
  for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1'])
    await expect(fetchPage(`http://${host}:${port}/`)).rejects.toMatchObject({ code: 'PAGE_PRIVATE' });
  expect(requests).toBe(0);
});

test.each<[string, RequestListener, RegExp]>([
  ['a refusal', (_, response) => void response.writeHead(401).end(), /status 401/],
  ['a missing page', (_, response) => void response.writeHead(404).end('<p>words'), /status 404/],
  ['a failure', (_, response) => void response.writeHead(503).end(), /status 503/],
  ['a part nobody asked for', (_, response) => void response.writeHead(206).end('words'), /status 206/],
  [
    'redirects without end',
    (_, response) => void response.writeHead(302, { location: '/' }).end(),
    /redirect/,
  ],
  [
    'a redirect to a file',
    (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    /web address/,
  ],
  [
    'a cut body',
    (_, response) =>
      void response.writeHead(200, { 'content-length': '99' }).write('x', () => response.destroy()),
    /lost/,
  ],
  ['a closed connection', (request) => void request.socket.destroy(), /could not be reached/],
  [
    'an unknown compression',
    (_, response) => void response.writeHead(200, { 'content-encoding': 'magic' }).end('x'),
    /magic/,
  ],
])('%s is told', async (_, listener, message) => {
  await expect(fetched('/', listener)).rejects.toMatchObject({
    code: 'PAGE_UNREACHABLE',
    message: expect.stringMatching(message) as string,
  });
});

test.each<[string, RequestListener, Partial<FetchLimits>]>([
  ['no answer', () => undefined, { answerMs: 50 }],
  ['a slow body', (_, response) => void response.writeHead(200).write('x'), { timeoutMs: 200 }],
])('%s ends by the time limit', async (_, listener, limits) => {
  await expect(fetched('/', listener, { limits })).rejects.toMatchObject({
    code: 'PAGE_UNREACHABLE',
    message: expect.stringMatching(/timed out/) as string,
  });
});

test('a caller who stops gets ABORTED', async () => {
  const stop = new AbortController();
  const port = await serve(() => stop.abort());
  const answer = fetchPage(`http://page.example:${port}/`, stop.signal, HERE);
  await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
});
