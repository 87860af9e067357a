import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HubSource } from '../../../../src-shared/contract/hub.ts';
import type { Download, MemoryFit } from '../../../../src-shared/contract/models.ts';
import type { GgufInfo } from '../../../engine/engine.ts';
import { EventBus } from '../../../platform/event-bus.ts';
import { silentLogger } from '../../../platform/logger.ts';
import { resolvePaths } from '../../../platform/paths.ts';
import { SettingsService } from '../../../platform/settings-service.ts';
import { ggufBytes } from '../../../testing/gguf.ts';
import { SHA, TestHub, type TestRepository } from '../../../testing/hub-server.ts';
import { Downloads } from '../downloads/downloads.ts';
import { ModelFiles } from '../../registry/model-files.ts';
import { ModelRegistry, type ModelRow } from '../../registry/model-registry.ts';
import { headBytes } from './gguf-head.ts';
import { Hub } from './hub.ts';
import { HubToken } from './hub-token.ts';
import { hubFailure } from './refusals.ts';

const SMALL = ggufBytes('small', 200_000);
const LARGE = ggufBytes('large', 400_000);
const PARTS = {
  'B/M-Q8_0-00001-of-00002.gguf': LARGE,
  'B/M-Q8_0-00002-of-00002.gguf': ggufBytes('more', 300_000),
};

const CHAT: TestRepository = {
  files: {
    'README.md': Buffer.from('# M'),
    'M-Q4_K_M.gguf': SMALL,
    ...PARTS,
    'mmproj-F16.gguf': ggufBytes('eyes'),
  },
  task: 'text-generation',
  tags: ['license:apache-2.0'],
  downloads: 9,
  gguf: { total: 600_000_000, architecture: 'qwen3' },
};

/** The fake engine's result: the file's size, and whether it begins with a header. */
const HEADER = {
  ...{ architecture: 'qwen3', obstacle: '', unsupportedReason: '', embedding: false, reranker: false },
  ...{ contextTrain: 4096, parameterCount: 600_000_000, experts: 0, name: 'M' },
};

