import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkStore } from './store.ts';
import { chunkPath, fake, FakeModel, fileBytes, fill, held, model, openTestStore, take, tempDir, touch } from '../testing/store.ts'; // prettier-ignore

/** Stores blocks 0, 1, … and returns their keys. */
async function fillPrefixes(store: ChunkStore, count: number): Promise<string[]> {
  const keys: string[] = [];
  for (let id = 0; id < count; id++) {
    const { key, chunk } = model.encodePrefix(id);
    await store.put(key, chunk);
    keys.push(key);
  }
  return keys;
}

/** A store with room for `count` entries, a quarter of them prefixes. */
async function quarterStore(count: number, ramBudgetBytes = 0) {
  const dir = tempDir();
  const each = fileBytes(dir, model, 1_000_010, 1000);
  const store = await openTestStore({
    dir,
    diskBudgetBytes: each * count,
    ramBudgetBytes,
    prefixShare: 0.25,
  });
  return { dir, store, each };
}

// Known from another implementation (LMCache#4663): prefix entries flooded the store, and blending found nothing.
test('many prefix blocks never take more than their share from chunks', async () => {
  const { store, each } = await quarterStore(12);
  const chunks = await fill(store, 9);
  const prefixes = await fillPrefixes(store, 100);
  expect(held(store, chunks)).toEqual(chunks.map(() => true));
  expect(held(store, prefixes).lastIndexOf(false)).toBe(96);
  expect(store.stats().prefixes).toMatchObject({ entries: 3, bytes: 3 * each, budgetBytes: 3 * each });
});

test('chunks use what prefixes leave, and make room for them within the share', async () => {
  const { store } = await quarterStore(12);
  const chunks = await fill(store, 12);
  expect(held(store, chunks)).toEqual(chunks.map(() => true));
  await fillPrefixes(store, 100);
  expect(held(store, chunks)).toEqual(chunks.map((_, i) => i > 2));
  await fill(store, 12);
  expect(store.stats().prefixes.entries).toBe(3);
});

test('where no chunk may go, prefixes do', async () => {
  const { store, each } = await quarterStore(12);
  const chunks = await fill(store, 9);
  await fillPrefixes(store, 3);
  for (const key of chunks) store.pin(key);
  const { key, chunk } = model.encode(40);
  await store.put(key, chunk);
  expect(store.stats()).toMatchObject({ entries: 12, prefixes: { entries: 2 } });
  expect(await store.setBudget({ diskBytes: 10 * each })).toMatchObject({ entries: 2, kept: 0 });
  expect(held(store, [...chunks, key])).toEqual([...chunks.map(() => true), false]);
  expect(await store.setBudget({ diskBytes: 8 * each })).toMatchObject({ entries: 1, kept: 9 });
});

test('what is in use counts once, though prefixes are above their share and everything is above the budget', async () => {
  const { store, each } = await quarterStore(12);
  const prefixes = await fillPrefixes(store, 3);
  const leases = await Promise.all(prefixes.map((key) => take(store, key)));
  expect(await store.setBudget({ diskBytes: 2 * each })).toEqual({ entries: 0, bytes: 0, kept: 3 });
  for (const lease of leases) lease.release();
});

test('a block larger than the share is refused, and nothing goes for it', async () => {
  const { store } = await quarterStore(12);
  const chunks = await fill(store, 12);
  const { key, chunk } = model.encodePrefix(1, 4000);
  await expect(store.put(key, chunk)).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(/cannot fit a prefix/) as string,
  });
  expect(held(store, chunks)).toEqual(chunks.map(() => true));
});

