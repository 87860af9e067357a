import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeFs } from './files.ts';
import { prepareFolder, type AddedFolder, type ChunkStore, type StoreOptions } from './store.ts';
import {
  A,
  B,
  C,
  D,
  chunkPath,
  fake,
  fakeFiles,
  FakeModel,
  fileBytes,
  fill,
  flip,
  hasFile,
  held,
  model,
  openTestStore,
  take,
  tempDir,
  touch,
} from '../testing/store.ts';

/** Chunk files of FakeModel are of equal size. */
const EACH = fileBytes('/tmp', model, 10, 1000);

const NONE = { chunks: 0, bytes: 0 };

/** A store with room for `own` chunks, and a folder on another disk with room for `more`. */
async function twoFolders(own: number, more: number, options: Partial<StoreOptions> = {}) {
  const [dir, disk] = [tempDir(), tempDir()];
  const added: AddedFolder = { id: await prepareFolder(disk), path: disk, budgetBytes: more * EACH };
  const open = (): Promise<ChunkStore> =>
    openTestStore({ dir, diskBudgetBytes: own * EACH, folders: [added], ...options });
  return { dir, disk: join(disk, 'kvasir-cache'), added, open, store: await open() };
}

/** A drive that is unplugged leaves its mount point, which is empty. */
function unplug(disk: string): () => void {
  renameSync(disk, `${disk}-unplugged`);
  return () => renameSync(`${disk}-unplugged`, disk);
}

function folders(store: ChunkStore): Record<string, string> {
  return Object.fromEntries(store.list().map(({ key, folder }) => [key, folder]));
}

describe('a folder beside the store’s own', () => {
  test('takes what does not fit, and serves it, also after another start', async () => {
    const { dir, disk, added, open, store } = await twoFolders(2, 2);
    await fill(store, 4);
    expect(folders(store)).toEqual({ [A]: added.id, [B]: added.id, [C]: '', [D]: '' });
    expect([hasFile(dir, A), hasFile(disk, A), hasFile(dir, D)]).toEqual([false, true, true]);
    await store.close();
    const again = await open();
    expect(again.recovery).toMatchObject({ rowsDropped: 0, adopted: 0 });
    const lease = await take(again, A);
    expect(lease).toMatchObject({ tier: 'disk', folder: added.id });
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
    expect(again.stats()).toMatchObject({
      ...{ entries: 4, bytes: 4 * EACH, diskBudgetBytes: 4 * EACH },
      folders: [
        { id: '', state: 'ready', entries: 2, bytes: 2 * EACH, budgetBytes: 2 * EACH },
        { id: added.id, state: 'ready', entries: 2, bytes: 2 * EACH, budgetBytes: 2 * EACH },
      ],
    });
  });

  test('is locked: a second store does not use it, and does once the first is closed', async () => {
    const { added, store } = await twoFolders(2, 2);
    await fill(store, 3);
    const other = await openTestStore({ dir: tempDir(), folders: [added] });
    expect(other.stats().folders[1]).toMatchObject({ state: 'in-use', entries: 0 });
    await store.close();
    await other.folders.check();
    expect(other.stats().folders[1]).toMatchObject({ state: 'ready', entries: 1 });
    expect(other.has(A)).toBe(true);
  });

  test('is verified, and has its own quarantine', async () => {
    const { disk, store } = await twoFolders(1, 2);
    await fill(store, 3);
    flip(chunkPath(disk, A), -1);
    const { checked, corrupt, missing } = await store.verify();
    expect({ checked, corrupt: corrupt.map(({ key }) => key), missing }).toEqual({
      ...{ checked: 3, missing: [] },
      corrupt: [A],
    });
    expect(readdirSync(join(disk, 'quarantine'))).toHaveLength(1);
    expect(store.stats().quarantine).toMatchObject({ files: 1, bytes: EACH });
    expect(held(store, [A, B, C])).toEqual([false, true, true]);
  });

  test.skipIf(process.platform === 'win32')('is closed to other users', async () => {
    const disk = tempDir();
    await prepareFolder(disk);
    expect(statSync(join(disk, 'kvasir-cache')).mode & 0o777).toBe(0o700);
  });

  test('that somebody else filled is left alone', async () => {
    const disk = tempDir();
    writeFileSync(join(disk, 'thesis.txt'), 'mine');
    const id = await prepareFolder(disk);
    expect(await prepareFolder(disk)).toBe(id);
    const store = await openTestStore({ dir: tempDir(), diskBudgetBytes: EACH });
    await store.folders.set({ id, path: disk, budgetBytes: EACH });
    await fill(store, 2);
    expect(readdirSync(disk).sort()).toEqual(['kvasir-cache', 'thesis.txt']);
    await store.folders.remove(id);
    expect(readdirSync(disk)).toEqual(['thesis.txt']);
  });
});

