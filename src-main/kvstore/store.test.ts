import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chunkKey } from './hash.ts';
import { chunkPath, fake, fakeFiles, fileBytes, FakeModel, hasFile, openTestStore, tempDir } from './test-support.ts';
import { ChunkStore, type StoreLog } from './store.ts';

const model = new FakeModel();

/** A store with room for `count` chunks of 1000 bytes. */
async function storeFor(count: number, ramBudgetBytes = 0) {
  const dir = tempDir();
  const each = fileBytes(dir, model, 10, 1000);
  const store = await openTestStore({ dir, diskBudgetBytes: each * count, ramBudgetBytes });
  return { dir, store, each };
}

/** Puts chunks 10, 11, … and gives their keys. (Ids of equal length make files of equal size.) */
async function fill(store: ChunkStore, count: number): Promise<string[]> {
  const keys: string[] = [];
  for (let id = 10; id < 10 + count; id++) {
    const { key, chunk } = model.encode(id);
    await store.put(key, chunk);
    keys.push(key);
  }
  return keys;
}

async function touch(store: ChunkStore, key: string): Promise<void> {
  const lease = await store.acquire(key, model);
  lease?.release();
}

function held(store: ChunkStore, keys: string[]): boolean[] {
  return keys.map((key) => store.has(key));
}

