/** Access to the API of the real program: addresses, keys, host names, certificates. */
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readHostFile } from '../src-main/hosts/client/host-file.ts';
import { expectFailure, removeDir, ROOT, runCli, tempDir } from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { DEMO, endApi, KEY, LIBRARY, serveApi, type ApiServer } from './support/api-server.ts';
import { readyData } from './support/ready-data.ts';
import { serve } from './support/served-window.ts';

/** A certificate for these tests only; its key is public, and nothing else trusts it. */
const TLS = {
  cert: join(import.meta.dirname, 'support', 'tls', 'cert.pem'),
  key: join(import.meta.dirname, 'support', 'tls', 'key.pem'),
};

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));

let dir: string;
beforeAll(async () => {
  dir = await readyData(tempDir());
});
afterAll(() => removeDir(dir));

/** Unlike fetch, sends any Host header. */
function statusOf(url: string, options: RequestOptions & { ca?: Buffer } = {}): Promise<number | undefined> {
  const send = url.startsWith('https') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    send(url, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

const authorized = { Authorization: `Bearer ${KEY}` };

test.each([
  [['--api', '--host', '0.0.0.0'], /beyond this machine it requires a key/],
  [['--api', '--api-key-file', 'nowhere.txt'], /keys could not be read/],
  [['--api', '--host', '0.0.0.0', '--api-key', ''], /--api-key is empty/],
  [['--api', '--tls-cert', TLS.cert], /--tls-key is missing/],
  [['--api', '--tls-cert', 'nowhere.pem', '--tls-key', TLS.key], /certificate or its key cannot be used/],
  [['--api', '--tls-cert', TLS.key, '--tls-key', TLS.key], /certificate or its key cannot be used/],
  [['--no-open', '--cors', 'http://there.example'], /--cors is only for the API/],
  [['--api', '--allow-host', 'http://aibox:1'], /is not a host name/],
  [['--api', '--no-open'], /--no-open is only for the window/],
])('%j is refused with a reason', async (flags, why) => {
  const ended = await runHere(['serve', '--data', dir, ...flags]);
  expectFailure(ended, 'BAD_ARGUMENT', 2);
  expect(ended.stderr).toMatch(why);
});

test('other loopback names, further keys and harmless headers are accepted', async () => {
  const hosts = ['--allow-host', 'host.docker.internal', '--allow-host', 'aibox'];
  const page = 'http://there.example';
  const server = await serveApi(dir, ['--api-key', 'one', 'two', '--cors', page, ...hosts]);
  const statusAs = (Host: string, path = '/v1/models') =>
    statusOf(server.origin + path, { headers: { ...authorized, Host } });
  for (const host of ['host.docker.internal:4000', 'AIbox', 'LOCALHOST:4000', '127.0.0.1'])
    expect([host, await statusAs(host)]).toEqual([host, 200]);
  const statusWith = (key: string) =>
    statusOf(`${server.baseURL}/models`, { headers: { Authorization: `Bearer ${key}` } });
  expect([await statusWith('one'), await statusWith('two'), await statusWith('three')]).toEqual([
    200, 200, 401,
  ]);
  expect(await statusAs('evil.example')).toBe(403);
  const ofPage = (Origin: string) =>
    fetch(`${server.baseURL}/models`, { headers: { ...authorized, Origin } });
  expect((await ofPage(page)).headers.get('access-control-allow-origin')).toBe(page);
  expect((await ofPage('http://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  expect(await statusAs('localhost', '//v1/models')).toBe(200);
  const messages = [{ role: 'user', content: 'Hello' }];
  const dumped = { role: 'assistant', content: null, refusal: null, annotations: [], tool_calls: null };
  for (const more of [
    { tools: [], tool_choice: 'auto' },
    { messages: [{ role: 'user', name: 'ida', content: 'Hello' }] },
    { messages: [...messages, dumped, { role: 'user', content: 'And?' }] },
    { top_k: 40, min_p: 0.05, repeat_penalty: 1.1, temperature: 0.7, cache_prompt: true, stop: '' },
  ]) {
    const body = JSON.stringify({ model: DEMO, max_tokens: 8, messages, ...more });
    const headers = { ...authorized, 'Content-Type': 'application/json' };
    const answer = await fetch(`${server.baseURL}/chat/completions`, { method: 'POST', headers, body });
    expect([more, answer.status]).toEqual([more, 200]);
  }
  await endApi(server);
});

test('on other addresses, any host name with a valid key is accepted', async () => {
  const server = await serveApi(dir, ['--host', '0.0.0.0']);
  const url = `${server.baseURL}/models`.replace('0.0.0.0', '127.0.0.1');
  expect(await statusOf(url, { headers: { ...authorized, Host: 'kvasir.example' } })).toBe(200);
  expect(await statusOf(url, { headers: { Host: 'kvasir.example' } })).toBe(401);
  await endApi(server);
});

test('HTTPS with a certificate', async () => {
  const ca = readFileSync(TLS.cert);
  const isUp = async (origin: string): Promise<boolean> =>
    (await statusOf(`${origin}/health`, { ca })) === 200;
  const server = await serveApi(dir, ['--tls-cert', TLS.cert, '--tls-key', TLS.key], isUp);
  expect(server.origin).toMatch(/^https:/);
  expect(await statusOf(`${server.baseURL}/models`, { ca, headers: authorized })).toBe(200);
  await expect(statusOf(`${server.baseURL}/models`, { headers: authorized })).rejects.toThrow(/self-signed/);
  await endApi(server);
});

test('text is split at the configured separator, and reused in another order', async () => {
  const server: ApiServer = await serveApi(dir, ['--chunk-separator', ' # # ']);
  const ask = async (content: string): Promise<Record<string, number>> => {
    const kvasir = { strategy: { name: 'deviation' } };
    const body = JSON.stringify({
      model: DEMO,
      max_tokens: 4,
      messages: [{ role: 'user', content }],
      kvasir,
    });
    const headers = { ...authorized, 'Content-Type': 'application/json' };
    const answer = await fetch(`${server.baseURL}/chat/completions`, { method: 'POST', headers, body });
    return ((await answer.json()) as { kvasir: Record<string, number> }).kvasir;
  };
  const [mara, jon] = ['Mara Lind works in the Oslo office.', 'Jon Berg sells tea in Porto.'];
  const first = await ask(`Read: # # ${mara} # # ${jon} # # Question: Where does Mara work?`);
  const second = await ask(`Read this: # # ${jon} # # ${mara} # # Question: Who sells tea?`);
  expect(first['stored_tokens']).toBeGreaterThan(10);
  expect([second['stored_tokens'], second['reused_tokens']]).toEqual([0, first['stored_tokens']]);
  await endApi(server);
});

/** Routes with a request body, and a valid one for each. */
const ROUTES: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: DEMO, max_tokens: 2, messages: [{ role: 'user', content: 'Once' }] },
  '/v1/completions': { model: DEMO, max_tokens: 2, prompt: 'Once' },
  '/v1/responses': { model: DEMO, max_output_tokens: 2, input: 'Once' },
  '/v1/messages': { model: DEMO, max_tokens: 2, messages: [{ role: 'user', content: 'Once' }] },
  '/v1/messages/count_tokens': { model: DEMO, messages: [{ role: 'user', content: 'Once' }] },
  '/v1/embeddings': { model: DEMO, input: 'Once' },
  '/v1/rerank': { model: DEMO, query: 'Once', documents: ['x'] },
  '/v1/tokenize': { model: DEMO, prompt: 'Once' },
  '/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
};

/** Bodies that are invalid for every route. */
function malformed(path: string): string[] {
  const good = JSON.stringify(ROUTES[path]);
  return [
    '',
    '{',
    '5',
    'null',
    '"x"',
    '{}',
    '{"model":5}',
    '{"model":"x","messages":{}}',
    '{"messages":[{}]}',
    '{"__proto__":{"model":"x"}}',
    '\u0000',
    '\ufeff{',
    good.slice(0, -1),
    good.slice(1),
    `${good}${good}`,
    good.replaceAll('"', "'"),
    '['.repeat(100_000),
  ];
}

describe('on loopback', () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await serveApi(dir);
  });
  afterAll(async () => {
    await endApi(server);
    expect(readFileSync(join(dir, 'kvasir.log'), 'utf8')).not.toContain(KEY);
  });

  test('a foreign host name, a wrong key and a web page are refused', async () => {
    const paths = ['/', '/v1/models', '/metrics', '/mcp', '/api/tags', '/api/chat', ...Object.keys(ROUTES)];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const ask = (headers: Record<string, string>) => statusOf(server.origin + path, { method, headers });
        expect(await ask({ ...authorized, Host: 'evil.example' })).toBe(403);
        expect(
          await ask({ ...authorized, Host: `127.0.0.1.evil.example:${new URL(server.origin).port}` }),
        ).toBe(403);
        expect(await ask({ ...authorized, Origin: 'http://evil.example' })).toBe(403);
        expect(await ask({ ...authorized, Origin: 'null' })).toBe(403);
        expect(await ask({ Authorization: 'Bearer wrong' })).toBe(401);
        expect(await ask({})).toBe(401);
      }
    for (const path of ['/health', '/openapi.json']) {
      const ask = (headers: Record<string, string>) => statusOf(server.origin + path, { headers });
      expect(await ask({})).toBe(200);
      expect(await ask({ Host: 'evil.example' })).toBe(403);
      expect(await ask({ Origin: 'http://evil.example' })).toBe(403);
    }
    expect(await statusOf(`${server.baseURL}/models`, { headers: authorized })).toBe(200);
    const taken = await runCli([
      'serve',
      '--api',
      '--data',
      `${dir}-2`,
      '--port',
      new URL(server.origin).port,
    ]);
    expectFailure(taken, 'BAD_ARGUMENT', 2);
    removeDir(`${dir}-2`);
  });

  test('a request without Content-Length is answered, and refused if it is too long', async () => {
    const post = (pieces: string[]) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest(
          `${server.baseURL}/chat/completions`,
          { method: 'POST', headers: { ...authorized, 'Content-Type': 'application/json' } },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          },
        );
        sent.on('error', reject);
        for (const piece of pieces) sent.write(piece);
        sent.end();
      });
    const asked = { model: DEMO, max_tokens: 2, messages: [{ role: 'user', content: 'Once' }] };
    expect(await post(JSON.stringify(asked).match(/.{1,20}/g) ?? [])).toBe(200);
    const most = Array.from({ length: 16 }, () => ' '.repeat(2 ** 20));
    expect(await post([...most, ' '])).toBe(413);
    expect(await post(JSON.stringify(asked).match(/.{1,20}/g) ?? [])).toBe(200);
  });

  test('a thousand malformed requests get client errors, and the server still answers', async () => {
    const headers = {
      ...authorized,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    const post = (path: string, body: string) =>
      fetch(server.origin + path, { method: 'POST', headers, body });
    const round = async (): Promise<number> => {
      const sent = Object.keys(ROUTES).flatMap((path) => malformed(path).map((body) => ({ path, body })));
      for (const { path, body } of sent) {
        const answer = await post(path, body);
        expect([path, body.slice(0, 50), answer.status]).toEqual([path, body.slice(0, 50), 400]);
        const { error } = (await answer.json()) as { error: { type?: string; code?: number } };
        expect(path === '/mcp' ? error.code : error.type).toEqual(
          path === '/mcp' ? -32700 : 'invalid_request_error',
        );
      }
      return sent.length;
    };
    for (let requests = 0; requests < 1000;) requests += await round();
    for (const [path, body] of Object.entries(ROUTES))
      expect([path, (await post(path, JSON.stringify(body))).status]).toEqual([
        path,
        path === '/v1/embeddings' || path === '/v1/rerank' ? 404 : 200, // no such model is selected
      ]);
  });

  test('refused requests release their memory', async () => {
    const headers = { ...authorized, 'Content-Type': 'application/json' };
    const long = 'x'.repeat(2_000_000);
    const bodies = [`{"model":"x","messages":"${long}"}`, `{"model":"x","prompt":"${long}`, long];
    const send = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const path = Object.keys(ROUTES)[i % Object.keys(ROUTES).length] ?? '';
        const body = bodies[i % bodies.length] ?? '';
        const answer = await fetch(server.origin + path, { method: 'POST', headers, body });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        await answer.text();
      }
    };
    const memory = async (): Promise<number> => {
      const text = await (await fetch(`${server.origin}/metrics`, { headers })).text();
      return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
    };
    await send(50); // warm-up: the runtime keeps freed memory for a while
    const before = await memory();
    await send(200);
    // If they were retained, the bodies alone would take twice as much.
    expect(await memory()).toBeLessThan(before + (200 * long.length) / 2);
  });
});

