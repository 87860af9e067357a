import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeFs, type StoreFs } from './files.ts';
import {
  A,
  B,
  C,
  canMount,
  chunkPath,
  fake,
  fill,
  hasFile,
  held,
  model,
  mountTmpfs,
  openTestStore,
  storeFor,
  take,
  tempDir,
} from '../testing/store.ts';

describe('one process at a time', () => {
  /** Starts a process that holds the store until it is killed. */
  async function holder(dir: string): Promise<ChildProcess> {
    const source = `
      import { ChunkStore } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)};
      const files = { readChunkHeader() { throw new Error('unused'); }, async verifyChunk() {} };
      try {
        await ChunkStore.open({ dir: ${JSON.stringify(dir)}, diskBudgetBytes: 1e9, ramBudgetBytes: 0, files });
        console.log('open');
      } catch (error) {
        console.log(error.code + ': ' + error.message);
      }
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await firstOutput(child)).toBe('open\n');
    return child;
  }

  function firstOutput(child: ChildProcess): Promise<string> {
    return new Promise((resolve) => child.stdout?.once('data', (data: Buffer) => resolve(data.toString())));
  }

  test('a second process gets STORE_IN_USE; after kill -9 of the first it opens', async () => {
    const { dir, store } = await storeFor(9);
    await fill(store, 1);
    await store.close();
    const child = await holder(dir);
    await expect(openTestStore({ dir })).rejects.toMatchObject({
      code: 'STORE_IN_USE',
      message: `Another Kvasir process is using the cache in ${dir}.`,
      advice: expect.stringMatching(/Close it/) as string,
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    const again = await openTestStore({ dir });
    expect(again.has(A)).toBe(true);
  });

  test('an index locked by another program is reported as in use', async () => {
    const { dir, store } = await storeFor(9);
    await store.close();
    const other = new Database(join(dir, 'index.db'));
    other.pragma('locking_mode = EXCLUSIVE');
    other.exec('BEGIN EXCLUSIVE');
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'DATABASE_HELD' });
    other.close();
    await (await openTestStore({ dir })).close();
  }, 30_000);

  test('within one process too, until close', async () => {
    const { dir, store } = await storeFor(9);
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_IN_USE' });
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_IN_USE' });
    await fill(store, 1);
    await store.close();
    expect((await openTestStore({ dir })).has(A)).toBe(true);
  });

  test.skipIf(process.platform === 'win32')('even when the index was deleted under the owner', async () => {
    const { dir, store } = await storeFor(9);
    await fill(store, 1);
    rmSync(join(dir, 'index.db'));
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_IN_USE' });
  });

  test.skipIf(process.platform === 'win32')('also where no probe of the drive can be written', async () => {
    const { dir } = await storeFor(9);
    symlinkSync(join(dir, 'none', 'probe'), join(dir, `lock-probe-${process.pid}.db`));
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_IN_USE' });
  });

  test("a refused open does not disturb the owner's temporary files", async () => {
    const { dir } = await storeFor(9);
    writeFileSync(join(dir, 'tmp', 'being-written'), 'x');
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_IN_USE' });
    expect(readdirSync(join(dir, 'tmp'))).toEqual(['being-written']);
  });
});

const READ_ONLY = {
  code: 'STORE_READ_ONLY',
  message: expect.stringMatching(/^The cache folder .* is not writable \(\w+\)\.$/) as string,
  advice: expect.stringMatching(/write permission/) as string,
};

describe('a folder that cannot be written', () => {
  test('a path below a file', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    await expect(openTestStore({ dir: join(file, 'store') })).rejects.toMatchObject(READ_ONLY);
    await expect(openTestStore({ dir: file })).rejects.toMatchObject(READ_ONLY);
  });

  test('a disk that fails is reported with its code', async () => {
    const fs: StoreFs = {
      ...nodeFs,
      makeDir: () => Promise.reject(Object.assign(new Error('i/o error'), { code: 'EIO' })),
    };
    await expect(openTestStore({ dir: tempDir(), fs })).rejects.toMatchObject({
      code: 'STORE_READ_ONLY',
      message: expect.stringMatching(/not writable \(EIO\)/) as string,
    });
  });

  test.runIf(canMount)('a read-only file system, with a store and without', async () => {
    const mount = mountTmpfs('4m');
    const store = await openTestStore({ dir: join(mount, 'store') });
    await fill(store, 1);
    await store.close();
    execFileSync('mount', ['-o', 'remount,ro', mount]);
    await expect(openTestStore({ dir: join(mount, 'store') })).rejects.toMatchObject(READ_ONLY);
    await expect(openTestStore({ dir: join(mount, 'other') })).rejects.toMatchObject(READ_ONLY);
    execFileSync('mount', ['-o', 'remount,rw', mount]);
    expect((await openTestStore({ dir: join(mount, 'store') })).has(A)).toBe(true);
  });

  test.runIf(canMount)('a store whose folder for new files alone is read-only', async () => {
    const { dir, store } = await storeFor(9);
    await store.close();
    const tmp = join(dir, 'tmp');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', tmp]);
    onTestFinished(() => void execFileSync('umount', ['-l', tmp]));
    await expect(openTestStore({ dir })).rejects.toMatchObject(READ_ONLY);
  });

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a folder without write permission',
    async () => {
      const { dir, store } = await storeFor(9);
      await store.close();
      const folders = ['.', 'chunks', 'tmp', 'quarantine'].map((name) => join(dir, name));
      for (const folder of folders) chmodSync(folder, 0o555);
      onTestFinished(() => folders.forEach((folder) => chmodSync(folder, 0o755)));
      await expect(openTestStore({ dir })).rejects.toMatchObject(READ_ONLY);
    },
  );
});

describe('a full disk', () => {
  const FULL = {
    code: 'DISK_FULL',
    message: expect.stringMatching(/^The disk that holds the cache folder .* is (nearly )?full/) as string,
    advice: expect.stringMatching(/Free some space/) as string,
  };

  test.runIf(canMount)('put fails, nothing is lost, eviction makes room, and the store reopens', async () => {
    const mount = mountTmpfs('512k');
    const dir = join(mount, 'store');
    const store = await openTestStore({ dir });
    const keys: string[] = [];
    const failed = (async () => {
      for (let id = 10; id < 99; id++) {
        const { key, chunk } = model.encode(id, 40_000);
        await store.put(key, chunk);
        keys.push(key);
      }
    })();
    await expect(failed).rejects.toMatchObject(FULL);
    expect(keys.length).toBeGreaterThan(3);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
    // Not one byte left, and still every entry is served and the least recently used can be evicted.
    expect(() => {
      for (let i = 0; ; i++) writeFileSync(join(mount, `rest-${i}`), Buffer.alloc(4096));
    }).toThrow(/ENOSPC/);
    for (let round = 0; round < 20; round++) {
      for (const key of keys) {
        const lease = await take(store, key);
        expect(fake(lease.chunk).isRight()).toBe(true);
        lease.release();
      }
    }
    expect(await store.evict({ bytes: 120_000 })).toMatchObject({ entries: 3 });
    const { key, chunk } = model.encode(99, 40_000);
    await store.put(key, chunk);
    await store.close();
    const again = await openTestStore({ dir });
    expect(
      again
        .list()
        .map((entry) => entry.key)
        .sort(),
    ).toEqual([...keys.slice(3), key].sort());
    expect(await again.verify()).toMatchObject({ ok: keys.length - 2, corrupt: [] });
  });

  test.runIf(canMount)('a store on a disk that was full when it started serves, and makes room', async () => {
    const mount = mountTmpfs('512k');
    const dir = join(mount, 'store');
    const store = await openTestStore({ dir });
    for (const id of [10, 11, 12])
      await store.put(model.encode(id, 40_000).key, model.encode(id, 40_000).chunk);
    await store.close();
    expect(() => {
      for (let i = 0; ; i++) writeFileSync(join(mount, `rest-${i}`), Buffer.alloc(4096));
    }).toThrow(/ENOSPC/);
    const again = await openTestStore({ dir });
    const lease = await take(again, A);
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
    // The finding cannot be written down now; it is a miss all the same.
    rmSync(chunkPath(dir, C));
    writeFileSync(join(mount, 'rest-c'), Buffer.alloc(40_960));
    expect(await again.acquire(C, model)).toBeUndefined();
    await expect(again.put(model.encode(20).key, model.encode(20, 40_000).chunk)).rejects.toMatchObject(FULL);
    expect(await again.evict({ keys: [B, C] })).toMatchObject({ entries: 2 });
    await again.close();
    expect(held(await openTestStore({ dir }), [A, B, C])).toEqual([true, false, false]);
  });

  type Step = keyof StoreFs | 'save';
  const steps: Step[] = ['save', 'makeDir', 'rename', 'syncDir'];
  const codes: [string, object][] = [
    ['ENOSPC', FULL],
    ['EROFS', READ_ONLY],
  ];
  const cases = steps.flatMap((step) => codes.map(([code, error]) => ({ step, code, error })));
  test.each(cases)(
    '$code in $step: typed, nothing left behind, the rest is served, and later it works',
    async ({ step, code, error }) => {
      const dir = tempDir();
      let failing = false;
      const fail = (name: Step): void => {
        if (failing && name === step) throw Object.assign(new Error(`${code}: injected`), { code });
      };
      const fs: StoreFs = {
        ...nodeFs,
        makeDir: async (path) => (fail('makeDir'), nodeFs.makeDir(path)),
        rename: async (from, to) => (fail('rename'), nodeFs.rename(from, to)),
        unlink: async (path) => (fail('unlink'), nodeFs.unlink(path)),
        syncDir: async (path) => (fail('syncDir'), nodeFs.syncDir(path)),
      };
      const store = await openTestStore({ dir, fs });
      await fill(store, 2);
      const { chunk } = model.encode(12);
      const native = fake(chunk);
      const save = native.save.bind(native);
      native.save = async (path) => {
        writeFileSync(path, 'half');
        fail('save');
        return save(path);
      };
      failing = true;
      await expect(store.put(C, chunk)).rejects.toMatchObject(error);
      expect(held(store, [A, B, C])).toEqual([true, true, false]);
      expect(hasFile(dir, C)).toBe(false);
      expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
      (await take(store, A)).release();
      failing = false;
      await store.put(C, chunk);
      expect(await store.verify()).toMatchObject({ ok: 3 });
    },
  );

  test('nothing is stored into the reserve; reading and evicting continue, and so does storing once there is space', async () => {
    const dir = tempDir();
    const disk = { total: 100e9, free: 50e9 };
    const store = await openTestStore({ dir, fs: { ...nodeFs, space: () => Promise.resolve({ ...disk }) } });
    await fill(store, 2);
    disk.free = 100e6;
    await expect(store.put(C, model.encode(12).chunk)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringMatching(/100\.0 MB are free, and 268\.4 MB are left/) as string,
    });
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
    (await take(store, A)).release();
    expect(await store.evict({ keys: [B] })).toMatchObject({ entries: 1 });
    disk.free = 300e6;
    await store.put(C, model.encode(12).chunk);
    expect(held(store, [A, B, C])).toEqual([true, false, true]);
  });

  test('a disk that does not report its space is written to', async () => {
    const store = await openTestStore({ dir: tempDir(), fs: { ...nodeFs, space: async () => undefined } });
    await fill(store, 2);
    expect(held(store, [A, B])).toEqual([true, true]);
    expect(await nodeFs.space('/no such folder')).toBeUndefined();
  });

  test('a file that cannot be deleted keeps its entry', async () => {
    const dir = tempDir();
    const stuck = A;
    const fs: StoreFs = {
      ...nodeFs,
      unlink: async (path) => {
        if (path.includes(stuck)) throw Object.assign(new Error('EBUSY: injected'), { code: 'EBUSY' });
        await nodeFs.unlink(path);
      },
    };
    const store = await openTestStore({ dir, fs });
    await fill(store, 2);
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 1 });
    expect(held(store, [A, B])).toEqual([true, false]);
    (await take(store, A)).release();
  });
});
