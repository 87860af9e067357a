import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Download } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { EventBus } from '../../../platform/event-bus.ts';
import { silentLogger } from '../../../platform/logger.ts';
import { ModelFiles } from '../../registry/model-files.ts';
import { ModelRegistry } from '../../registry/model-registry.ts';
import { Downloads } from './downloads.ts';
import { arrived, sendFile, serve, sha256, type Answer } from '../../../testing/download-server.ts';

const FILE = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
const OTHER = Buffer.from(FILE).reverse();

interface Setup {
  dir?: string;
  freeBytes?: number;
  /** Long enough that a busy machine does not count as a stalled server. */
  stallMs?: number;
  onFinished?: (path: string) => Promise<unknown>;
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-downloads-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function open({
  dir = tempDir(),
  freeBytes = Infinity,
  stallMs = 30_000,
  onFinished = async () => undefined,
}: Setup = {}) {
  const registry = new ModelRegistry(join(dir, 'models.sqlite'));
  const files = new ModelFiles(join(dir, 'models'));
  const requireSpace = files.requireSpace.bind(files);
  files.requireSpace = async (bytes) => {
    await requireSpace(0);
    if (bytes > freeBytes) throw new KvasirError('DISK_FULL', 'no room');
  };
  const events = new EventBus();
  const seen: Download[] = [];
  events.on((event) => event.topic === 'models.download' && seen.push(event.payload));
  const finished: string[] = [];
  const downloads = new Downloads({
    database: registry.database,
    files,
    events,
    log: silentLogger,
    retryMs: 1,
    stallMs,
    onFinished: async (path) => {
      await onFinished(path);
      finished.push(path);
      return 'made';
    },
  });
  arrived.bytes = () => downloads.list()[0]?.bytesDone ?? 0;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= downloads.close().then(() => registry.close()));
  onTestFinished(close);
  const { database } = registry;
  return { downloads, dir, files, database, finished, seen, close, models: join(dir, 'models') };
}

type Kvasir = ReturnType<typeof open>;

function until({ downloads }: Kvasir, ...states: Download['state'][]): Promise<Download> {
  return vi.waitFor(
    () => {
      const [download] = downloads.list();
      if (!download || !states.includes(download.state)) throw new Error(`is ${download?.state ?? 'gone'}`);
      return download;
    },
    { timeout: 30_000, interval: 5 },
  );
}

async function get(kvasir: Kvasir, url: string, sum = sha256(FILE)): Promise<Download> {
  await kvasir.downloads.add({ url, name: '', sha256: sum });
  return until(kvasir, 'done', 'failed');
}