describe('a folder that is not connected', () => {
  test('has its chunks listed but not served, and serves them when it is back', async () => {
    const { disk, added, store } = await twoFolders(1, 2);
    await fill(store, 3);
    store.pin(A);
    const plug = unplug(disk);
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ state: 'not-connected', entries: 2 });
    expect([...held(store, [A, B, C]), store.isAway(A)]).toEqual([false, false, true, true]);
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.list().map(({ key, away }) => [key, away])).toEqual([
      ...[[C, false]],
      ...[[B, true]],
      ...[[A, true]],
    ]);
    expect(await store.verify()).toMatchObject({ checked: 1, missing: [] });
    plug();
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ id: added.id, state: 'ready', entries: 2 });
    await touch(store, A);
    expect(store.list({ pinned: true })).toMatchObject([{ key: A, pinned: true }]);
  });

  test('a chunk read while it goes is a miss, and nothing of it is forgotten', async () => {
    const { disk, store } = await twoFolders(1, 2);
    await fill(store, 3);
    const plug = unplug(disk);
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.stats().folders[1]).toMatchObject({ state: 'not-connected', entries: 2 });
    plug();
    await store.folders.check();
    await touch(store, A);
  });

  test('is noticed, going and coming, without being looked for', async () => {
    const { disk, store } = await twoFolders(1, 2, { folderPollMs: 10 });
    let told = 0;
    store.folders.onChange(() => told++);
    await fill(store, 3);
    const plug = unplug(disk);
    await expect.poll(() => store.has(A)).toBe(false);
    await expect.poll(() => told).toBe(1);
    plug();
    await expect.poll(() => store.has(A)).toBe(true);
    await expect.poll(() => told).toBe(2);
  });

  test('at the start, too', async () => {
    const { disk, open, store } = await twoFolders(1, 2);
    await fill(store, 3);
    await store.close();
    const plug = unplug(disk);
    const again = await open();
    expect(again.recovery.rowsDropped).toBe(0);
    expect(held(again, [A, B, C])).toEqual([false, false, true]);
    plug();
    await again.folders.check();
    expect(held(again, [A, B, C])).toEqual([true, true, true]);
  });

  test('a chunk that is being stored again when it comes back stays as it was', async () => {
    const { dir, disk, added, store } = await twoFolders(2, 2);
    await fill(store, 3);
    const [key = ''] = Object.entries(folders(store)).find(([, folder]) => folder === added.id) ?? [];
    const plug = unplug(disk);
    await store.folders.check();
    const { chunk } = model.encode(10 + [A, B, C].indexOf(key));
    const { promise: isBack, resolve } = Promise.withResolvers<undefined>();
    const saving = store.put(key, {
      bytes: chunk.bytes,
      save: async (path) => {
        await isBack;
        return chunk.save(path);
      },
    });
    plug();
    await store.folders.check();
    resolve(undefined);
    await saving;
    expect(folders(store)[key]).toBe(added.id);
    expect([hasFile(dir, key), hasFile(disk, key)]).toEqual([false, true]);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
    await store.folders.remove(added.id);
    expect(existsSync(disk)).toBe(false);
  });

  test('a chunk that is stored again meanwhile is there once', async () => {
    const { dir, disk, store } = await twoFolders(2, 2);
    await fill(store, 3);
    const plug = unplug(disk);
    await store.folders.check();
    await fill(store, 1);
    expect([hasFile(dir, A), folders(store)[A]]).toEqual([true, '']);
    plug();
    await store.folders.check();
    expect([hasFile(disk, A), folders(store)[A]]).toEqual([false, '']);
    expect(store.list().filter(({ key }) => key === A)).toHaveLength(1);
  });

  test('what is deleted meanwhile is deleted when it is back', async () => {
    const { disk, open, store } = await twoFolders(1, 2);
    await fill(store, 3);
    const plug = unplug(disk);
    await store.folders.check();
    // Only what frees space now counts towards a number of bytes.
    expect(await store.evict({ bytes: 3 * EACH })).toMatchObject({ entries: 1, bytes: EACH });
    expect(await store.evict({ keys: [A] })).toMatchObject({ entries: 1, kept: 0 });
    expect(store.list().map(({ key }) => key)).toEqual([B]);
    await store.close();
    plug();
    const again = await open();
    expect([hasFile(disk, A), hasFile(disk, B)]).toEqual([false, true]);
    expect(again.list().map(({ key }) => key)).toEqual([B]);
  });

  test('what is deleted as the drive goes does not come back with it', async () => {
    const { disk, store } = await twoFolders(1, 2);
    await fill(store, 3);
    const plug = unplug(disk);
    await store.evict({ keys: [A] });
    expect(store.isAway(A)).toBe(false);
    plug();
    await store.folders.check();
    expect([hasFile(disk, A), store.has(A), store.has(B)]).toEqual([false, false, true]);
  });

  test('that cannot be written leaves new chunks to the store’s own', async () => {
    const { disk, added, store } = await twoFolders(2, 99);
    store.folders.rankBy(() => [
      { id: added.id, addsDelay: false },
      { id: '', addsDelay: false },
    ]);
    unplug(disk);
    await fill(store, 1);
    expect(folders(store)).toEqual({ [A]: '' });
    expect(store.stats().folders[1]).toMatchObject({ state: 'not-connected' });
  });
});

