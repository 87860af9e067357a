import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { DocumentViews } from '../../../library/document-views.ts';
import { SettingsSchema } from '../../../../src-shared/settings.ts';
import { MAX_MESSAGE_BYTES } from '../../window/contract-socket.ts';
import { sendTo, testServer, TestWindow } from './window.test-support.ts';

const settings = SettingsSchema.parse({});

describe('the one-time address', () => {
  test('lets one browser in, to the page and its files', async () => {
    const { server, send, base } = await testServer();
    const address = new URL(server.newAddress());
    expect(address.origin).toBe(`http://127.0.0.1:${server.port}`);
    expect(address.searchParams.get('token')).toMatch(/^[\w-]{43}$/);
    const entered = await send(address.pathname + address.search);
    expect([entered.status, entered.headers.location]).toEqual([303, base]);
    expect(base).toMatch(/^\/k\/[\w-]{43}\/$/);
    const cookie = entered.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/^kvasir-\d+=[\w-]{43}; Path=\/k\/[\w-]{43}\/; HttpOnly; SameSite=Strict$/);
    const headers = { Cookie: `other=1; ${cookie.split(';')[0] ?? ''}` };
    expect((await send('/', { headers })).body).toContain('app-1a2b.js');
    const script = await send('/assets/app-1a2b.js', { headers });
    expect(script.body).toBe('document.title = "window";');
    expect(script.headers['cache-control']).toContain('immutable');
    expect(script.headers['x-content-type-options']).toBe('nosniff');
  });

  test('works once', async () => {
    const { server, send } = await testServer();
    const { search } = new URL(server.newAddress());
    expect((await send(`/${search}`)).status).toBe(303);
    expect((await send(`/${search}`)).status).toBe(401);
  });

  test('is not used up by a link preview, which asks by HEAD', async () => {
    const { server, send } = await testServer();
    const { search } = new URL(server.newAddress());
    expect((await send(`/${search}`, { method: 'HEAD' })).status).toBe(401);
    expect((await send(`/${search}`)).status).toBe(303);
  });

  test('stays good while a few newer ones are made, and not for ever', async () => {
    const { server, send } = await testServer();
    const old = Array.from({ length: 6 }, () => `/${new URL(server.newAddress()).search}`);
    const statuses = [];
    for (const path of old) statuses.push((await send(path)).status);
    expect(statuses).toEqual([401, 401, 303, 303, 303, 303]);
  });

  test('clicked on a page of another site, it goes on by a page of its own', async () => {
    const { server, send, base } = await testServer();
    const address = new URL(server.newAddress());
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    const entered = await send(address.pathname + address.search, { headers });
    expect([entered.status, entered.headers['refresh']]).toEqual([200, `0; url=${base}`]);
    expect(entered.headers['set-cookie']).toHaveLength(1);
  });
});

