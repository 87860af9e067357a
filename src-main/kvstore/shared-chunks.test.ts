import { expect, test } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { cut, FolderTier } from '../testing/shared-tier.ts';
import { fake, FakeModel, hasFile, openTestStore, tempDir } from '../testing/store.ts';
import type { ChunkStore, Transfer } from './store.ts';

const BYTES = 3 * 2 ** 20;

/** A store without the chunk that another machine shares; the chunk's key. */
async function machines(options: { diskBudgetBytes?: number } = {}): Promise<{
  tier: FolderTier;
  store: ChunkStore;
  shared: NonNullable<ChunkStore['shared']>;
  dir: string;
  model: FakeModel;
  key: string;
}> {
  const tier = new FolderTier(tempDir());
  const first = await openTestStore({ dir: tempDir(), shared: tier });
  const { key, chunk } = new FakeModel().encode(1, BYTES);
  await first.put(key, chunk);
  const dir = tempDir();
  const store = await openTestStore({ dir, shared: tier, ...options });
  return { tier, store, shared: store.shared!, dir, model: new FakeModel(), key };
}

test('a chunk stored by one machine is leased by another while it arrives, and is then stored there', async () => {
  const { tier, store, shared, dir, model, key } = await machines();
  expect(tier.offered).toEqual([key]);
  expect(await store.acquire(key, model)).toBeUndefined(); // it was not looked up there
  expect(tier.opened).toEqual([]);
  expect([...(await shared.locate([key]))]).toEqual([key]);
  const lease = await store.acquire(key, model);
  expect(lease).toMatchObject({ tier: 'shared', bytes: BYTES });
  expect(lease!.chunk.inMemory).toBe(false);
  await store.idle();
  expect(fake(lease!.chunk).isRight()).toBe(true);
  lease!.release();
  expect(model.live).toBe(0);
  expect(hasFile(dir, key)).toBe(true);
  const again = await store.acquire(key, model);
  expect(again?.tier).toBe('disk');
  again!.release();
  expect(store.stats()).toMatchObject({
    hits: { ram: 0, disk: 1, shared: 1 },
    misses: 1,
    shared: { hits: 1, corrupt: 0, failed: 0 },
  });
  expect(store.stats().shared!.bytes).toBeGreaterThan(BYTES);
  expect(tier.offered).toEqual([key]); // a chunk from the tier is not sent back
});

test('a chunk that is asked for by several at once comes once', async () => {
  const { tier, store, shared, model, key } = await machines();
  await shared.locate([key, key]);
  shared.bring([key], model);
  const leases = await Promise.all([store.acquire(key, model), store.acquire(key, model)]);
  expect(tier.opened).toEqual([key]);
  await store.idle();
  for (const lease of leases) lease!.release();
  expect(model.live).toBe(0);
});

test('one question is asked of many keys, and what is here is not asked for', async () => {
  const { tier, store, shared, model, key } = await machines();
  const { key: here, chunk } = model.encode(2);
  await store.put(here, chunk);
  const { key: nowhere } = model.encode(3);
  tier.asked.length = 0;
  expect([...(await shared.locate([key, here, nowhere]))]).toEqual([key]);
  expect(tier.asked).toEqual([[key, nowhere]]);
});

test('a damaged value is never used, is reported, and is not requested again', async () => {
  for (const way of ['lease', 'fetch'] as const) {
    const { tier, store, shared, dir, model, key } = await machines();
    const bytes = readFileSync(tier.path(key));
    bytes[bytes.length - 9]! ^= 1;
    writeFileSync(tier.path(key), bytes);
    await shared.locate([key]);
    if (way === 'fetch') expect(await shared.fetch(key)).toBe(false);
    else {
      const lease = await store.acquire(key, model);
      await store.idle();
      expect(fake(lease!.chunk).failure?.code).toBe('CHUNK_CORRUPT');
      expect(lease!.chunk.inMemory).toBe(false);
      lease!.release();
      expect(model.live).toBe(0);
    }
    expect(tier.corrupt).toEqual([key]);
    expect(hasFile(dir, key)).toBe(false);
    expect(store.stats().shared).toMatchObject({ corrupt: 1, failed: 0 });
    expect(await store.acquire(key, model)).toBeUndefined();
  }
});

test('a value under another key is damaged', async () => {
  const { tier, store, shared, model, key } = await machines();
  const { key: other } = model.encode(9);
  writeFileSync(tier.path(other), readFileSync(tier.path(key)));
  await shared.locate([other]);
  expect(await store.acquire(other, model)).toBeUndefined();
  expect(await shared.fetch(other)).toBe(false);
  expect(tier.corrupt).toEqual([other]);
});

test('a value that is cut fails those who wait for it, and nobody else', async () => {
  const { tier, store, shared, dir, model, key } = await machines();
  tier.onRead = (_key, from, range) => (from > 2 ** 20 ? cut() : range);
  await shared.locate([key]);
  const lease = await store.acquire(key, model);
  await store.idle();
  expect(fake(lease!.chunk).failure?.code).toBe('SHARED_TIER_FAILED');
  lease!.release();
  expect(await shared.fetch(key)).toBe(false);
  expect(hasFile(dir, key)).toBe(false);
  expect(tier.corrupt).toEqual([]);
  expect(store.stats().shared).toMatchObject({ corrupt: 0, failed: 2 });
  tier.onRead = undefined;
  await shared.locate([key]);
  expect(await shared.fetch(key)).toBe(true);
  expect(hasFile(dir, key)).toBe(true);
});