describe('recovery', () => {
  test('a move that was interrupted leaves one file, wherever it stopped', async () => {
    const { dir, disk, open, store } = await twoFolders(2, 2);
    await fill(store, 3);
    await store.close();
    const copy = (from: string, to: string, key: string): void => {
      const target = chunkPath(to, key);
      for (const path of [join(to, 'chunks', key.slice(0, 2))]) if (!existsSync(path)) mkdirSync(path);
      cpSync(chunkPath(from, key), target);
    };
    copy(disk, dir, A); // before the row, on the way up
    copy(dir, disk, B); // the same, on the way down
    writeFileSync(join(disk, 'tmp', `${C}.1-0`), 'half');
    const again = await open();
    const at = folders(again);
    for (const key of [A, B, C]) {
      expect([hasFile(dir, key), hasFile(disk, key)]).toEqual([at[key] === '', at[key] !== '']);
      await touch(again, key);
    }
    expect(readdirSync(join(disk, 'tmp'))).toEqual([]);
    expect(again.stats().entries).toBe(3);
  });

  test('an index that was lost is rebuilt from all folders', async () => {
    const { dir, open, added, store } = await twoFolders(2, 2);
    await fill(store, 3);
    await store.close();
    rmSync(join(dir, 'index.db'));
    const again = await open();
    expect(folders(again)).toEqual({ [A]: added.id, [B]: '', [C]: '' });
    await touch(again, A);
  });

  test('a folder that is no longer named is forgotten, and its chunks are found when it is named again', async () => {
    const { dir, open, store } = await twoFolders(2, 2);
    await fill(store, 3);
    await store.close();
    const without = await openTestStore({ dir });
    expect(held(without, [A, B, C])).toEqual([false, true, true]);
    await without.close();
    expect(held(await open(), [A, B, C])).toEqual([true, true, true]);
  });
});

