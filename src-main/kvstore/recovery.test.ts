import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../platform/logger.ts';
import { nodeFs, type StoreFs } from './files.ts';
import { ChunkStore, type RecoveryReport } from './store.ts';
import {
  A,
  B,
  C,
  chunkPath,
  fake,
  fakeFiles,
  fill,
  flip,
  FakeModel,
  held,
  model,
  openTestStore,
  storeFor,
  take,
  tempDir,
  touch,
} from '../testing/store.ts';

/** A closed store containing the first `count` chunks. */
async function closedStore(count: number): Promise<string> {
  const { dir, store } = await storeFor(9);
  await fill(store, count);
  await store.close();
  return dir;
}

const CLEAN: Partial<RecoveryReport> = {
  tempFilesRemoved: 0,
  adopted: 0,
  duplicatesRemoved: 0,
  rowsDropped: 0,
  quarantined: [],
  newerFormat: [],
  ignored: [],
  evicted: 0,
  indexSetAside: undefined,
};

async function expectServedRight(store: ChunkStore, key: string): Promise<void> {
  const lease = await take(store, key);
  expect(fake(lease.chunk).isRight()).toBe(true);
  lease.release();
}

describe('reconciling files and rows', () => {
  test('nothing to do after a clean close', async () => {
    const store = await openTestStore({ dir: await closedStore(2) });
    expect(store.recovery).toMatchObject(CLEAN);
    expect(store.recovery.ms).toBeGreaterThan(0);
  });

  test('temporary files are removed', async () => {
    const dir = await closedStore(1);
    writeFileSync(join(dir, 'tmp', 'half'), 'x');
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject({ ...CLEAN, tempFilesRemoved: 1 });
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('what the store would not have put into its folders is left alone', async () => {
    const dir = await closedStore(1);
    mkdirSync(join(dir, 'tmp', 'folder'));
    symlinkSync(join(dir, 'nowhere'), join(dir, 'quarantine', 'dangling'));
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject({ ...CLEAN, ignored: ['tmp/folder'] });
    expect(store.stats()).toMatchObject({ entries: 1, quarantine: { files: 0 } });
    expect(readdirSync(join(dir, 'quarantine'))).toEqual(['dangling']);
  });

  test("a folder in a chunk's place is set aside: by a check, which goes on, and by storing the chunk", async () => {
    const dir = await closedStore(3);
    const store = await openTestStore({ dir });
    for (const key of [A, C]) {
      rmSync(chunkPath(dir, key));
      mkdirSync(join(chunkPath(dir, key), 'inside'), { recursive: true });
    }
    expect(await store.verify()).toMatchObject({
      checked: 3,
      ok: 1,
      corrupt: [A, C].sort().map((key) => ({ key })),
    });
    expect(held(store, [A, B, C])).toEqual([false, true, false]);
    mkdirSync(join(chunkPath(dir, A), 'inside'), { recursive: true });
    await fill(store, 1);
    await expectServedRight(store, A);
    await store.close();
    expect((await openTestStore({ dir })).recovery).toMatchObject(CLEAN);
  });

  test('a row without a file is dropped', async () => {
    const dir = await closedStore(2);
    rmSync(chunkPath(dir, A));
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject({ ...CLEAN, rowsDropped: 1 });
    expect(held(store, [A, B])).toEqual([false, true]);
  });

  test('a file of another size than its row says is quarantined', async () => {
    const dir = await closedStore(2);
    writeFileSync(chunkPath(dir, A), readFileSync(chunkPath(dir, A)).subarray(0, 500));
    const store = await openTestStore({ dir });
    expect(store.recovery.quarantined).toMatchObject([
      { reason: expect.stringMatching(/500 bytes/) as string },
    ]);
    expect(held(store, [A, B])).toEqual([false, true]);
    expect(store.stats()).toMatchObject({ entries: 1, quarantine: { files: 1 } });
  });

  test('files without rows are adopted, with all that their headers say', async () => {
    const dir = await closedStore(2);
    const before = await listOf(dir);
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dir, `index.db${suffix}`), { force: true });
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject({ ...CLEAN, adopted: 2 });
    const known = store
      .list()
      .map(({ key, fingerprint, prefixHash, dtype, layers, tokens, bytes, formatVersion }) => ({
        ...{ key, fingerprint, prefixHash, dtype, layers, tokens, bytes, formatVersion },
      }));
    expect(before).toEqual(
      expect.arrayContaining(known.map((entry): unknown => expect.objectContaining(entry))),
    );
    await expectServedRight(store, A);
  });

  const strays: [string, RegExp, (dir: string) => void][] = [
    ['a damaged header', /damaged/, (dir) => flip(chunkPath(dir, A), 0)],
    [
      'missing bytes',
      /size/,
      (dir) => writeFileSync(chunkPath(dir, A), readFileSync(chunkPath(dir, A)).subarray(0, -1)),
    ],
    [
      "another chunk's contents",
      /another key/,
      (dir) => writeFileSync(chunkPath(dir, A), readFileSync(chunkPath(dir, B))),
    ],
    ['another version in its name', /versions/, (dir) => renameSync(chunkPath(dir, A), chunkPath(dir, A, 3))],
  ];
  test.each(strays)('a file without a row and with %s is quarantined', async (_, reason, damage) => {
    const dir = await closedStore(2);
    rmSync(join(dir, 'index.db'));
    damage(dir);
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject({ adopted: 1, quarantined: [{ reason }] });
    expect(held(store, [A, B])).toEqual([false, true]);
  });

  test('a header that says another size than the file has is not believed', async () => {
    const dir = await closedStore(1);
    rmSync(join(dir, 'index.db'));
    const files = {
      ...fakeFiles,
      readChunkHeader: async (path: string) => ({ ...(await fakeFiles.readChunkHeader(path)), fileBytes: 7 }),
    };
    const store = await openTestStore({ dir, files });
    expect(store.recovery).toMatchObject({
      adopted: 0,
      quarantined: [{ reason: expect.stringMatching(/says 7 bytes/) as string }],
    });
  });

  test('a second file under one key is removed', async () => {
    const dir = await closedStore(1);
    const files = {
      ...fakeFiles,
      // A reader that also knows version 2.
      readChunkHeader: async (path: string) => ({
        ...(await fakeFiles.readChunkHeader(path)),
        version: path.includes('.v2.') ? 2 : 1,
      }),
    };
    writeFileSync(chunkPath(dir, A, 2), readFileSync(chunkPath(dir, A)));
    const store = await openTestStore({ dir, files });
    expect(store.recovery).toMatchObject({ ...CLEAN, duplicatesRemoved: 1 });
    expect(existsSync(chunkPath(dir, A, 2))).toBe(false);
    await store.close();
    writeFileSync(chunkPath(dir, A, 2), readFileSync(chunkPath(dir, A)));
    rmSync(join(dir, 'index.db'));
    const rebuilt = await openTestStore({ dir, files });
    expect(rebuilt.recovery).toMatchObject({ ...CLEAN, adopted: 1, duplicatesRemoved: 1 });
    expect(rebuilt.list()).toMatchObject([{ key: A, formatVersion: 2 }]);
  });

  test('files that are not ours stay where they are', async () => {
    const dir = await closedStore(1);
    const notes = [
      'chunks/readme.txt',
      'chunks/zz/note',
      `chunks/${A.slice(0, 2)}/${A}.kvc`,
      `chunks/zz/${A}.v1.kvc`,
    ];
    mkdirSync(join(dir, 'chunks', 'zz'));
    for (const note of notes) writeFileSync(join(dir, note), 'mine');
    const store = await openTestStore({ dir });
    expect(store.recovery.ignored.sort()).toEqual(notes.sort());
    expect(notes.every((note) => existsSync(join(dir, note)))).toBe(true);
    expect(store.stats().entries).toBe(1);
  });
});