describe('put and acquire', () => {
  test('what was put is served as it was', async () => {
    const { store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    expect(store.has(key)).toBe(false);
    await store.put(key, chunk, { label: 'handbook.md' });
    expect(store.has(key)).toBe(true);
    const lease = await store.acquire(key, model);
    expect(lease).toMatchObject({ key, tier: 'disk', bytes: 1000 });
    expect(fake(lease!.chunk).isRight()).toBe(true);
    lease!.release();
    expect(store.list()).toMatchObject([{ key, label: 'handbook.md', tokens: 3, layers: 2, dtype: 'f16', hits: 1, pinned: false }]);
  });

  test('a key that was never stored is a miss', async () => {
    const { store } = await storeFor(9);
    expect(await store.acquire('0'.repeat(64), model)).toBeUndefined();
    expect(store.stats()).toMatchObject({ misses: 1, hits: { ram: 0, disk: 0 } });
  });

  test('putting again writes nothing; putting twice at once writes once', async () => {
    const { dir, store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    await Promise.all([store.put(key, chunk), store.put(key, chunk)]);
    const before = readFileSync(chunkPath(dir, key));
    await store.put(key, model.encode(10).chunk);
    expect(readFileSync(chunkPath(dir, key)).equals(before)).toBe(true);
    expect(store.stats()).toMatchObject({ entries: 1, bytes: before.length });
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('the chunk stays the caller\'s', async () => {
    const { store } = await storeFor(9, 1e6);
    const { key, chunk } = model.encode(10);
    await store.put(key, chunk);
    await store.close();
    expect(fake(chunk).disposed).toBe(false);
  });

  test('a chunk under another key is misuse and leaves nothing', async () => {
    const { dir, store } = await storeFor(9);
    await expect(store.put(model.encode(11).key, model.encode(10).chunk)).rejects.toThrow(/ChunkStore.put: chunk/);
    await expect(store.put('../../etc/x', model.encode(10).chunk)).rejects.toThrow(/ChunkStore.put: key/);
    expect(store.stats().entries).toBe(0);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('entries survive a restart with their uses, labels and pins', async () => {
    const { dir, store, each } = await storeFor(9);
    const [a, b] = await fill(store, 2);
    await touch(store, a!);
    store.pin(b!);
    await store.close();
    const again = await openTestStore({ dir });
    expect(again.list()).toMatchObject([
      { key: a, hits: 1, pinned: false, bytes: each },
      { key: b, hits: 0, pinned: true, bytes: each },
    ]);
    expect(again.recovery).toMatchObject({ adopted: 0, rowsDropped: 0, quarantined: [], tempFilesRemoved: 0, evicted: 0 });
  });
});

describe('eviction', () => {
  test('the least recently used goes first', async () => {
    const { dir, store } = await storeFor(3);
    const keys = await fill(store, 3);
    await touch(store, keys[0]!);
    const { key, chunk } = model.encode(13);
    await store.put(key, chunk);
    expect(held(store, keys)).toEqual([true, false, true]);
    expect(hasFile(dir, keys[1]!)).toBe(false);
    expect(store.stats()).toMatchObject({ entries: 3, evictions: 1 });
  });

  test('order follows use even when the clock runs backwards', async () => {
    const dir = tempDir();
    let now = 1e12;
    const each = fileBytes(dir, model, 10, 1000);
    const store = await openTestStore({ dir, diskBudgetBytes: 2 * each, clock: () => (now -= 1000) });
    const keys = await fill(store, 2);
    await touch(store, keys[0]!);
    await store.put(model.encode(12).key, model.encode(12).chunk);
    expect(held(store, keys)).toEqual([true, false]);
  });

  test('bytes on disk never exceed the budget', async () => {
    const { dir, store, each } = await storeFor(3);
    await fill(store, 8);
    const files = readdirSync(join(dir, 'chunks'), { recursive: true }).filter((name) => String(name).endsWith('.kvc'));
    expect(files).toHaveLength(3);
    expect(store.stats().bytes).toBe(3 * each);
  });

  test('pinned entries stay, across restarts too, until they are unpinned', async () => {
    const { dir, store, each } = await storeFor(2);
    const keys = await fill(store, 2);
    expect(store.pin(keys[0]!)).toBe(true);
    expect(store.pin('0'.repeat(64))).toBe(false);
    await store.close();
    const again = await openTestStore({ dir, diskBudgetBytes: 2 * each });
    await again.put(model.encode(12).key, model.encode(12).chunk);
    expect(held(again, keys)).toEqual([true, false]);
    expect(again.unpin(keys[0]!)).toBe(true);
    await again.evict({ all: true });
    expect(again.stats().entries).toBe(0);
  });

  test('a leased entry stays and is usable; it can go after its release', async () => {
    const { store } = await storeFor(2);
    const keys = await fill(store, 2);
    const lease = await store.acquire(keys[0]!, model);
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 1 });
    expect(fake(lease!.chunk).isRight()).toBe(true);
    expect(store.list()).toMatchObject([{ key: keys[0], leases: 1 }]);
    lease!.release();
    lease!.release();
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 0 });
  });

  test('two leases of one entry: it stays until both are released', async () => {
    const { store } = await storeFor(2);
    const [key] = await fill(store, 1);
    const first = await store.acquire(key!, model);
    const second = await store.acquire(key!, model);
    first!.release();
    first!.release();
    await store.evict({ all: true });
    expect(fake(second!.chunk).isRight()).toBe(true);
    expect(store.has(key!)).toBe(true);
    second!.release();
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1 });
  });

  test('no room because all is pinned or leased: refused, nothing lost', async () => {
    const { store } = await storeFor(2);
    const keys = await fill(store, 2);
    store.pin(keys[0]!);
    const lease = await store.acquire(keys[1]!, model);
    const { key, chunk } = model.encode(12);
    await expect(store.put(key, chunk)).rejects.toMatchObject({ code: 'DISK_FULL', message: /pinned or in use/ });
    expect(held(store, keys)).toEqual([true, true]);
    lease!.release();
    await store.put(key, chunk);
    expect(store.has(key)).toBe(true);
  });

  test('a chunk larger than the budget is refused, and nothing is evicted for it', async () => {
    const { dir, store } = await storeFor(2);
    const keys = await fill(store, 2);
    const { key, chunk } = model.encode(12, 9000);
    await expect(store.put(key, chunk)).rejects.toMatchObject({ code: 'DISK_FULL', message: /no room for a chunk/, advice: /budget/ });
    expect(held(store, keys)).toEqual([true, true]);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('evict by bytes, age and key; kept says what a pin held back', async () => {
    const dir = tempDir();
    let now = 1000;
    const store = await openTestStore({ dir, clock: () => now });
    const keys = await fill(store, 4);
    const each = store.list()[0]!.bytes;
    now = 5000;
    await touch(store, keys[3]!);
    store.pin(keys[2]!);
    expect(await store.evict({ bytes: 1 })).toEqual({ entries: 1, bytes: each, kept: 0 });
    expect(held(store, keys)).toEqual([false, true, true, true]);
    expect(await store.evict({ olderThan: 5000 })).toEqual({ entries: 1, bytes: each, kept: 1 });
    expect(await store.evict({ keys: [keys[3]!, '0'.repeat(64)] })).toEqual({ entries: 1, bytes: each, kept: 0 });
    expect(await store.evict({ bytes: 10 * each })).toEqual({ entries: 0, bytes: 0, kept: 1 });
    await expect(store.evict({})).rejects.toThrow(TypeError);
    await expect(store.evict({ bytes: -1 })).rejects.toThrow(TypeError);
  });

  test('a smaller budget evicts at once, and at the next start', async () => {
    const { dir, store, each } = await storeFor(4);
    await fill(store, 4);
    expect(await store.setBudget({ diskBytes: 3 * each })).toMatchObject({ entries: 1 });
    await store.close();
    const again = await openTestStore({ dir, diskBudgetBytes: 2 * each });
    expect(again.recovery.evicted).toBe(1);
    expect(again.stats().bytes).toBe(2 * each);
  });

  test('the policy decides the order, among those that may go', async () => {
    const dir = tempDir();
    const store = await openTestStore({
      dir,
      policy: { name: 'newest first', order: (rows) => [...rows].reverse() },
    });
    const keys = await fill(store, 3);
    store.pin(keys[2]!);
    await store.evict({ bytes: 1 });
    expect(held(store, keys)).toEqual([true, false, true]);
  });
});

describe('the RAM tier', () => {
  test('a used chunk is in memory the next time', async () => {
    const { store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    await touch(store, key!);
    await store.idle();
    expect(store.stats().ram).toEqual({ entries: 1, bytes: 1000, budgetBytes: 5000 });
    const lease = await store.acquire(key!, model);
    expect(lease!.tier).toBe('ram');
    expect(fake(lease!.chunk).inMemory && fake(lease!.chunk).isRight()).toBe(true);
    expect(store.list()[0]).toMatchObject({ inRam: true, hits: 2 });
    lease!.release();
  });

  test('its budget holds, the least recently used is disposed, the file stays', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 2500);
    const keys = await fill(store, 3);
    for (const key of keys) {
      (await store.acquire(key, opener))!.release();
      await store.idle();
    }
    expect(store.list().map((entry) => [entry.key, entry.inRam])).toEqual([
      [keys[2], true],
      [keys[1], true],
      [keys[0], false],
    ]);
    expect(opener.opened.map((chunk) => chunk.disposed)).toEqual([true, false, false]);
  });

  test('a leased chunk is never disposed for another', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 1000);
    const [a, b] = await fill(store, 2);
    (await store.acquire(a!, opener))!.release();
    await store.idle();
    const lease = await store.acquire(a!, opener);
    (await store.acquire(b!, opener))!.release();
    await store.idle();
    expect(lease!.tier).toBe('ram');
    expect(fake(lease!.chunk).isRight()).toBe(true);
    expect(store.stats().ram).toMatchObject({ entries: 1, bytes: 1000 });
    expect(opener.live).toBe(1);
    lease!.release();
  });

  test('with no RAM budget every chunk is closed after use', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 0);
    const [key] = await fill(store, 1);
    for (let i = 0; i < 3; i++) (await store.acquire(key!, opener))!.release();
    expect(opener.live).toBe(0);
  });

  test('a corrupt file found while reading into memory is quarantined', async () => {
    const { dir, store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    const lease = await store.acquire(key!, model);
    flip(chunkPath(dir, key!), -1);
    lease!.release();
    await store.idle();
    expect(store.has(key!)).toBe(false);
    expect(store.stats().quarantine.files).toBe(1);
    expect(store.stats().ram.bytes).toBe(0);
  });

  test('evicting an entry takes it from memory too', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    (await store.acquire(key!, opener))!.release();
    await store.idle();
    await store.evict({ all: true });
    expect(opener.live).toBe(0);
    expect(store.stats().ram.bytes).toBe(0);
    expect(await store.acquire(key!, opener)).toBeUndefined();
  });

  test('a model that goes takes its chunks along; the next opens its own', async () => {
    const [first, second] = [new FakeModel(), new FakeModel()];
    const { store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    (await store.acquire(key!, first))!.release();
    await store.idle();
    await store.forget(first);
    expect(first.live).toBe(0);
    (await store.acquire(key!, second))!.release();
    await store.idle();
    (await store.acquire(key!, first))!.release();
    expect([first.live, second.live]).toEqual([1, 0]);
  });

  test('a lower RAM budget disposes at once what is not leased', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    for (const key of await fill(store, 3)) (await store.acquire(key, opener))!.release();
    await store.idle();
    await store.setBudget({ ramBytes: 1000 });
    expect(store.stats().ram).toEqual({ entries: 1, bytes: 1000, budgetBytes: 1000 });
    expect(opener.live).toBe(1);
  });

  test('an acquire during the background read waits for it and shares it', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    let open = (): void => undefined;
    const lease = await store.acquire(key!, opener);
    fake(lease!.chunk).gate = new Promise((resolve) => (open = resolve));
    lease!.release();
    const idle = store.idle();
    const next = store.acquire(key!, opener);
    setTimeout(open, 10);
    expect((await next)!.tier).toBe('ram');
    await idle;
    expect(opener.opened).toHaveLength(1);
    (await next)!.release();
  });

  test('close disposes everything not leased, and the rest at its release', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    const [a, b] = await fill(store, 2);
    (await store.acquire(a!, opener))!.release();
    const lease = await store.acquire(b!, opener);
    await store.close();
    expect(opener.live).toBe(1);
    expect(fake(lease!.chunk).isRight()).toBe(true);
    lease!.release();
    expect(opener.live).toBe(0);
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const i = at < 0 ? bytes.length + at : at;
  bytes[i] = (bytes[i] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

describe('bad files', () => {
  const damages: [string, (path: string) => void][] = [
    ['a flipped header byte', (path) => flip(path, 0)],
    ['a truncated file', (path) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
    ['an empty file', (path) => writeFileSync(path, '')],
    ['bytes at the end', (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('x')]))],
  ];
  test.each(damages)('%s: quarantined, a miss, logged, and can be put again', async (_, damage) => {
    const logged: string[] = [];
    const log: StoreLog = (level, message) => void (level === 'warn' && logged.push(message));
    const dir = tempDir();
    const store = await openTestStore({ dir, log });
    const [key] = await fill(store, 1);
    damage(chunkPath(dir, key!));
    expect(await store.acquire(key!, model)).toBeUndefined();
    expect(store.has(key!)).toBe(false);
    expect(store.stats()).toMatchObject({ entries: 0, bytes: 0, misses: 1, quarantine: { files: 1 } });
    expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(1);
    expect(logged).toEqual(['A chunk file is bad and was put in quarantine.']);
    await fill(store, 1);
    const lease = await store.acquire(key!, model);
    expect(fake(lease!.chunk).isRight()).toBe(true);
    lease!.release();
  });

  test('a sound file of another chunk in a chunk\'s place is not served', async () => {
    const { dir, store } = await storeFor(9);
    const [a, b] = await fill(store, 2);
    writeFileSync(chunkPath(dir, a!), readFileSync(chunkPath(dir, b!)));
    expect(await store.acquire(a!, model)).toBeUndefined();
    expect(store.stats().quarantine.files).toBe(1);
    expect(model.opened.at(-1)!.disposed).toBe(true);
  });

  test('a file of another model in a chunk\'s place is quarantined; asking with another model is an error', async () => {
    const other = new FakeModel('b'.repeat(64));
    const { dir, store } = await storeFor(9);
    const [key] = await fill(store, 1);
    await expect(store.acquire(key!, other)).rejects.toMatchObject({ code: 'CHUNK_MISMATCH' });
    expect(store.has(key!)).toBe(true);
    const foreign = other.encode(10);
    await store.put(foreign.key, foreign.chunk);
    writeFileSync(chunkPath(dir, key!), readFileSync(chunkPath(dir, foreign.key)));
    expect(await store.acquire(key!, model)).toBeUndefined();
    expect(store.stats().quarantine.files).toBe(1);
  });

  test('a file that is gone is a miss and loses its row', async () => {
    const { dir, store } = await storeFor(9);
    const [key] = await fill(store, 1);
    rmSync(chunkPath(dir, key!));
    expect(await store.acquire(key!, model)).toBeUndefined();
    expect(store.stats()).toMatchObject({ entries: 0, bytes: 0, quarantine: { files: 0 } });
  });

  test('reportCorrupt: never served again, though the lease stays valid until its release', async () => {
    const opener = new FakeModel();
    const { dir, store } = await storeFor(9, 5000);
    const [key] = await fill(store, 1);
    const lease = await store.acquire(key!, opener);
    await store.reportCorrupt(key!);
    await store.reportCorrupt(key!);
    expect(opener.live).toBe(1);
    lease!.release();
    expect(opener.live).toBe(0);
    expect(await store.acquire(key!, opener)).toBeUndefined();
    expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(1);
  });

  test('a file reported corrupt while it is being opened is not served', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9);
    const [key] = await fill(store, 1);
    opener.onOpen = async (path) => {
      const bytes = readFileSync(path);
      await store.reportCorrupt(key!);
      writeFileSync(path, bytes);
    };
    expect(await store.acquire(key!, opener)).toBeUndefined();
    expect(opener.live).toBe(0);
  });

  test('verify finds each kind, and the sound ones stay', async () => {
    const { dir, store } = await storeFor(9);
    const keys = await fill(store, 5);
    flip(chunkPath(dir, keys[0]!), -1); // only a full read shows this
    flip(chunkPath(dir, keys[1]!), 0);
    rmSync(chunkPath(dir, keys[2]!));
    const progress: number[] = [];
    const report = await store.verify(({ done, total }) => progress.push(done / total));
    expect(report).toMatchObject({ checked: 5, ok: 2, missing: [keys[2]], newerFormat: [] });
    expect(new Set(report.corrupt.map((bad) => bad.key))).toEqual(new Set([keys[0], keys[1]]));
    expect(progress).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
    expect(held(store, keys)).toEqual([false, false, false, true, true]);
    expect(store.stats().quarantine.files).toBe(2);
    expect(await store.verify()).toMatchObject({ checked: 2, ok: 2, corrupt: [] });
  });

  test('the quarantine has a cap; the newest files stay', async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, quarantineCap: { files: 2, bytes: 1e9 } });
    const keys = await fill(store, 4);
    for (const key of keys) await store.reportCorrupt(key);
    const names = readdirSync(join(dir, 'quarantine')).sort();
    expect(names.map((name) => name.split('-')[2]?.slice(0, 64))).toEqual(keys.slice(2).map((key) => key));
    await store.close();
    const again = await openTestStore({ dir, quarantineCap: { files: 9, bytes: 10 } });
    expect(again.stats().quarantine.files).toBe(1);
  });
});