describe('a download', () => {
  test.each<[string, Answer, string[]]>([
    ['in one piece', (request, response) => sendFile(FILE, request, response), ['']],
    ['without a length', (request, response) => sendFile(FILE, request, response, { length: false }), ['']],
    [
      'cut twice: each attempt resumes where the last one ended',
      (request, response, n) => sendFile(FILE, request, response, n < 2 ? { cutAfter: 100_000 } : {}),
      ['', 'bytes=100000-', 'bytes=200000-'],
    ],
    [
      'cut, from a server without ranges',
      (request, response, n) =>
        sendFile(FILE, request, response, { ranges: false, ...(n === 0 ? { cutAfter: 100_000 } : {}) }),
      ['', 'bytes=100000-'],
    ],
    [
      'behind 503 and 429',
      (request, response, n) =>
        n < 2 ? void response.writeHead(n === 0 ? 503 : 429).end() : sendFile(FILE, request, response),
      ['', '', ''],
    ],
    [
      'that stops coming',
      (request, response, n) => {
        if (n > 0) return sendFile(FILE, request, response);
        response.writeHead(200, {
          'content-length': String(FILE.length),
          etag: `"${sha256(FILE).slice(0, 16)}"`,
        });
        response.write(FILE.subarray(0, 1000));
      },
      ['', 'bytes=1000-'],
    ],
    [
      'whose file changes meanwhile',
      (request, response, n) =>
        n === 0
          ? sendFile(OTHER, request, response, { cutAfter: 100_000 })
          : sendFile(FILE, request, response),
      ['', 'bytes=100000-'],
    ],
    [
      'whose file changes meanwhile, from a server that resumes anyway',
      (request, response, n) => {
        if (n === 0) return sendFile(OTHER, request, response, { cutAfter: 100_000 });
        delete request.headers['if-range'];
        sendFile(FILE, request, response);
      },
      ['', 'bytes=100000-', ''],
    ],
    [
      'from a server that resumes at the wrong offset',
      (request, response, n) => {
        if (n === 0) return sendFile(FILE, request, response, { cutAfter: 100_000 });
        if (n > 1) return sendFile(FILE, request, response);
        response.writeHead(206, { 'content-range': `bytes 50000-299999/300000` }).end(FILE.subarray(50_000));
      },
      ['', 'bytes=100000-', ''],
    ],
    [
      'that is shorter now than what is there',
      (request, response, n) => {
        if (n === 0)
          return sendFile(Buffer.concat([OTHER, OTHER]), request, response, {
            etag: '"x"',
            cutAfter: 400_000,
          });
        sendFile(FILE, request, response, { etag: '"x"' });
      },
      ['', 'bytes=400000-', ''],
    ],
  ])('%s', async (_name, answer, ranges) => {
    const server = await serve(answer);
    const kvasir = open({ stallMs: 2000 });
    expect(await get(kvasir, server.url)).toMatchObject({
      state: 'done',
      failure: null,
      bytesDone: FILE.length,
    });
    expect(server.ranges).toEqual(ranges);
    expect(kvasir.finished).toEqual([join(kvasir.models, 'tiny.gguf')]);
    expect(readFileSync(kvasir.finished[0]!).equals(FILE)).toBe(true);
    expect(readdirSync(kvasir.models)).toEqual(['tiny.gguf']);
  });

  test('without an ETag or a checksum is never put together of two answers', async () => {
    const server = await serve((request, response, n) =>
      sendFile(n === 0 ? OTHER : FILE, request, response, {
        etag: '',
        ...(n === 0 ? { cutAfter: 100_000 } : {}),
      }),
    );
    const kvasir = open();
    expect(await get(kvasir, server.url, '')).toMatchObject({ state: 'done' });
    expect(server.ranges).toEqual(['', '']);
    expect(readFileSync(kvasir.finished[0]!).equals(FILE)).toBe(true);
  });

  test('whose program ended before the model was in the list is not sent again', async () => {
    const server = await serve((request, response) => sendFile(FILE, request, response));
    const { promise: never, resolve } = Promise.withResolvers<unknown>();
    const first = open({ onFinished: () => never });
    onTestFinished(() => resolve(undefined)); // before it is closed
    await first.downloads.add({ url: server.url, name: '', sha256: sha256(FILE) });
    await expect.poll(() => existsSync(join(first.models, 'tiny.gguf'))).toBe(true);
    const second = open({ dir: first.dir });
    second.downloads.start();
    await until(second, 'done');
    expect(server.ranges).toEqual(['', 'bytes=300000-']); // nothing beyond that
    expect(readFileSync(second.finished[0]!).equals(FILE)).toBe(true);
  });

  test('tells how far it is', async () => {
    const server = await serve((request, response) => sendFile(FILE, request, response));
    const kvasir = open();
    await get(kvasir, server.url);
    expect(kvasir.seen.at(0)).toMatchObject({ name: 'tiny.gguf', bytesDone: 0 });
    await expect.poll(() => kvasir.seen.at(-1)).toMatchObject({ state: 'done', bytesTotal: 300_000 });
  });
});