async function listOf(dir: string) {
  const store = await ChunkStore.open({ dir, diskBudgetBytes: 1e9, ramBudgetBytes: 0, files: fakeFiles });
  const list = store.list();
  await store.close();
  return list;
}

/**
 * Copies the store's folder before and after each change: the state after a kill at that point. (SQLite's transactions
 * are atomic, so there is nothing to see inside one.)
 */
class CrashCamera {
  readonly shots: { at: string; dir: string }[] = [];
  readonly fs: StoreFs;
  dir: string;
  on = false;

  constructor(dir: string) {
    this.dir = dir;
    const shoot = this.#shoot.bind(this);
    const around = async <T>(at: string, change: () => Promise<T>): Promise<T> => {
      shoot(`before ${at}`);
      const result = await change();
      shoot(`after ${at}`);
      return result;
    };
    this.fs = {
      ...nodeFs,
      makeDir: (path) => around('makeDir', () => nodeFs.makeDir(path)),
      rename: (from, to) => around('rename', () => nodeFs.rename(from, to)),
      unlink: (path) => around('unlink', () => nodeFs.unlink(path)),
      syncDir: (path) => around('syncDir', () => nodeFs.syncDir(path)),
    };
  }

  #shoot(at: string): void {
    if (!this.on) return;
    const copy = join(tempDir(), 'store');
    cpSync(this.dir, copy, { recursive: true });
    this.shots.push({ at, dir: copy });
  }
}