describe('strangers get nothing but an explanation', () => {
  test.each([
    '/',
    '/index.html',
    '/assets/app-1a2b.js',
    '/nothing',
    '/download?backup=x',
    '/?token=',
    '/?token=AAAA',
  ])('%s without a session', async (path) => {
    const { send } = await testServer();
    const { status, body, headers } = await send(path);
    expect(status).toBe(401);
    expect(body).toContain("needs Kvasir's one-time address");
    expect(body).not.toContain('app-1a2b');
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  test.each([
    'kvasir=x',
    'kvasir-PORT=',
    'kvasir-PORT=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'kvasir-1=x',
    ';;=',
  ])('the cookie %s is no session', async (cookie) => {
    const { send, server } = await testServer();
    const headers = { Cookie: cookie.replace('PORT', String(server.port)) };
    expect((await send('/', { headers })).status).toBe(401);
  });

  test.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
    '[::1]:PORT',
  ])('under the name %s, even with a session or a token', async (host) => {
    const { send, enter, server } = await testServer();
    const headers = { Host: host.replace('PORT', String(server.port)), Cookie: await enter() };
    for (const path of ['/', '/assets/app-1a2b.js', new URL(server.newAddress()).search.replace('?', '/?')]) {
      const { status, body } = await send(path, { headers });
      const names = `127.0.0.1:${server.port}, localhost:${server.port}`;
      expect([status, body]).toEqual([403, `This server is called ${names}, not "${headers.Host}".\n`]);
    }
  });

  test.each(['localhost', 'LOCALHOST'])('%s is this machine too', async (name) => {
    const { send, enter, server } = await testServer();
    const headers = { Host: `${name}:${server.port}`, Cookie: await enter() };
    expect((await send('/', { headers })).status).toBe(200);
  });

  test('a request whose body nobody reads does not hold its connection', async () => {
    const { server, base } = await testServer();
    const sent = ['/', '/?token=x', base, `${base}upload`].flatMap((path) =>
      ['GET', 'POST', 'PUT'].map((method) => {
        const socket = connect(server.port, '127.0.0.1');
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\n`);
        socket.write('Content-Length: 9\r\n\r\nhalf');
        return once(socket.resume(), 'close');
      }),
    );
    await Promise.all(sent);
  });

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '//secret.txt',
    '/%00',
    '/%',
  ])('nothing outside the window by %s', async (path) => {
    const { send, enter } = await testServer();
    const { status, body } = await send(path, { headers: { Cookie: await enter() } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).not.toContain('treasure');
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not for pages', async (method) => {
    const { send, enter, origin } = await testServer();
    const Cookie = await enter();
    expect((await send('/', { method, headers: { Cookie, Origin: origin } })).status).toBe(405);
    expect((await send('/', { method, headers: { Cookie, Origin: 'http://evil.example' } })).status).toBe(
      403,
    );
    expect((await send('/', { method, headers: { Cookie } })).status).toBe(403);
  });
});

describe("a session's cookie in the hands of another program on this machine", () => {
  test('is not sent there: it belongs to a path that only the window knows', async () => {
    const [one, other] = [await testServer(), await testServer()];
    expect(one.base).not.toBe(other.base);
    const { headers } = await sendTo(one.server.port, `/${new URL(one.server.newAddress()).search}`, {});
    const [, path] = /Path=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '') ?? [];
    expect(path).toBe(one.base);
  });

  test('opens nothing without the path, even with a forged origin', async () => {
    const { enter, origin, server } = await testServer();
    const headers = { Cookie: await enter(), Origin: origin };
    for (const path of ['/', '/index.html', '/assets/app-1a2b.js', '/download?backup=x', '/k/', '/k/x/']) {
      const { status, body } = await sendTo(server.port, path, { headers });
      expect([path, status]).toEqual([path, 401]);
      expect(body).not.toContain('app-1a2b');
    }
    const upload = { method: 'PUT', headers, body: 'x' };
    expect((await sendTo(server.port, '/upload?backup=x', upload)).status).toBe(401);
    for (const path of ['/socket', '/k/x/socket'])
      await expect(TestWindow.open(server.port, headers, path)).rejects.toThrow('401');
  });
});

describe('the page', () => {
  test('has a nonce of its own and may run and load only what is its own', async () => {
    const { send, enter, server } = await testServer();
    const headers = { Cookie: await enter() };
    const [first, second] = [await send('/', { headers }), await send('/', { headers })];
    const policy = first.headers['content-security-policy'] as string;
    const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? 'none';
    expect(first.body).toContain(`content="${nonce}"`);
    expect(second.body).not.toContain(nonce);
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data: blob:",
      "font-src 'self'",
      `connect-src 'self' ws://127.0.0.1:${server.port}`,
      "worker-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-src 'self'",
      "frame-ancestors 'none'",
    ]);
    expect(first.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
  });
});

describe('the socket', () => {
  test('carries calls there and back, several at a time and out of order', async () => {
    let release: () => void = () => undefined;
    const { open } = await testServer({
      'settings.get': () => settings,
      'queue.status': () =>
        new Promise((_, reject) => (release = () => reject(new KvasirError('CONFLICT', 'Busy.', 'Wait.')))),
    });
    const window = await open();
    const slow = window.call('queue.status');
    expect(await window.call('settings.get')).toEqual({ ok: true, data: settings });
    release();
    expect(await slow).toEqual({ ok: false, error: { code: 'CONFLICT', message: 'Busy.', advice: 'Wait.' } });
  });

  test.each([
    ['no.such', {}, 'There is no procedure "no.such".'],
    ['constructor', {}, 'There is no procedure "constructor".'],
    [42, {}, 'The name of a procedure must be text.'],
    ['chat.get', { id: 7 }, 'chat.get: id: '],
    ['chat.get', null, 'chat.get: id: '],
    ['settings.update', { topK: -1 }, 'settings.update: topK: '],
  ])('refuses %s with %j in words', async (name, input, message) => {
    const { open } = await testServer();
    const result = await (await open()).call(name as string, input);
    expect(result).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
    expect(JSON.stringify(result)).toContain(JSON.stringify(message).slice(1, -1));
  });

  test('a defect in a handler is a failure, not the end', async () => {
    const { open } = await testServer({
      'settings.get': () => {
        throw new Error('unexpected');
      },
    });
    const window = await open();
    expect(await window.call('settings.get')).toMatchObject({ ok: false, error: { code: 'ENGINE_FAILED' } });
    expect(await window.call('no.such')).toMatchObject({ ok: false });
  });

  test('tells every window what happens', async () => {
    const { open, events } = await testServer();
    const windows = [await open(), await open()];
    events.emit('cache.progress', { done: 1, total: 2 });
    events.emit('models.changed', {});
    const expected = [
      { topic: 'cache.progress', payload: { done: 1, total: 2 } },
      { topic: 'models.changed', payload: {} },
    ];
    for (const window of windows) await expect.poll(() => window.events).toEqual(expected);
    windows[0]?.socket.close();
    await windows[0]?.closed;
    events.emit('models.changed', {});
    await expect.poll(() => windows[1]?.events).toHaveLength(3);
    expect(windows[0]?.events).toHaveLength(2);
  });

  test.each([
    ['no JSON', 'hello'],
    ['no object', '[]'],
    ['no id', '{"name": "settings.get"}'],
    ['an id that is no number', '{"id": "1", "name": "settings.get"}'],
    ['bytes', Buffer.from([1, 2, 3])],
  ])('ends with whoever sends %s', async (_, message) => {
    const { open } = await testServer();
    const window = await open();
    window.socket.send(message);
    expect(await window.closed).toBe(1008);
  });

  test('ends with whoever sends too much, and goes on with the others', async () => {
    const { open } = await testServer({ 'settings.get': () => settings });
    const [greedy, other] = [await open(), await open()];
    greedy.socket.on('error', () => undefined);
    greedy.socket.send(`{"id": 1, "name": "${'x'.repeat(MAX_MESSAGE_BYTES)}"}`);
    expect(await greedy.closed).toBe(1009);
    expect((await other.call('settings.get')).ok).toBe(true);
  });

  test('answers so many calls of a window at a time, and says when it is too many', async () => {
    const { open } = await testServer({ 'queue.status': () => new Promise(() => undefined) });
    const window = await open();
    for (let i = 0; i < 256; i++) void window.call('queue.status');
    expect(await window.call('queue.status')).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  });

  test.each([
    ['another page', 401, { Origin: 'ORIGIN' }],
    ['another site', 403, { Origin: 'http://evil.example', Cookie: 'COOKIE' }],
    ['another port', 403, { Origin: 'http://127.0.0.1:1', Cookie: 'COOKIE' }],
    ['https', 403, { Origin: 'https://127.0.0.1:PORT', Cookie: 'COOKIE' }],
    ['no page at all', 403, { Cookie: 'COOKIE' }],
    ['a sandboxed page', 403, { Origin: 'null', Cookie: 'COOKIE' }],
    [
      'another name',
      403,
      { Host: 'evil.example:PORT', Origin: 'http://evil.example:PORT', Cookie: 'COOKIE' },
    ],
  ])('is not for %s', async (_, status, headers) => {
    const { open, enter, origin, server } = await testServer();
    const cookie = await enter();
    const filled = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('ORIGIN', origin).replace('COOKIE', cookie).replace('PORT', String(server.port)),
    ]);
    await expect(open(Object.fromEntries(filled) as Record<string, string>)).rejects.toThrow(String(status));
  });

  test('is at its own path only', async () => {
    const { server, enter, origin, base } = await testServer();
    const headers = { Origin: origin, Cookie: await enter() };
    await expect(TestWindow.open(server.port, headers, base)).rejects.toThrow('404');
  });
});