describe('a folder that is no longer named', () => {
  test('keeps its files, its pins and what was deleted meanwhile for when it is named again', async () => {
    const { dir, disk, open, store } = await twoFolders(1, 3);
    await fill(store, 4);
    for (const key of [A, B]) store.pin(key);
    await store.close();
    const without = await openTestStore({ dir });
    expect(without.recovery.unlisted).toEqual([{ chunks: 3, pinned: 2 }]);
    expect(without.list().map(({ key, pinned, away }) => [key, pinned, away])).toEqual([
      [D, false, false],
      [B, true, true],
      [A, true, true],
    ]);
    without.unpin(B);
    await without.evict({ keys: [B] });
    await without.close();
    expect([A, B, C].map((key) => hasFile(disk, key))).toEqual([true, true, true]);
    const again = await open();
    expect(held(again, [A, B, C, D])).toEqual([true, false, true, true]);
    expect(again.list({ pinned: true })).toMatchObject([{ key: A }]);
    expect([again.recovery.unlisted, hasFile(disk, B)]).toEqual([[], false]);
  });

  test('while the store is open keeps them too', async () => {
    const { disk, added, store } = await twoFolders(1, 3);
    await fill(store, 3);
    store.pin(A);
    expect(await store.folders.detach(added.id)).toEqual({ chunks: 2, pinned: 1 });
    expect(store.stats()).toMatchObject({ entries: 1, folders: [{ id: '' }] });
    expect([...held(store, [A, B, C]), store.isAway(A)]).toEqual([false, false, true, true]);
    expect([hasFile(disk, A), hasFile(disk, B)]).toEqual([true, true]);
    await store.folders.set(added);
    expect(held(store, [A, B, C])).toEqual([true, true, true]);
    expect(store.list({ pinned: true })).toMatchObject([{ key: A }]);
  });
});

/** A store with A on a drive, of which nothing can be opened until `respond` is called. */
async function hangingDrive() {
  const parts = await twoFolders(1, 3, { folderPatienceMs: 50 });
  await fill(parts.store, 2);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const respond = (): void => resolve(undefined);
  onTestFinished(respond);
  const opener = new FakeModel();
  opener.onOpen = (path) => (path.startsWith(parts.disk) ? promise : undefined);
  return { ...parts, opener, respond };
}