describe.skipIf(!BUILT)('on a data folder owned by a window’s process', () => {
  test('the owner answers, a wrong key is refused, and Ctrl-C or a kill ends it', async () => {
    const data = await readyData(join(dir, 'window'));
    const window = await serve(data);
    onTestFinished(() => void window.child.kill('SIGKILL'));
    const api = await serveApi(data);
    expect(readHostFile(data)?.pid).toBe(window.child.pid);
    const models = await fetch(`${api.baseURL}/models`, { headers: authorized });
    const { data: listed } = (await models.json()) as { data: { id: string }[] };
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining([DEMO, LIBRARY]));
    const asked = { model: DEMO, max_tokens: 3, messages: [{ role: 'user', content: 'Once upon a time' }] };
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${api.baseURL}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(asked) });
    const json = { 'Content-Type': 'application/json' };
    const answer = await ask({ ...authorized, ...json });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
    for (const headers of [json, { ...json, Authorization: 'Bearer wrong' }]) {
      const refused = await ask(headers);
      expect(refused.status).toBe(401);
      expect(await refused.json()).not.toHaveProperty('choices');
    }
    await endApi(api);
    await expect(fetch(`${api.origin}/health`)).rejects.toThrow();

    const killed = await serveApi(data);
    killed.child.kill('SIGKILL');
    const answers = (): Promise<unknown> => fetch(`${killed.origin}/health`).catch(() => undefined);
    await expect.poll(answers).toBeUndefined();

    expect((await fetch(window.address, { redirect: 'manual' })).status).toBe(303);
    window.child.kill('SIGINT');
    expect(await window.finished).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(data, 'kvasir.log'), 'utf8')).not.toContain(KEY);
  });
});