describe('a newer chunk format', () => {
  /** Overwrites a file with one of a newer version, as a newer Kvasir would have written it. */
  function makeNewer(path: string): void {
    writeFileSync(path, readFileSync(path, 'latin1').replace('"version":1', '"version":9'), 'latin1');
  }

  test.each(['acquire', 'verify'] as const)('%s: left alone, a miss, reported, and our own file goes beside it', async (method) => {
    const logged: string[] = [];
    const dir = tempDir();
    const store = await openTestStore({ dir, log: (_, message) => void logged.push(message) });
    const [key] = await fill(store, 1);
    makeNewer(chunkPath(dir, key!));
    const bytes = readFileSync(chunkPath(dir, key!));
    if (method === 'verify') expect(await store.verify()).toMatchObject({ newerFormat: [key], corrupt: [] });
    expect(await store.acquire(key!, model)).toBeUndefined();
    expect(store.stats()).toMatchObject({ entries: 0, quarantine: { files: 0 }, newerFormat: { files: 1, bytes: bytes.length } });
    expect(logged).toContain('A chunk file was written by a newer version of Kvasir; it is left alone.');
    expect(readFileSync(chunkPath(dir, key!)).equals(bytes)).toBe(true);
  });

  test('found at start: left alone, not adopted, not counted', async () => {
    const { dir, store } = await storeFor(9);
    const [key] = await fill(store, 1);
    await store.close();
    rmSync(join(dir, 'index.db'));
    const path = chunkPath(dir, key!, 9);
    writeFileSync(path, readFileSync(chunkPath(dir, key!), 'latin1').replace('"version":1', '"version":9'), 'latin1');
    const before = readFileSync(path);
    const again = await openTestStore({ dir });
    expect(again.recovery).toMatchObject({ adopted: 1, newerFormat: [`chunks/${key!.slice(0, 2)}/${key}.v9.kvc`], quarantined: [] });
    expect(again.stats()).toMatchObject({ entries: 1, newerFormat: { files: 1 } });
    await again.evict({ all: true });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(hasFile(dir, key!)).toBe(false);
  });
});