async function setUp(repositories: Record<string, TestRepository> = { 'ada/M-GGUF': CHAT }) {
  const copies = Object.entries(repositories).map(([id, each]) => [id, { ...each }] as const);
  const hub = await TestHub.open(Object.fromEntries(copies));
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-hub-'));
  const registry = new ModelRegistry(join(dir, 'models.sqlite'));
  const settings = new SettingsService(join(dir, 'settings.json'));
  settings.update({ hubAddress: `${hub.address}/` });
  const files = new ModelFiles(join(dir, 'models'));
  const finished: { path: string; source: HubSource | null }[] = [];
  const inspected: string[] = [];
  const rows: ModelRow[] = [];
  const log = { ...silentLogger, warn: vi.fn(), info: vi.fn() };
  const token = new HubToken({ path: join(dir, 'hub-token.json') });
  const downloads = new Downloads({
    ...{ database: registry.database, files, events: new EventBus(), log },
    ...{ retryMs: 1, stallMs: 5000 },
    headers: (url) => token.headers(url),
    explain: (error, source) => hubFailure(error, source, token),
    onFinished: (path, source) => Promise.resolve(`model ${finished.push({ path, source })}`),
  });
  const models = new Hub({
    ...{ settings, log, events: new EventBus(), dir: files.dir, timeoutMs: 5000 },
    engine: {
      inspect: (path) => {
        inspected.push(path);
        expect(headBytes(readFileSync(path))).toBeDefined();
        return { ...HEADER, fileBytes: statSync(path).size } as unknown as GgufInfo;
      },
      devices: () => [],
    },
    known: {
      fit: ({ header }) => ({ verdict: header.fileBytes > 500_000 ? 'tight' : 'fits' }) as MemoryFit,
      memory: () => ({ free: 2 ** 33, total: 2 ** 33 }),
    },
    registry: { all: () => rows },
    downloads,
    startingPoints: resolvePaths(dir).startingPoints,
    token,
  });
  onTestFinished(async () => {
    hub.close();
    models.close();
    await downloads.close();
    registry.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { ...{ hub, models, downloads, settings, dir, finished, inspected, rows, log, files } };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

function ended({ downloads }: Setup): Promise<Download> {
  return vi.waitFor(
    () => {
      const [download] = downloads.list();
      if (!download || !['done', 'failed'].includes(download.state)) throw new Error(`is ${download?.state}`);
      return download;
    },
    { timeout: 30_000, interval: 5 },
  );
}

describe('searching', () => {
  test('lists repositories page by page, at the address of the settings whatever a page calls the next', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`ada/M${i}-GGUF`, { ...CHAT, downloads: i }]),
    );
    const { hub, models } = await setUp({ ...many, 'bob/other': CHAT });
    hub.pageSize = 2;
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { entries, next } = await models.search('ada/m', cursor);
      seen.push(...entries.map(({ repository }) => repository));
      if (next === '') break;
      cursor = next;
    }
    expect(seen).toEqual([4, 3, 2, 1, 0].map((i) => `ada/M${i}-GGUF`));
    const { entries } = await models.search('bob', '');
    expect(entries[0]).toEqual({
      ...{ repository: 'bob/other', role: 'chat', license: 'apache-2.0', gated: 'no' },
      ...{ downloads: 9, parameterCount: 600_000_000, architecture: 'qwen3' },
      updatedMs: Date.parse('2026-05-04T10:00:00Z'),
    });
  });

  test('tells embedding models and rerankers apart, and goes on without what it cannot read', async () => {
    const { hub, models } = await setUp({
      'a/vectors': { ...CHAT, task: 'sentence-similarity', downloads: 3 },
      'a/Reranker': { ...CHAT, task: 'feature-extraction', downloads: 2 },
      'a/Qwen3-Embedding-0.6B-GGUF': { ...CHAT, downloads: 1.6 },
      'a/Embedded-C-Helper-GGUF': { ...CHAT, downloads: 1.3 },
      'a/pictures': { ...CHAT, task: 'text-to-image', downloads: 1 },
      'a/../evil': { ...CHAT, downloads: 0 },
    });
    hub.repositories['a/vectors']!.tags = [];
    const { entries } = await models.search('', '');
    expect(entries.map(({ role, license }) => [role, license])).toEqual([
      ['embedding', ''],
      ['reranker', 'apache-2.0'],
      ['embedding', 'apache-2.0'],
      ['chat', 'apache-2.0'],
      ['other', 'apache-2.0'],
    ]);
  });

  test.each([
    ['once it may', { 'retry-after': '0' }],
    ['at the time that it names', { 'retry-after': new Date().toUTCString() }],
    ['as a hub tells when', { ratelimit: '"api";r=0;t=0' }],
  ])('asks again after 429, %s', async (_, headers) => {
    const { hub, models } = await setUp();
    let refused = 0;
    hub.instead = (_request, response) => {
      if (refused++ > 0) return false;
      response.writeHead(429, headers).end();
      return true;
    };
    expect((await models.search('', '')).entries).toHaveLength(1);
  });

  test.each<[string, number, Record<string, string>, string, RegExp]>([
    ['429 for long', 429, { 'retry-after': '40' }, 'DOWNLOAD_FAILED', /asks to wait 40 seconds/],
    ['500 for ever', 500, {}, 'DOWNLOAD_FAILED', /status 500/],
    ['401', 401, {}, 'HUB_TOKEN', /without a token/],
    ['404', 404, {}, 'HUB_CHANGED', /no longer has/],
    ['no JSON', 200, {}, 'DOWNLOAD_FAILED', /not JSON/],
  ])('says what %s means', async (_, status, headers, code, message) => {
    const { hub, models } = await setUp();
    hub.instead = (_request, response) => {
      response.writeHead(status, headers).end('<html>');
      return true;
    };
    await expect(models.search('', '')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });

  test('says that there is no connection, also when nothing comes', async () => {
    const { hub, models } = await setUp();
    hub.instead = () => true; // no response
    await expect(models.search('', '')).rejects.toMatchObject({ code: 'HUB_UNREACHABLE' });
    hub.close();
    const { code, message } = (await models
      .search('', '')
      .catch((error: unknown) => error as { code: string; message: string })) as {
      code: string;
      message: string;
    };
    expect(code).toBe('HUB_UNREACHABLE');
    expect(message).toMatch(
      /^127\.0\.0\.1:\d+ cannot be reached \(ECONN\w+\)\. Models on this machine still work/,
    );
    await expect(models.start()).rejects.toMatchObject({ code: 'HUB_UNREACHABLE' });
  });
});