describe('a download that cannot be', () => {
  test.each<[string, Answer, string, RegExp]>([
    ['404', (_, response) => void response.writeHead(404).end(), 'DOWNLOAD_FAILED', /404/],
    ['503 for ever', (_, response) => void response.writeHead(503).end(), 'DOWNLOAD_FAILED', /503/],
    [
      'redirects in a circle',
      (request, response) => void response.writeHead(302, { location: request.url }).end(),
      'DOWNLOAD_FAILED',
      /redirected more than 5/,
    ],
    [
      'a redirect to a file',
      (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      'DOWNLOAD_FAILED',
      /no web address/,
    ],
    [
      'another file',
      (request, response) => sendFile(OTHER, request, response),
      'CHECKSUM_MISMATCH',
      /SHA-256/,
    ],
  ])('%s', async (_name, answer, code, message) => {
    const server = await serve(answer);
    const kvasir = open();
    const { state, failure } = await get(kvasir, server.url);
    expect([state, failure?.code]).toEqual(['failed', code]);
    expect(failure?.message).toMatch(message);
    expect(kvasir.finished).toEqual([]);
    expect(readdirSync(kvasir.models)).toEqual([]);
  });

  test('a server that is not there', async () => {
    const server = await serve(() => undefined);
    const { port } = new URL(server.url);
    const kvasir = open();
    const { failure } = await get(kvasir, `http://127.0.0.1:${Number(port) === 1 ? 2 : 1}/x.gguf`);
    expect(failure).toMatchObject({ code: 'DOWNLOAD_FAILED' });
  });

  test('a file that is no model is not kept', async () => {
    const server = await serve((request, response) => sendFile(FILE, request, response));
    const kvasir = open({ onFinished: () => Promise.reject(new KvasirError('MODEL_INVALID', 'no GGUF')) });
    expect((await get(kvasir, server.url)).failure?.code).toBe('MODEL_INVALID');
    expect(readdirSync(kvasir.models)).toEqual([]);
  });

  test('a full disk is reported before anything is written, and the download can resume later', async () => {
    const server = await serve((request, response) => sendFile(FILE, request, response));
    const kvasir = open({ freeBytes: 200_000 });
    expect((await get(kvasir, server.url)).failure?.code).toBe('DISK_FULL');
    expect(existsSync(join(kvasir.models, 'tiny.gguf.part'))).toBe(false);
    await expect(
      kvasir.downloads.add({ url: `${server.url}?2`, name: '', sha256: '' }, 250_000),
    ).rejects.toMatchObject({ code: 'DISK_FULL' });
  });

  test('after a wrong checksum it starts from nothing', async () => {
    const server = await serve((request, response) => sendFile(OTHER, request, response));
    const kvasir = open();
    const { id } = await get(kvasir, server.url);
    server.answers = (request, response) => sendFile(FILE, request, response);
    kvasir.downloads.resume(id);
    expect(await until(kvasir, 'done')).toMatchObject({ failure: null });
    expect(server.ranges).toEqual(['', '']);
  });
});

describe('pause, resume, restart, cancel', () => {
  /** Sends only the first 100,000 bytes of the first response. */
  const hangs: Answer = (request, response, n) => {
    if (n > 0) return sendFile(FILE, request, response);
    response.writeHead(200, {
      'content-length': String(FILE.length),
      etag: `"${sha256(FILE).slice(0, 16)}"`,
    });
    response.write(FILE.subarray(0, 100_000));
  };
  const begun = async (kvasir: Kvasir): Promise<Download> => {
    await expect.poll(() => kvasir.downloads.list()[0]?.bytesDone).toBe(100_000);
    return kvasir.downloads.list()[0]!;
  };

  test('a paused download resumes where it stopped', async () => {
    const server = await serve(hangs);
    const kvasir = open();
    await kvasir.downloads.add({ url: server.url, name: '', sha256: sha256(FILE) });
    const { id } = await begun(kvasir);
    await kvasir.downloads.pause(id);
    expect(kvasir.downloads.list()[0]).toMatchObject({ state: 'paused', bytesDone: 100_000 });
    kvasir.downloads.resume(id);
    await until(kvasir, 'done');
    expect(server.ranges).toEqual(['', 'bytes=100000-']);
  });

  test('a restart of the program goes on too; what was paused stays so', async () => {
    const server = await serve(hangs);
    const first = open();
    await first.downloads.add({ url: server.url, name: '', sha256: sha256(FILE) });
    await begun(first);
    await first.close();
    const second = open({ dir: first.dir });
    expect(second.downloads.list()[0]).toMatchObject({
      state: 'queued',
      bytesDone: 100_000,
      bytesTotal: 300_000,
    });
    const { id } = second.downloads.list()[0]!;
    await second.downloads.pause(id);
    await second.close();
    const third = open({ dir: first.dir });
    third.downloads.start();
    expect(third.downloads.list()[0]).toMatchObject({ state: 'paused' });
    third.downloads.resume(id);
    await until(third, 'done');
    expect(server.ranges).toEqual(['', 'bytes=100000-']);
    await third.close();
    expect(open({ dir: first.dir }).downloads.list()).toEqual([]);
  });

  test('a cancelled one leaves nothing', async () => {
    const server = await serve(hangs);
    const kvasir = open();
    await kvasir.downloads.add({ url: server.url, name: '', sha256: '' });
    const { id } = await begun(kvasir);
    await kvasir.downloads.cancel(id);
    expect(kvasir.downloads.list()).toEqual([]);
    expect(readdirSync(kvasir.models)).toEqual([]);
    await expect(kvasir.downloads.pause(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(() => kvasir.downloads.resume(id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  test('the same address is not downloaded twice; of more than two the others wait', async () => {
    const server = await serve(
      (_, response) => void response.writeHead(200, { 'content-length': '9' }).write('1'),
    );
    const kvasir = open();
    const first = await kvasir.downloads.add({ url: server.url, name: '', sha256: '' });
    const again = await kvasir.downloads.add({ url: server.url, name: '', sha256: '' });
    expect(again.id).toBe(first.id);
    for (const n of [2, 3]) await kvasir.downloads.add({ url: `${server.url}?${n}`, name: '', sha256: '' });
    await expect.poll(() => server.ranges).toHaveLength(2);
    expect(kvasir.downloads.list().map(({ state }) => state)).toEqual([
      'downloading',
      'downloading',
      'queued',
    ]);
  });

  test('an imported model never takes the name of a download that has no file yet', async () => {
    const server = await serve((request, response, n) => {
      if (n > 1) sendFile(FILE, request, response);
      else response.writeHead(200, { 'content-length': '9' }).write('1');
    });
    const kvasir = open();
    for (const n of [1, 2])
      await kvasir.downloads.add({ url: `${server.url}?${n}`, name: `${n}.gguf`, sha256: '' });
    await expect.poll(() => server.ranges).toHaveLength(2);
    const waiting = await kvasir.downloads.add({ url: server.url, name: '', sha256: sha256(FILE) });
    const mine = join(kvasir.dir, 'tiny.gguf');
    writeFileSync(mine, OTHER);
    const copy = await kvasir.files.copyIn(mine);
    for (const { id } of kvasir.downloads.list().slice(0, 2)) await kvasir.downloads.pause(id);
    await vi.waitFor(() =>
      expect(kvasir.downloads.list().find(({ id }) => id === waiting.id)).toMatchObject({ state: 'done' }),
    );
    expect(readFileSync(copy).equals(OTHER)).toBe(true);
    expect(readFileSync(kvasir.finished[0]!).equals(FILE)).toBe(true);
  });

  test('on a disk without room for its table it has failed, and resumes at the next start', async () => {
    const server = await serve(hangs);
    const kvasir = open();
    await kvasir.downloads.add({ url: server.url, name: '', sha256: sha256(FILE) });
    await begun(kvasir);
    kvasir.database.pragma('query_only = ON');
    server.closeConnections();
    server.answers = (_, response) => void response.writeHead(404).end();
    await until(kvasir, 'failed');
    kvasir.database.pragma('query_only = OFF');
    await kvasir.close();
    server.answers = (request, response) => sendFile(FILE, request, response);
    const again = open({ dir: kvasir.dir });
    again.downloads.start();
    await until(again, 'done');
    expect(readFileSync(again.finished[0]!).equals(FILE)).toBe(true);
  });

  test('a table from elsewhere that names a file outside of the folder is not worked on', async () => {
    const { url } = await serve((request, response) => sendFile(FILE, request, response));
    const kvasir = open();
    const mine = join(kvasir.dir, 'mine.txt');
    writeFileSync(mine, 'mine');
    await kvasir.close();
    const registry = new ModelRegistry(join(kvasir.dir, 'models.sqlite'));
    const files = [{ url, sha256: '', file: '../mine.txt', bytesTotal: 0, validator: '' }];
    const row = "INSERT INTO download (id, name, state, files, added_ms) VALUES ('a', 'a', 'queued', ?, 0)";
    registry.database.run(row, JSON.stringify(files));
    registry.close();
    const again = open({ dir: kvasir.dir });
    again.downloads.start();
    expect(again.downloads.list()).toEqual([]);
    expect(readFileSync(mine, 'utf8')).toBe('mine');
  });

  test("a name from elsewhere stays in the models' folder", async () => {
    const server = await serve((request, response) => sendFile(FILE, request, response));
    const kvasir = open();
    await kvasir.downloads.add({ url: server.url, name: '../../evil', sha256: '' });
    await until(kvasir, 'done');
    expect(kvasir.finished).toEqual([join(kvasir.models, 'evil.gguf')]);
  });
});
