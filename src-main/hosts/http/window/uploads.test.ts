import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { testServer, type TestServer } from './window.test-support.ts';
import type { UploadPlaces } from './transfers.ts';

async function put(
  { send, enter, origin }: TestServer,
  query: Record<string, string>,
  body: string | Buffer = 'content',
  headers: Record<string, string> = {},
): Promise<{ status: number; result: unknown }> {
  const reply = await send(`/upload?${new URLSearchParams(query).toString()}`, {
    method: 'PUT',
    headers: { Cookie: await enter(), Origin: origin, ...headers },
    body,
  });
  return { status: reply.status, result: reply.body.startsWith('{') ? JSON.parse(reply.body) : reply.body };
}

const files = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir).sort() : []);
const imported = { 'models.import': () => ({}) as ModelEntry };

test('a document goes to its library, as a stream', async () => {
  const received: unknown[] = [];
  const receive: UploadPlaces['receiveDocument'] = async (library, path, body) => {
    received.push(library, path, await text(body));
    return '12';
  };
  const reply = await put(await testServer({}, receive), { library: '7', path: 'a b/ü.md' }, 'Grüße');
  expect(reply).toEqual({ status: 200, result: { ok: true, data: { path: 'a b/ü.md', documentId: '12' } } });
  expect(received).toEqual(['7', 'a b/ü.md', 'Grüße']);
});

test('a document that is refused is told why', async () => {
  const receive: UploadPlaces['receiveDocument'] = () =>
    Promise.reject(new KvasirError('DOCUMENT_TOO_LARGE', 'Too large.', 'Split it.'));
  const { status, result } = await put(
    await testServer({}, receive),
    { library: '7', path: 'a' },
    'x'.repeat(1e6),
  );
  expect(status).toBe(422);
  expect(result).toEqual({
    ok: false,
    error: { code: 'DOCUMENT_TOO_LARGE', message: 'Too large.', advice: 'Split it.' },
  });
});

test('a reader that stops in the middle is heard, and the rest is forgotten', async () => {
  const receive: UploadPlaces['receiveDocument'] = async (_, __, body) => {
    await once(body, 'data');
    body.destroy();
    throw new KvasirError('DISK_FULL', 'The disk is full.');
  };
  const server = await testServer({}, receive);
  const { status, result } = await put(server, { library: '7', path: 'a' }, Buffer.alloc(30_000_000));
  expect(status).toBe(422);
  expect(result).toMatchObject({ ok: false, error: { code: 'DISK_FULL' } });
});

test('a model goes to the models and is imported; one of the same name takes another', async () => {
  const paths: string[] = [];
  const server = await testServer({
    'models.import': ({ path }) => {
      paths.push(path);
      return {} as ModelEntry;
    },
  });
  const models = join(server.dir, 'models');
  const bytes = Buffer.alloc(3_000_000, 7);
  expect((await put(server, { model: 'my model.gguf' }, bytes)).result).toEqual({
    ok: true,
    data: { path: join(models, 'my model.gguf') },
  });
  await put(server, { model: 'my model.gguf' }, 'other');
  expect(files(models)).toEqual(['my model (2).gguf', 'my model.gguf']);
  expect(readFileSync(join(models, 'my model.gguf')).equals(bytes)).toBe(true);
  expect(paths).toEqual([join(models, 'my model.gguf'), join(models, 'my model (2).gguf')]);
});

test('a file that is no model is not kept', async () => {
  const server = await testServer({
    'models.import': () => Promise.reject(new KvasirError('MODEL_INVALID', 'No GGUF.')),
  });
  expect((await put(server, { model: 'a.gguf' })).result).toMatchObject({
    ok: false,
    error: { code: 'MODEL_INVALID' },
  });
  expect(files(join(server.dir, 'models'))).toEqual([]);
});

test.each([
  '../evil.gguf',
  '/etc/evil',
  '..',
  '.',
  'a/b',
  'a\\b',
  '.hidden',
  'a:b',
  'nul\u0000',
  'x'.repeat(201),
  'dot.',
])('the name %j is refused', async (name) => {
  const server = await testServer(imported);
  expect((await put(server, { model: name })).result).toMatchObject({
    ok: false,
    error: { code: 'BAD_ARGUMENT' },
  });
  expect((await put(server, { backup: name })).result).toMatchObject({
    ok: false,
    error: { code: 'BAD_ARGUMENT' },
  });
  expect(files(server.dir)).toEqual(['renderer', 'secret.txt']);
});

test.each([{}, { library: '7' }, { path: 'a' }, { model: '' }, { backup: '' }])(
  '%j says nothing about where to',
  async (query) => {
    const { result } = await put(await testServer(imported), query);
    expect(result).toMatchObject({ ok: false, error: { code: 'BAD_ARGUMENT' } });
  },
);

test('a file that cannot fit the disk is refused before it comes', async () => {
  const server = await testServer(imported);
  const headers = { 'Content-Length': String(Number.MAX_SAFE_INTEGER) };
  const { result } = await put(server, { backup: 'huge' }, '', headers);
  expect(result).toMatchObject({ ok: false, error: { code: 'DISK_FULL' } });
  expect(files(join(server.dir, 'backups'))).toEqual([]);
});

test('a folder that cannot be written is told', async () => {
  const server = await testServer(imported);
  writeFileSync(join(server.dir, 'models'), 'a file in its place');
  expect((await put(server, { model: 'a.gguf' })).result).toMatchObject({
    error: { code: 'STORE_READ_ONLY' },
  });
});

test.each([
  ['models', { model: 'a.gguf' }],
  ['backups', { backup: 'a' }],
])('an upload that is cut leaves nothing in %s', async (folder, query) => {
  const server = await testServer(imported);
  const headers = { Cookie: await server.enter(), Origin: server.origin, 'Content-Length': '1000000' };
  const sent = request({
    host: '127.0.0.1',
    port: server.server.port,
    path: `${server.base}upload?${new URLSearchParams(query as Record<string, string>).toString()}`,
    method: 'PUT',
    headers,
  });
  sent.on('error', () => undefined);
  sent.write(Buffer.alloc(100_000));
  const dir = join(server.dir, folder);
  await expect.poll(() => files(dir)).toHaveLength(1);
  sent.destroy();
  await expect.poll(() => files(dir)).toEqual([]);
});

test('a backup is listed by its ending, so it gets one', async () => {
  const server = await testServer();
  for (const backup of ['mine', 'mine.zip', 'MINE.ZIP']) await put(server, { backup });
  expect(files(join(server.dir, 'backups'))).toEqual(['MINE.ZIP', 'mine (2).zip', 'mine.zip']);
});

test('uploads need the session and the own page', async () => {
  const server = await testServer(imported);
  expect((await put(server, { model: 'a' }, 'x', { Cookie: '' })).status).toBe(401);
  expect((await put(server, { model: 'a' }, 'x', { Origin: 'http://evil.example' })).status).toBe(403);
  expect((await put(server, { model: 'a' }, 'x', { Origin: 'null' })).status).toBe(403);
  expect(files(server.dir)).toEqual(['renderer', 'secret.txt']);
});