describe('a repository', () => {
  test('has its quantisations, judged by one header that is fetched once, and only as far as it goes', async () => {
    const setup = await setUp();
    const { hub, models, inspected, files } = setup;
    hub.pageSize = 2; // files are paginated too
    const found = await models.repository('ada/M-GGUF');
    expect(found).toMatchObject({
      ...{ repository: 'ada/M-GGUF', revision: SHA, role: 'chat', license: 'apache-2.0', failure: null },
      page: `${hub.address}/ada/M-GGUF`,
      header: { architecture: 'qwen3', contextTrain: 4096, obstacle: null },
      others: [{ path: 'mmproj-F16.gguf', kind: 'projector' }],
    });
    expect(
      found.files.map(({ quantization, bytes, parts, fit, recommended }) => [
        quantization,
        bytes,
        parts,
        fit?.verdict,
        recommended,
      ]),
    ).toEqual([
      ['Q4_K_M', SMALL.length, 1, 'fits', 'largest'],
      ['Q8_0', LARGE.length + PARTS['B/M-Q8_0-00002-of-00002.gguf'].length, 2, 'tight', null],
    ]);
    expect(inspected).toHaveLength(1);
    expect(readdirSync(files.dir)).toEqual([]);
    await models.repository('ada/M-GGUF');
    expect(hub.seen.filter(({ server }) => server === 'files')).toHaveLength(1);
  });

  test('that has only a model in parts is judged by the headers of all', async () => {
    const { hub, models, inspected } = await setUp({ 'ada/M-GGUF': { ...CHAT, files: PARTS } });
    const { header, files } = await models.repository('ada/M-GGUF');
    expect([header?.architecture, files.length, inspected.length]).toEqual(['qwen3', 1, 1]);
    expect(hub.seen.filter(({ server }) => server === 'files')).toHaveLength(2);
  });

  test('that is gated shows its files, and says what to do; the token goes to the hub alone', async () => {
    const setup = await setUp({ 'ada/M-GGUF': { ...CHAT, gated: 'auto' } });
    const { hub, models, log } = setup;
    const without = await models.repository('ada/M-GGUF');
    expect(without).toMatchObject({ gated: 'auto', header: null, failure: { code: 'HUB_GATED' } });
    expect(without.failure?.advice).toContain(
      `Accept its terms on ${hub.address}/ada/M-GGUF, then enter a token`,
    );
    expect(without.files.map(({ recommended }) => recommended)).toEqual(['usual', null]);

    await models.setToken('hf_wrong');
    expect((await models.repository('ada/M-GGUF')).failure?.advice).toContain(
      'the account that your token belongs to',
    );

    expect(await models.setToken(hub.token)).toMatchObject({ token: 'file', keeps: 'file' });
    expect((await models.repository('ada/M-GGUF')).header).not.toBeNull();
    await models.download('ada/M-GGUF', SHA, 'M-Q4_K_M.gguf');
    expect(await ended(setup)).toMatchObject({ state: 'done' });
    const toFiles = hub.seen.filter(({ server }) => server === 'files');
    expect(toFiles.length).toBeGreaterThanOrEqual(2);
    expect(toFiles.map(({ authorization }) => authorization)).toEqual(toFiles.map(() => undefined));
    expect(JSON.stringify([log.info.mock.calls, log.warn.mock.calls])).not.toContain(hub.token);
    for (const name of ['settings.json', 'models.sqlite', 'models.sqlite-wal'].filter((each) =>
      existsSync(join(setup.dir, each)),
    ))
      expect(readFileSync(join(setup.dir, name)).includes(hub.token), name).toBe(false);
  });

  test('knows what of it is in the list of models, and what the hub has replaced since', async () => {
    const { models, rows } = await setUp();
    const [file] = (await models.repository('ada/M-GGUF')).files;
    expect(file?.local).toBeNull();
    const sha256 = 'a'.repeat(64);
    const source = { hub: '', repository: 'ada/M-GGUF', revision: 'old', path: 'M-Q4_K_M.gguf', sha256 };
    rows.push({ id: 'mine', source, header: HEADER as unknown } as ModelRow);
    expect((await models.repository('ada/M-GGUF')).files[0]?.local).toEqual({ id: 'mine', same: false });
  });

  test('whose files are no models is shown with the reason', async () => {
    const { models } = await setUp({
      'ada/M-GGUF': { ...CHAT, files: { 'x-Q8_0.gguf': Buffer.from('no model') } },
    });
    expect(await models.repository('ada/M-GGUF')).toMatchObject({
      header: null,
      failure: { code: 'MODEL_INVALID' },
    });
  });

  test('of a reranker whose header looks like a chat model stays one, and nothing of it is recommended', async () => {
    const { models } = await setUp({ 'ada/M-Reranker-GGUF': CHAT });
    const { role, files } = await models.repository('ada/M-Reranker-GGUF');
    expect([role, ...files.map(({ recommended }) => recommended)]).toEqual(['reranker', null, null]);
  });

  test('that is not there is told no differently from a private one', async () => {
    const { models } = await setUp();
    await expect(models.repository('ada/gone')).rejects.toMatchObject({ code: 'HUB_TOKEN' });
  });
});