test('there is no upgrade to another protocol, and no plain answer at the path of the socket', async () => {
  const { send, enter, origin } = await testServer();
  const headers = { Cookie: await enter(), Origin: origin, Connection: 'upgrade' };
  expect((await send('/', { headers: { ...headers, Upgrade: 'h2c' } })).status).toBe(404);
  const { Cookie, Origin } = headers;
  expect((await send('/socket', { headers: { Cookie } })).status).toBe(404);
  expect((await send('/socket', { headers: { Cookie, Origin, Upgrade: 'websocket' } })).status).toBe(404);
});

test('a name of a procedure that is no text is refused, however deep it is nested', async () => {
  const { socket } = await (await testServer()).open();
  for (const name of ['1', 'null', '['.repeat(20_000) + ']'.repeat(20_000)]) {
    const answer = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(`{"id":1,"name":${name}}`);
    const [text] = await answer;
    expect(JSON.parse(text.toString())).toMatchObject({ id: 1, ok: false, error: { code: 'BAD_ARGUMENT' } });
  }
});

test('closing ends every connection and the address', async () => {
  const { server, open, send } = await testServer();
  const window = await open();
  await server.close();
  expect(await window.closed).toBe(1006);
  await expect(send('/')).rejects.toThrow('ECONNREFUSED');
});

test('a port that is taken is told in words', async () => {
  const { server } = await testServer();
  await expect(testServer({}, undefined, server.port)).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
    message: expect.stringContaining('EADDRINUSE') as string,
  });
});

test('over HTTP, documents need the session, and keep their own headers', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-files-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'a.pdf'), '%PDF-1.7');
  const views: Pick<DocumentViews, 'file' | 'page'> = {
    file: async () => ({ path: join(dir, 'a.pdf'), format: 'pdf', bytes: 8 }),
    page: async () => ({ html: '', isMarked: false, isCut: false, parts: [], part: 0 }),
  };
  const { send, enter } = await testServer({}, undefined, 0, views as DocumentViews);
  for (const path of ['/document/1/file', '/document/2/page'])
    expect((await send(path)).status, path).toBe(401);
  const headers = { Cookie: await enter() };
  const page = await send('/document/2/page', { headers });
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'; sandbox");
  expect(page.headers['x-frame-options']).toBe('SAMEORIGIN');
  const file = await send('/document/1/file', { headers: { ...headers, Range: 'bytes=0-3' } });
  expect([file.status, file.body]).toEqual([206, '%PDF']);
  expect((await send('/document/1/file', { headers: { ...headers, Host: 'evil.example' } })).status).toBe(
    403,
  );
});