/**
 * Opens each crash state: everything served is right, rows and files agree, and a second start finds nothing to repair.
 */
async function survive(
  camera: CrashCamera,
  budget: number,
  mustHold: string[],
  mayHold: string[],
): Promise<void> {
  expect(camera.shots.length).toBeGreaterThan(1);
  for (const { at, dir } of camera.shots) {
    const store = await openTestStore({ dir, diskBudgetBytes: budget });
    const keys = store.list().map((entry) => entry.key);
    expect(keys, at).toEqual(expect.arrayContaining(mustHold));
    expect([...mustHold, ...mayHold], at).toEqual(expect.arrayContaining(keys));
    for (const key of keys) await expectServedRight(store, key);
    expect(await store.verify(), at).toMatchObject({ checked: keys.length, ok: keys.length });
    expect(store.stats().bytes, at).toBeLessThanOrEqual(budget);
    expect(readdirSync(join(dir, 'tmp')), at).toEqual([]);
    const files = readdirSync(join(dir, 'chunks'), { recursive: true }).filter((name) =>
      String(name).endsWith('.kvc'),
    );
    expect(files, at).toHaveLength(keys.length);
    await store.close();
    const again = await openTestStore({ dir, diskBudgetBytes: budget });
    expect(again.recovery, at).toMatchObject(CLEAN);
    await again.close();
  }
}