describe('a download from a hub', () => {
  test('of a model in parts is one, cut and resumed, and known by its repository and revision', async () => {
    const setup = await setUp();
    setup.hub.cuts = [70_000, 130_000];
    setup.hub.pauseMs = 5;
    let answers = 0;
    setup.hub.etag = () => `"${answers++}"`; // as with servers that do not agree
    const begun = await setup.models.download('ada/M-GGUF', SHA, 'B/M-Q8_0-00001-of-00002.gguf');
    const bytesTotal = LARGE.length + PARTS['B/M-Q8_0-00002-of-00002.gguf'].length;
    expect(begun).toMatchObject({ bytesTotal, name: 'M-Q8_0.gguf' });
    expect(await ended(setup)).toMatchObject({ state: 'done', bytesDone: bytesTotal, modelId: 'model 1' });
    const [{ path, source }] = setup.finished as [(typeof setup.finished)[number]];
    expect(path).toBe(join(setup.files.dir, 'M-Q8_0-00001-of-00002.gguf'));
    expect(source).toMatchObject({
      repository: 'ada/M-GGUF',
      revision: SHA,
      path: 'B/M-Q8_0-00001-of-00002.gguf',
    });
    for (const [name, bytes] of Object.entries(PARTS))
      expect(readFileSync(join(setup.files.dir, name.slice(2))).equals(bytes)).toBe(true);
    expect(readdirSync(setup.files.dir)).toHaveLength(2);
    const ranges = setup.hub.seen.filter(({ server }) => server === 'files').map(({ range }) => range);
    expect(ranges).toEqual([undefined, 'bytes=70000-', 'bytes=200000-', undefined]);
  });

  test('whose sum is wrong is never a model', async () => {
    const setup = await setUp();
    setup.hub.swapped['M-Q4_K_M.gguf'] = Buffer.from(SMALL).fill(7, 1000);
    await setup.models.download('ada/M-GGUF', SHA, 'M-Q4_K_M.gguf');
    expect(await ended(setup)).toMatchObject({ state: 'failed', failure: { code: 'CHECKSUM_MISMATCH' } });
    expect(setup.finished).toEqual([]);
    expect(readdirSync(setup.files.dir)).toEqual([]);
  });

  test.each<[string, (setup: Setup) => void]>([
    ['is of another size', ({ hub }) => void (hub.swapped['M-Q4_K_M.gguf'] = LARGE)],
    [
      'is of a revision that is gone',
      ({ hub }) => void (hub.repositories['ada/M-GGUF']!.sha = 'd'.repeat(40)),
    ],
    ['was removed', ({ hub }) => void (hub.repositories['ada/M-GGUF']!.files = {})],
  ])('says that the file changed when it %s', async (_, change) => {
    const setup = await setUp();
    await setup.models.repository('ada/M-GGUF'); // its file list is cached
    change(setup);
    await setup.models.download('ada/M-GGUF', SHA, 'M-Q4_K_M.gguf');
    expect(await ended(setup)).toMatchObject({ state: 'failed', failure: { code: 'HUB_CHANGED' } });
    expect(setup.finished).toEqual([]);
  });

  test('takes nothing that the repository does not list as a model', async () => {
    const { models } = await setUp();
    for (const path of ['README.md', 'mmproj-F16.gguf', '../M-Q4_K_M.gguf', 'B/M-Q8_0-00002-of-00002.gguf'])
      await expect(models.download('ada/M-GGUF', SHA, path)).rejects.toMatchObject({ code: 'HUB_CHANGED' });
  });
});

test('starting points have their sizes from the hub; one that it does not have is left out', async () => {
  const { models, hub } = await setUp({
    'Qwen/Qwen3-1.7B-GGUF': { ...CHAT, files: { 'Q-Q4_0.gguf': SMALL, 'Q-Q8_0.gguf': LARGE } },
  });
  expect(hub.seen).toEqual([]); // no request yet
  expect(await models.info()).toMatchObject({ token: 'none', machine: { memoryGb: 8, gpu: false } });
  expect(hub.seen).toEqual([]);
  const points = await models.start();
  expect(points).toMatchObject([
    { repository: 'Qwen/Qwen3-1.7B-GGUF', role: 'chat', file: { path: 'Q-Q8_0.gguf', bytes: LARGE.length } },
  ]);
});