describe('a drive that hangs', () => {
  test('makes its chunks misses, and counts as not connected until it responds', async () => {
    const { store, added, opener, respond } = await hangingDrive();
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '' });
    expect(await store.acquire(A, opener)).toBeUndefined();
    const state = { state: 'not-responding', problem: '', entries: 1 };
    expect(store.stats().folders[1]).toMatchObject(state);
    expect([store.has(A), store.isAway(A)]).toEqual([false, true]);
    const lease = await store.acquire(B, opener);
    expect(lease?.key).toBe(B);
    lease?.release();
    respond();
    await expect.poll(() => opener.opened.length).toBe(2);
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ state: 'ready', problem: '', entries: 1 });
    expect((await store.acquire(A, opener))?.key).toBe(A);
    const { tokens } = model.encode(10).chunk;
    const ofA = opener.opened.filter((each) => String(each.tokens) === String(tokens));
    expect(ofA.map(({ disposed }) => disposed)).toEqual([true, false]); // the first was opened too late
  });

  test('delays no search for similar chunks, and no deletion', async () => {
    const never = new Promise<never>(() => undefined);
    let hangs = false;
    const files = {
      ...fakeFiles,
      readChunkHeader: (path: string) =>
        hangs && path.startsWith(drive) ? never : fakeFiles.readChunkHeader(path),
    };
    const { store, disk: drive, added } = await twoFolders(3, 300, { folderPatienceMs: 50, files });
    store.folders.rankBy(() => [{ id: added.id, addsDelay: false }]);
    const tokens = Int32Array.from({ length: 64 }, (_, i) => 1000 + i);
    const { key, chunk } = model.encodeTokens(tokens);
    await store.put(key, chunk);
    const text = { fingerprint: model.fingerprint, dtype: 'f16', tokens } as const;
    expect(await store.similar(text)).toMatchObject([{ key }]);
    hangs = true;
    expect(await store.similar(text)).toEqual([]);
    expect(store.stats().folders[1]).toMatchObject({ id: added.id, state: 'not-responding' });
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1 });
  });

  test('leaves a new chunk to the store’s own folder, and keeps nothing of it', async () => {
    const { store, disk, added } = await twoFolders(3, 300, { folderPatienceMs: 50 });
    store.folders.rankBy(() => [{ id: added.id, addsDelay: false }]);
    const { key, chunk } = model.encode(10);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    onTestFinished(() => resolve(undefined));
    const native = fake(chunk);
    const save = native.save.bind(native);
    native.save = async (path) => {
      if (path.startsWith(disk)) await promise;
      return save(path);
    };
    await store.put(key, chunk);
    expect(folders(store)).toEqual({ [A]: '' });
    expect(store.stats().folders[1]).toMatchObject({ state: 'not-responding', problem: '' });
    resolve(undefined);
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ state: 'ready' });
    await expect.poll(() => readdirSync(join(disk, 'tmp'))).toEqual([]);
  });

  test.skipIf(process.platform === 'win32')('is noticed when a layer could not be read in time', async () => {
    const { store, disk, added } = await twoFolders(1, 3, { folderPatienceMs: 50 });
    await fill(store, 2);
    const [marker, aside] = [join(disk, 'folder.json'), join(disk, 'aside')];
    renameSync(marker, aside);
    execFileSync('mkfifo', [marker]); // reading it waits for a writer
    await store.reportUnreadable(A);
    expect(store.stats().folders[1]).toMatchObject({ id: added.id, state: 'not-responding' });
    expect([store.isAway(A), store.has(B)]).toEqual([true, true]);
    writeFileSync(marker, ''); // it responds
    renameSync(aside, marker);
    await expect
      .poll(() => store.folders.check().then(() => store.stats().folders[1]))
      .toMatchObject({ state: 'ready' });
  });

  test('does not hold up a check of all files', async () => {
    const never = new Promise<never>(() => undefined);
    const verifyChunk = (path: string) => (path.startsWith(drive) ? never : fakeFiles.verifyChunk(path));
    const files = { ...fakeFiles, verifyChunk };
    const { store, disk: drive, added } = await twoFolders(1, 3, { folderPatienceMs: 50, files });
    await fill(store, 3);
    const { checked, ok, corrupt } = await store.verify();
    expect({ checked, ok, corrupt: corrupt.length }).toEqual({ checked: 2, ok: 1, corrupt: 1 });
    expect(store.stats().folders[1]).toMatchObject({ id: added.id, state: 'not-responding', entries: 2 });
  });

  test('is not waited for while it is being connected', async () => {
    const never = new Promise<never>(() => undefined);
    let hangs = false;
    const space = (path: string) => (hangs && path.startsWith(drive) ? never : nodeFs.space(path));
    const { store, disk: drive } = await twoFolders(1, 3, { folderPatienceMs: 50, fs: { ...nodeFs, space } });
    const plug = unplug(drive);
    await store.folders.check();
    plug();
    hangs = true;
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ state: 'not-responding', problem: '' });
    hangs = false;
    await store.folders.check();
    expect(store.stats().folders[1]).toMatchObject({ state: 'ready' });
  });
});