describe('a crash at every step of', () => {
  async function filmed(room: number, count: number) {
    const { each } = await storeFor(1);
    const dir = tempDir();
    const camera = new CrashCamera(dir);
    const budget = each * room;
    const store = await openTestStore({ dir, diskBudgetBytes: budget, fs: camera.fs });
    await fill(store, count);
    camera.on = true;
    return { camera, store, budget, dir };
  }

  test('put', async () => {
    const { camera, store, budget } = await filmed(9, 2);
    await store.put(C, model.encode(12).chunk);
    camera.on = false;
    expect(camera.shots.map((shot) => shot.at)).toEqual(
      ['makeDir', 'rename', 'syncDir', 'syncDir'].flatMap((step) => [`before ${step}`, `after ${step}`]),
    );
    await survive(camera, budget, [A, B], [C]);
  });

  test('put with eviction', async () => {
    const { camera, store, budget } = await filmed(2, 2);
    await store.put(C, model.encode(12).chunk);
    camera.on = false;
    // Once the new file is in place a restart may have to evict B for it, never more.
    await survive(camera, budget, [], [A, B, C]);
    for (const { dir } of camera.shots) expect((await listOf(dir)).length).toBeGreaterThanOrEqual(1);
  });

  test('evict', async () => {
    const { camera, store, budget } = await filmed(9, 3);
    store.pin(B);
    await store.evict({ all: true });
    camera.on = false;
    await survive(camera, budget, [B], [A, C]);
  });

  test('quarantine', async () => {
    const { camera, store, budget, dir } = await filmed(9, 3);
    flip(chunkPath(dir, A), 0);
    expect(await store.acquire(A, model)).toBeUndefined();
    camera.on = false;
    // Before the rename the damaged file, of the right size, still has its row: detected when it is opened.
    for (const shot of camera.shots) {
      const again = await openTestStore({ dir: shot.dir });
      expect(await again.acquire(A, model), shot.at).toBeUndefined();
      await again.close();
    }
    await survive(camera, budget, [B, C], []);
  });

  test('the first start', async () => {
    const dir = tempDir();
    const camera = new CrashCamera(dir);
    camera.on = true;
    await openTestStore({ dir, fs: camera.fs });
    camera.on = false;
    await survive(camera, 1e9, [], []);
  });

  test('recovery itself', async () => {
    const dir = await closedStore(3);
    writeFileSync(join(dir, 'tmp', 'half'), 'x');
    writeFileSync(chunkPath(dir, A), 'bad');
    writeFileSync(join(dir, 'index.db'), 'not a database');
    const camera = new CrashCamera(dir);
    camera.on = true;
    const store = await openTestStore({ dir, fs: camera.fs });
    camera.on = false;
    expect(store.recovery).toMatchObject({ tempFilesRemoved: 1, adopted: 2, quarantined: [{}] });
    await survive(camera, 1e9, [B, C], []);
  });
});

test('a file is durable before it gets its name, and has its name before it gets its row', async () => {
  const steps: string[] = [];
  const dir = tempDir();
  const note =
    <P extends unknown[], R>(name: string, call: (...args: P) => R) =>
    (...args: P): R => {
      steps.push(`${name}${store?.has(A) ? ' with row' : ''}`);
      return call(...args);
    };
  const fs: StoreFs = {
    ...nodeFs,
    rename: note('rename', (from: string, to: string) => nodeFs.rename(from, to)),
    syncDir: note('syncDir', (path: string) => nodeFs.syncDir(path)),
  };
  let store: ChunkStore | undefined = undefined;
  store = await openTestStore({ dir, fs });
  const { key, chunk } = model.encode(10);
  const save = fake(chunk).save.bind(chunk.native);
  fake(chunk).save = note('save', save);
  await store.put(key, chunk);
  expect(steps).toEqual(['save', 'rename', 'syncDir', 'syncDir']);
  expect(store.has(key)).toBe(true);
});

function destroyIndex(path: string, name: string): void {
  const db = new Database(path, { readonly: true });
  const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name);
  db.close();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  writeFileSync(path, readFileSync(path).fill(0xa5, (Number(page) - 1) * 4096, Number(page) * 4096));
}