test('what is brought ahead is here afterwards, and who leases it meanwhile uses what has come', async () => {
  const { tier, store, shared, dir, model, key } = await machines();
  expect(await shared.ahead(key, model)).toBe(false); // it was not looked up there
  await shared.locate([key]);
  const { promise: leased, resolve } = Promise.withResolvers<undefined>();
  tier.onRead = async (_key, from, range) => {
    if (from > 0) await leased;
    return range;
  };
  const coming = shared.ahead(key, model);
  const lease = await store.acquire(key, model);
  expect(lease?.tier).toBe('shared');
  resolve(undefined);
  expect(await coming).toBe(true);
  expect(tier.opened).toEqual([key]);
  expect(hasFile(dir, key)).toBe(true);
  lease!.release();
  expect(model.live).toBe(0);
  expect(await shared.ahead(key, model)).toBe(true);
});

test('a failed prefetch from the tier fails no caller', async () => {
  const { tier, store, shared, model, key } = await machines();
  await shared.locate([key]);
  tier.onRead = () => cut();
  expect(await shared.ahead(key, model)).toBe(false);
  expect(store.stats().shared).toMatchObject({ failed: 1, corrupt: 0 });
  expect(model.live).toBe(0);
});

test('fetching copies a value once, checked, and says how fast it came', async () => {
  const { tier, shared, dir, store, key } = await machines();
  const transfers: Transfer[] = [];
  shared.onTransfer((transfer) => transfers.push(transfer));
  expect(await Promise.all([shared.fetch(key, 'handbook.md'), shared.fetch(key)])).toEqual([true, true]);
  expect(tier.opened).toEqual([key]);
  expect(hasFile(dir, key)).toBe(true);
  expect(store.entry(key)?.label).toBe('handbook.md');
  expect(readFileSync(tier.path(key)).length).toBe(transfers[0]!.bytes);
  expect(transfers).toHaveLength(1);
  expect(await shared.fetch(key)).toBe(true); // it is here
  expect(tier.opened).toEqual([key]);
});

test('an aborted wait for a chunk does not affect other waiters', async () => {
  const { tier, shared, key } = await machines();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<undefined>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  tier.onRead = async (_key, _from, range) => {
    isAsked(undefined);
    await answered;
    return range;
  };
  const stop = new AbortController();
  const [first, second] = [shared.fetch(key, 'a', stop.signal), shared.fetch(key, 'b')];
  await asked;
  stop.abort();
  await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
  answer(undefined);
  expect(await second).toBe(true);
  expect(tier.opened).toEqual([key]);
  await expect(shared.fetch(key, 'a', stop.signal)).rejects.toMatchObject({ code: 'ABORTED' });
});

test('where this disk has no room a chunk is used all the same, and not kept', async () => {
  const { store, shared, dir, model, key } = await machines({ diskBudgetBytes: 1000 });
  await shared.locate([key]);
  const lease = await store.acquire(key, model);
  await store.idle();
  expect(fake(lease!.chunk).isRight()).toBe(true);
  lease!.release();
  expect(hasFile(dir, key)).toBe(false);
  await expect(shared.fetch(key)).rejects.toMatchObject({ code: 'DISK_FULL' });
});

test('a tier that is off is not asked, and a read-only one not written to', async () => {
  const { tier, store, shared, model, key } = await machines();
  tier.available = false;
  tier.asked.length = 0;
  expect((await shared.locate([key])).size).toBe(0);
  expect(await shared.fetch(key)).toBe(false);
  tier.available = true;
  tier.writable = false;
  const { key: mine, chunk } = model.encode(4);
  await store.put(mine, chunk);
  expect(tier.offered).toEqual([key]);
  expect(tier.asked).toEqual([]);
});

test('what is stored while the tier does not answer is offered all the same: it waits there', async () => {
  const { tier, store, model, key } = await machines();
  tier.available = false;
  const { key: mine, chunk } = model.encode(4);
  await store.put(mine, chunk);
  expect(tier.offered).toEqual([key, mine]);
});

test('a model that goes, and a store that closes, end what is on its way', async () => {
  for (const end of ['forget', 'close'] as const) {
    const { tier, store, shared, model, key } = await machines();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    tier.onRead = async (_key, from, range) => {
      if (from > 0) await promise;
      return range;
    };
    await shared.locate([key]);
    const lease = await store.acquire(key, model);
    const ending = end === 'forget' ? store.forget(model) : store.close();
    resolve(undefined);
    await ending;
    expect(fake(lease!.chunk).failure?.code).toBe(end === 'forget' ? 'SHARED_TIER_FAILED' : undefined);
    lease!.release();
    expect(model.live).toBe(0);
  }
});