describe('removing a folder', () => {
  test('moves its chunks as far as there is room, and deletes the rest', async () => {
    const { disk, added, store } = await twoFolders(2, 3);
    await fill(store, 4);
    await store.evict({ keys: [D] });
    expect(folders(store)).toEqual({ [A]: added.id, [B]: added.id, [C]: '' });
    expect(await store.folders.remove(added.id)).toEqual({ moved: 1, deleted: 1, kept: NONE });
    expect(store.stats()).toMatchObject({ entries: 2, bytes: 2 * EACH, folders: [{ id: '' }] });
    expect(existsSync(disk)).toBe(false);
  });

  test('waits until what was there before is listed', async () => {
    const { disk, added, store } = await twoFolders(1, 3);
    await fill(store, 3);
    await store.close();
    const { promise: goesOn, resolve } = Promise.withResolvers<undefined>();
    const readChunkHeader: typeof fakeFiles.readChunkHeader = async (path) => {
      await goesOn;
      return fakeFiles.readChunkHeader(path);
    };
    const other = await openTestStore({ dir: tempDir(), files: { ...fakeFiles, readChunkHeader } });
    const set = other.folders.set(added);
    const removed = other.folders.remove(added.id);
    resolve(undefined);
    await Promise.all([set, removed]);
    expect(Object.values(folders(other))).toEqual(['', '']);
    expect(existsSync(disk)).toBe(false);
  });

  test('moves pinned chunks first, and they displace others', async () => {
    const { added, store } = await twoFolders(2, 3);
    await fill(store, 4);
    store.pin(B);
    expect(folders(store)).toEqual({ [A]: added.id, [B]: added.id, [C]: '', [D]: '' });
    expect(await store.folders.remove(added.id)).toEqual({ moved: 1, deleted: 1, kept: NONE });
    expect(folders(store)).toEqual({ [B]: '', [D]: '' });
  });

  test('with pinned chunks that fit nowhere else changes nothing, unless they may be deleted', async () => {
    const { disk, added, store } = await twoFolders(1, 3);
    await fill(store, 3);
    for (const key of [B, C]) store.pin(key);
    const kept = { chunks: 1, bytes: EACH };
    expect(await store.folders.remove(added.id)).toEqual({ moved: 0, deleted: 0, kept });
    expect(folders(store)).toEqual({ [A]: added.id, [B]: added.id, [C]: '' });
    const [, folder] = store.stats().folders;
    expect(folder).toMatchObject({ id: added.id, entries: 2, budgetBytes: 3 * EACH });
    expect(await store.folders.remove(added.id, true)).toEqual({ moved: 0, deleted: 2, kept: NONE });
    expect(existsSync(disk)).toBe(false);
  });

  test('with pinned chunks of which only some fit elsewhere moves none of them, unless the others may be deleted', async () => {
    const { added, store } = await twoFolders(2, 3);
    await fill(store, 5);
    for (const key of [A, B, C]) store.pin(key);
    const before = folders(store);
    expect(Object.values(before).sort()).toEqual(['', '', added.id, added.id, added.id]);
    const kept = { chunks: 1, bytes: EACH };
    expect(await store.folders.remove(added.id)).toEqual({ moved: 0, deleted: 0, kept });
    expect(folders(store)).toEqual(before);
    expect(await store.folders.remove(added.id, true)).toEqual({ moved: 2, deleted: 1, kept: NONE });
  });

  test('counts pinned chunks for which the disk of the others has no space as lost', async () => {
    let free = Infinity;
    const fs = { ...nodeFs, space: () => Promise.resolve({ total: 1e9, free }) };
    const { added, store } = await twoFolders(2, 3, { fs });
    await fill(store, 4);
    for (const key of [A, B]) store.pin(key);
    await store.setBudget({ diskBytes: 9 * EACH });
    free = 2e7 + 1.5 * EACH;
    const before = folders(store);
    const kept = { chunks: 1, bytes: EACH };
    expect(await store.folders.remove(added.id)).toEqual({ moved: 0, deleted: 0, kept });
    expect(folders(store)).toEqual(before);
    free = Infinity;
    expect(await store.folders.remove(added.id)).toEqual({ moved: 2, deleted: 0, kept: NONE });
  });

  test('that is not connected, with pinned chunks, must be told that they may be lost', async () => {
    const { disk, added, store } = await twoFolders(1, 3);
    await fill(store, 3);
    store.pin(A);
    unplug(disk);
    await store.folders.check();
    const kept = { chunks: 1, bytes: EACH };
    expect(await store.folders.remove(added.id)).toEqual({ moved: 0, deleted: 0, kept });
    expect(store.list()).toHaveLength(3);
    expect(await store.folders.remove(added.id, true)).toMatchObject({ kept: NONE });
    expect(store.list()).toHaveLength(1);
  });

  test('that is not connected leaves its files', async () => {
    const { disk, added, store } = await twoFolders(1, 3);
    await fill(store, 3);
    const plug = unplug(disk);
    await store.folders.check();
    expect(await store.folders.remove(added.id)).toEqual({ moved: 0, deleted: 0, kept: NONE });
    expect(store.list().map(({ key }) => key)).toEqual([C]);
    plug();
    expect(hasFile(disk, A)).toBe(true);
  });
});