test('in memory too: blocks that are used never push out chunks beyond their share', async () => {
  const { store } = await quarterStore(200, 8000);
  const chunks = await fill(store, 6);
  const prefixes = await fillPrefixes(store, 40);
  for (const key of [...chunks, ...prefixes]) {
    await touch(store, key);
    await store.idle();
  }
  expect(store.list({ kind: 'chunk' }).every(({ inRam }) => inRam)).toBe(true);
  const inRam = store.list({ kind: 'prefix' }).filter((entry) => entry.inRam);
  expect(inRam.map(({ key }) => key)).toEqual(prefixes.slice(-2).reverse());
  expect(store.stats()).toMatchObject({ ram: { bytes: 8000 }, prefixes: { ramBytes: 2000 } });
});

test('a rebuilt index knows a prefix from a chunk by its key', async () => {
  const { dir, store } = await quarterStore(12);
  await fill(store, 2);
  const [prefix = ''] = await fillPrefixes(store, 1);
  await store.close();
  rmSync(join(dir, 'index.db'));
  const again = await openTestStore({ dir });
  expect(again.recovery.adopted).toBe(3);
  expect(again.list({ kind: 'prefix' }).map(({ key }) => key)).toEqual([prefix]);
  (await take(again, prefix)).release();
  expect(await again.verify()).toMatchObject({ ok: 3 });
});

describe('borrowing', () => {
  async function stored() {
    const opened = await quarterStore(12, 1e6);
    const [key = ''] = await fillPrefixes(opened.store, 1);
    return { ...opened, key };
  }

  test('a file is open for one task, counts as used, and is not brought into memory', async () => {
    const { store, key } = await stored();
    const before = store.entry(key)?.lastUsedAt ?? Infinity;
    const tokens = await store.borrow(key, model, async (chunk) => {
      expect(fake(chunk).isRight()).toBe(true);
      expect(await store.evict({ all: true })).toMatchObject({ entries: 0, kept: 1 });
      return chunk.tokens.length;
    });
    expect(tokens).toBe(3);
    await store.idle();
    expect(store.entry(key)?.inRam).toBe(false);
    expect(store.entry(key)?.lastUsedAt).toBeGreaterThanOrEqual(before);
    expect(store.stats()).toMatchObject({ hits: { ram: 0, disk: 0 }, misses: 0 });
    expect(model.live).toBe(0);
    expect(await store.borrow('0'.repeat(64), model, () => Promise.resolve(1))).toBeUndefined();
  });

  test.each(['CHUNK_CORRUPT', 'CHUNK_MISMATCH'] as const)(
    'what a task finds to be %s is set aside',
    async (code) => {
      const { store, key } = await stored();
      const refuse = (): Promise<number> => Promise.reject(new KvasirError(code, 'not what it should be'));
      expect(await store.borrow(key, model, refuse)).toBeUndefined();
      expect(store.has(key)).toBe(false);
      expect(store.stats().quarantine.files).toBe(1);
      expect(model.live).toBe(0);
    },
  );

  test('what a task cannot read is not restored, and stays', async () => {
    const { store, key } = await stored();
    const refuse = (): Promise<number> =>
      Promise.reject(new KvasirError('CHUNK_UNREADABLE', 'its drive is gone'));
    expect(await store.borrow(key, model, refuse)).toBeUndefined();
    expect(store.stats()).toMatchObject({ entries: 1, quarantine: { files: 0 } });
    expect(model.live).toBe(0);
  });

  test('a file that another model wrote in its place is set aside', async () => {
    const { dir, store, key } = await stored();
    const foreign = new FakeModel('b'.repeat(64)).encode(1);
    await foreign.chunk.save(chunkPath(dir, key));
    expect(await store.borrow(key, model, () => Promise.resolve(1))).toBeUndefined();
    expect(store.has(key)).toBe(false);
    expect(store.stats().quarantine.files).toBe(1);
  });

  test('a task that fails for another reason leaves the file where it is', async () => {
    const { store, key } = await stored();
    const full = new KvasirError('OUT_OF_MEMORY', 'no memory is left');
    await expect(store.borrow(key, model, () => Promise.reject(full))).rejects.toBe(full);
    expect(store.has(key)).toBe(true);
    expect(model.live).toBe(0);
  });
});