describe('an unreadable index', () => {
  const damages: [string, (path: string) => void][] = [
    ['garbage', (path) => writeFileSync(path, 'not a database at all')],
    ['a destroyed page', (path) => writeFileSync(path, readFileSync(path).fill(0xa5, 4096, 8192))],
    ['half of it missing', (path) => writeFileSync(path, readFileSync(path).subarray(0, 5000))],
    ['a destroyed page that only eviction would read', (path) => destroyIndex(path, 'chunks_by_use')],
    ['zeroes', (path) => writeFileSync(path, readFileSync(path).fill(0))],
  ];
  test.each(damages)('%s: set aside, never deleted, rebuilt from the files', async (_, damage) => {
    const dir = await closedStore(3);
    damage(join(dir, 'index.db'));
    const bytes = readFileSync(join(dir, 'index.db'));
    const logged: unknown[] = [];
    const store = await openTestStore({
      dir,
      log: { ...silentLogger, error: (...said) => void logged.push(...said) },
    });
    const aside = store.recovery.indexSetAside;
    expect(aside).toMatch(/index\.db\.corrupt-\d{8}T/);
    expect(readFileSync(aside ?? '').equals(bytes)).toBe(true);
    expect(store.recovery).toMatchObject({ adopted: 3 });
    expect(logged).toContainEqual({ keptAt: aside });
    await expectServedRight(store, A);
    await store.close();
    expect((await openTestStore({ dir })).recovery).toMatchObject(CLEAN);
  });

  test('an empty file is a new index', async () => {
    const dir = await closedStore(2);
    writeFileSync(join(dir, 'index.db'), '');
    expect((await openTestStore({ dir })).recovery).toMatchObject({ ...CLEAN, adopted: 2 });
  });

  test('a large one is not read through at a start, until something in it could not be read', async () => {
    const dir = await closedStore(3);
    const path = join(dir, 'index.db');
    const enlarge = (): void => truncateSync(path, 33 * 2 ** 20); // takes no space
    destroyIndex(path, 'chunks_by_group');
    enlarge();
    const store = await openTestStore({ dir });
    expect(store.recovery).toMatchObject(CLEAN);
    expect(existsSync(`${path}.suspect`)).toBe(false);
    await expect(store.evict({ all: true })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(existsSync(`${path}.suspect`)).toBe(true);
    await store.close();
    enlarge();
    const again = await openTestStore({ dir });
    expect(again.recovery).toMatchObject({
      adopted: 3,
      indexSetAside: expect.stringContaining('.corrupt-') as string,
    });
    expect(existsSync(`${path}.suspect`)).toBe(false);
    expect(await again.evict({ all: true })).toMatchObject({ entries: 3 });
  });

  test('two in the same millisecond do not overwrite each other', async () => {
    const dir = await closedStore(1);
    for (let i = 0; i < 3; i++) {
      writeFileSync(join(dir, 'index.db'), `garbage ${i}`);
      await (await openTestStore({ dir, clock: () => 1e12 })).close();
    }
    const kept = readdirSync(dir).filter((name) => name.includes('.corrupt-'));
    expect(kept.map((name) => readFileSync(join(dir, name), 'utf8')).sort()).toEqual([
      'garbage 0',
      'garbage 1',
      'garbage 2',
    ]);
  });

  test('a garbage lock file is no obstacle', async () => {
    const dir = await closedStore(1);
    writeFileSync(join(dir, 'lock.db'), 'garbage, too long for anyone to take it for a database header');
    expect((await openTestStore({ dir })).recovery).toMatchObject(CLEAN);
  });
});

test('uses are written in batches, and the last ones by close', async () => {
  const { dir, store } = await storeFor(9);
  await fill(store, 2);
  for (let i = 0; i < 70; i++) await touch(store, A);
  await store.close();
  expect((await openTestStore({ dir })).list()[0]).toMatchObject({ key: A, hits: 70 });
});

test('a chunk of a model that is not there stays, and is served when the model is back', async () => {
  const other = new FakeModel('c'.repeat(64));
  const { dir, store } = await storeFor(9);
  const { key, chunk } = other.encode(10);
  await store.put(key, chunk);
  await store.close();
  const again = await openTestStore({ dir });
  expect(again.list({ fingerprint: other.fingerprint })).toMatchObject([{ key }]);
  expect(again.list({ fingerprint: model.fingerprint })).toEqual([]);
  expect(fake((await take(again, key, other)).chunk).isRight()).toBe(true);
});
