import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { expect, homeOf, test } from './support/test.ts';

/** A request with headers that browsers do not let a page set. */
function ask(
  origin: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<IncomingMessage & { text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${origin}${path}`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => (text += data));
      response.on('end', () => resolve(Object.assign(response, { text })));
    });
    request.on('error', reject).end();
  });
}

const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

test('without the token there is only the page that explains', async ({ sharedApp: app }) => {
  for (const path of [
    '/',
    '/?token=wrong',
    '/index.html',
    '/icon.svg',
    '/document/1/file',
    '/download?backup=x',
  ]) {
    const response = await ask(app.origin, path);
    expect(response.statusCode, path).toBe(401);
    expect(response.text).not.toContain('main');
  }
  expect((await ask(app.origin, '/socket', { ...UPGRADE, Origin: app.origin })).statusCode).toBe(401);
});

test('the token works once', async ({ app }) => {
  const { pathname, search } = new URL(app.url);
  const first = await ask(app.origin, `${pathname}${search}`);
  expect(first.statusCode).toBe(303);
  expect(first.headers['set-cookie']?.[0]).toMatch(/HttpOnly; SameSite=Strict/);
  expect((await ask(app.origin, `${pathname}${search}`)).statusCode).toBe(401);
});

test('a foreign host or origin gets nothing, even with the session', async ({
  sharedApp: app,
  sharedWindow: window,
}) => {
  const [session] = await window.context().cookies();
  const cookie = `${session?.name}=${session?.value}`;
  const base = new URL(homeOf(window)).pathname;
  expect((await ask(app.origin, base, { Cookie: cookie })).statusCode).toBe(200);
  expect((await ask(app.origin, '/', { Cookie: cookie })).statusCode).toBe(401);

  expect((await ask(app.origin, base, { Cookie: cookie, Host: 'evil.example' })).statusCode).toBe(403);
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1']) {
    const response = await ask(app.origin, `${base}socket`, { ...UPGRADE, Cookie: cookie, Origin: origin });
    expect(response.statusCode, origin).toBe(403);
  }
});

test('the page forbids what it does not need', async ({ sharedWindow: window }) => {
  const response = await window.goto(homeOf(window));
  const policy = response?.headers()['content-security-policy'] ?? '';
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
    expect(policy).toContain(rule);
  expect(policy).not.toContain('unsafe');
});