describe('demotion and promotion', () => {
  const policy = 'workload-aware';

  test('what one folder evicts displaces only what is worth less in the other; the rest is deleted', async () => {
    const { added, store } = await twoFolders(1, 1);
    await fill(store, 2);
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '' });
    await touch(store, A);
    await store.idle();
    const { key: next, chunk } = model.encode(12);
    await store.put(next, chunk);
    // B is older than A, which was used from the other folder: it has no place there.
    expect(folders(store)).toEqual({ [A]: added.id, [C]: '' });
    expect(store.stats()).toMatchObject({ evictions: 1, moved: { demoted: 1, promoted: 0, bytes: EACH } });
  });

  test('a chunk that is used again and again moves up, and what it displaces moves down', async () => {
    let now = 1e12;
    const { dir, disk, added, store } = await twoFolders(2, 2, { policy, clock: () => now });
    await fill(store, 3);
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '', [C]: '' });
    for (let i = 0; i < 4; i++) {
      now += 60_000;
      await touch(store, A);
    }
    await store.idle();
    expect(folders(store)[A]).toBe('');
    expect([hasFile(dir, A), hasFile(disk, A)]).toEqual([true, false]);
    expect(store.stats()).toMatchObject({
      ...{ entries: 3, evictions: 0 },
      moved: { demoted: 2, promoted: 1, bytes: 3 * EACH },
    });
  });

  test('a chunk that an answer uses moves up once it is released', async () => {
    const { added, store } = await twoFolders(2, 2);
    await fill(store, 3);
    await store.evict({ keys: [B] });
    const lease = await take(store, A);
    await store.idle();
    expect(folders(store)).toEqual({ [A]: added.id, [C]: '' });
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
    await store.idle();
    expect(folders(store)).toEqual({ [A]: '', [C]: '' });
  });

  test('equals stay where they are, however often they are used', async () => {
    let now = 1e12;
    const { store } = await twoFolders(2, 2, { policy, clock: () => now });
    const keys = await fill(store, 4);
    for (let round = 0; round < 12; round++) {
      for (const key of keys) {
        now += 1000;
        await touch(store, key);
      }
      await store.idle();
    }
    const { moved } = store.stats();
    now += 1000;
    for (let round = 0; round < 12; round++) {
      for (const key of keys) {
        now += 1000;
        await touch(store, key);
      }
      await store.idle();
    }
    expect(store.stats().moved.bytes).toBe(moved.bytes);
  });

  test('a folder that adds no delay keeps what is used', async () => {
    let now = 1e12;
    const { added, store } = await twoFolders(2, 99, { policy, clock: () => now });
    store.folders.rankBy(() => [
      { id: added.id, addsDelay: false },
      { id: '', addsDelay: false },
    ]);
    await fill(store, 1);
    expect(folders(store)).toEqual({ [A]: added.id });
    for (let i = 0; i < 4; i++) {
      now += 60_000;
      await touch(store, A);
    }
    await store.idle();
    expect(folders(store)).toEqual({ [A]: added.id });
    await store.folders.set({ ...added, budgetBytes: EACH });
    await fill(store, 2);
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '' });
    expect(store.stats().moved).toEqual({ demoted: 0, promoted: 0, bytes: 0 });
  });

  test('a lower budget moves chunks, and a higher one lets chunks be computed ahead', async () => {
    const { added, store } = await twoFolders(2, 0);
    await fill(store, 2);
    expect(store.hasRoom(1000)).toBe(false);
    await store.folders.set({ ...added, budgetBytes: 3 * EACH + 40_960 });
    expect(store.hasRoom(1000)).toBe(true);
    await store.setBudget({ diskBytes: EACH });
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '' });
    const { key, chunk } = model.encode(12);
    await store.put(key, chunk, { ahead: true });
    expect(folders(store)).toEqual({ [A]: added.id, [B]: '', [C]: added.id });
    await store.folders.set({ ...added, budgetBytes: 0 });
    // C is worth more than B, and A less.
    expect(folders(store)).toEqual({ [C]: '' });
  });

  test('prefixes stay in the store’s own folder', async () => {
    const { added, store } = await twoFolders(16, 99);
    store.folders.rankBy(() => [
      { id: added.id, addsDelay: false },
      { id: '', addsDelay: false },
    ]);
    for (const id of [1, 2, 3]) {
      const { key, chunk } = model.encodePrefix(id);
      await store.put(key, chunk);
    }
    expect(store.list().every(({ folder }) => folder === '')).toBe(true);
  });
});