describe('after close', () => {
  const methods: [string, (store: ChunkStore) => unknown][] = [
    ['has', (store) => store.has('0'.repeat(64))],
    ['put', (store) => store.put(model.encode(10).key, model.encode(10).chunk)],
    ['acquire', (store) => store.acquire('0'.repeat(64), model)],
    ['reportCorrupt', (store) => store.reportCorrupt('0'.repeat(64))],
    ['forget', (store) => store.forget(model)],
    ['idle', (store) => store.idle()],
    ['pin', (store) => store.pin('0'.repeat(64))],
    ['unpin', (store) => store.unpin('0'.repeat(64))],
    ['list', (store) => store.list()],
    ['stats', (store) => store.stats()],
    ['verify', (store) => store.verify()],
    ['evict', (store) => store.evict({ all: true })],
    ['setBudget', (store) => store.setBudget({ diskBytes: 1 })],
  ];

  test.each(methods)('%s is misuse', async (name, call) => {
    const { store } = await storeFor(9);
    await store.close();
    await expect((async () => call(store))()).rejects.toThrow(new TypeError(`ChunkStore.${name}: the store is closed.`));
  });

  test('the table above has every public method', () => {
    const all = Object.getOwnPropertyNames(ChunkStore.prototype).filter((name) => name !== 'constructor' && name !== 'close');
    expect(methods.map(([name]) => name).sort()).toEqual(all.sort());
  });

  test('close twice is fine, and waits for calls under way', async () => {
    const { dir, store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    const put = store.put(key, chunk);
    await Promise.all([store.close(), store.close()]);
    await put;
    expect((await openTestStore({ dir })).has(key)).toBe(true);
  });

  test('close ends a verify with ABORTED', async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    await fill(store, 3);
    const verify = store.verify(() => void store.close());
    await expect(verify).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

test('misuse of options names the argument', async () => {
  const options = { dir: tempDir(), ramBudgetBytes: 0, files: fakeFiles };
  await expect(ChunkStore.open({ ...options, diskBudgetBytes: -1 })).rejects.toThrow(/diskBudgetBytes/);
  await expect(ChunkStore.open({ ...options, diskBudgetBytes: NaN })).rejects.toThrow(TypeError);
});

test('the key depends on model, prefix, dtype and tokens, and on where one field ends', () => {
  const base = { fingerprint: 'f', prefix: Int32Array.of(1), dtype: 'f16', tokens: Int32Array.of(1, 2) } as const;
  const variants = [
    base,
    { ...base, fingerprint: 'g' },
    { ...base, prefix: Int32Array.of() },
    { ...base, prefix: Int32Array.of(2) },
    { ...base, dtype: 'q8_0' as const },
    { ...base, tokens: Int32Array.of(2, 1) },
    { ...base, tokens: Int32Array.of(1, 2, 0) },
    { ...base, prefix: Int32Array.of(1, 1), tokens: Int32Array.of(2) },
    { ...base, fingerprint: 'ff' },
  ];
  expect(new Set(variants.map(chunkKey)).size).toBe(variants.length);
});
