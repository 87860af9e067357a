import { describe, expect, test } from 'vitest';
import {
  A,
  B,
  C,
  D,
  chunkPath,
  fake,
  fill,
  flip,
  FakeModel,
  model,
  storeFor,
  take,
  touch,
} from '../testing/store.ts';

describe('the RAM tier', () => {
  test('a used chunk is in memory the next time', async () => {
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    await touch(store, A);
    await store.idle();
    expect(store.stats().ram).toEqual({ entries: 1, bytes: 1000, budgetBytes: 5000 });
    const lease = await take(store, A, model);
    expect(lease.tier).toBe('ram');
    expect(fake(lease.chunk).inMemory && fake(lease.chunk).isRight()).toBe(true);
    expect(store.list()[0]).toMatchObject({ inRam: true, hits: 2 });
    lease.release();
  });

  test('its budget holds, the least recently used is disposed, the file stays', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 2500);
    const keys = await fill(store, 3);
    for (const key of keys) {
      (await take(store, key, opener)).release();
      await store.idle();
    }
    expect(store.list().map((entry) => [entry.key, entry.inRam])).toEqual([
      [C, true],
      [B, true],
      [A, false],
    ]);
    expect(opener.opened.map((chunk) => chunk.disposed)).toEqual([true, false, false]);
  });

  test('a leased chunk is never disposed for another', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 1000);
    await fill(store, 2);
    (await take(store, A, opener)).release();
    await store.idle();
    const lease = await take(store, A, opener);
    (await take(store, B, opener)).release();
    await store.idle();
    expect(lease.tier).toBe('ram');
    expect(fake(lease.chunk).isRight()).toBe(true);
    expect(store.stats().ram).toMatchObject({ entries: 1, bytes: 1000 });
    expect(opener.live).toBe(1);
    lease.release();
  });

  test('with no RAM budget every chunk is closed after use', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 0);
    await fill(store, 1);
    for (let i = 0; i < 3; i++) (await take(store, A, opener)).release();
    expect(opener.live).toBe(0);
  });

  test('a corrupt file found while reading into memory is quarantined', async () => {
    const { dir, store } = await storeFor(9, 5000);
    await fill(store, 1);
    const lease = await take(store, A, model);
    flip(chunkPath(dir, A), -1);
    lease.release();
    await store.idle();
    expect(store.has(A)).toBe(false);
    expect(store.stats().quarantine.files).toBe(1);
    expect(store.stats().ram.bytes).toBe(0);
  });

  test('evicting an entry takes it from memory too', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    (await take(store, A, opener)).release();
    await store.idle();
    await store.evict({ all: true });
    expect(opener.live).toBe(0);
    expect(store.stats().ram.bytes).toBe(0);
    expect(await store.acquire(A, opener)).toBeUndefined();
  });

  test('a model that goes takes its chunks along; the next opens its own', async () => {
    const [first, second] = [new FakeModel(), new FakeModel()];
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    (await take(store, A, first)).release();
    await store.idle();
    await store.forget(first);
    expect(first.live).toBe(0);
    (await take(store, A, second)).release();
    await store.idle();
    (await take(store, A, first)).release();
    expect([first.live, second.live]).toEqual([1, 0]);
  });

  test('a lower RAM budget disposes at once what is not leased', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    for (const key of await fill(store, 3)) (await take(store, key, opener)).release();
    await store.idle();
    await store.setBudget({ ramBytes: 1000 });
    expect(store.stats().ram).toEqual({ entries: 1, bytes: 1000, budgetBytes: 1000 });
    expect(opener.live).toBe(1);
  });

  test('a lower RAM budget during the background read drops what is being read', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    let open = (): void => undefined;
    const lease = await take(store, A, opener);
    fake(lease.chunk).gate = new Promise((resolve) => (open = resolve));
    lease.release();
    const idle = store.idle();
    await store.setBudget({ ramBytes: 10 });
    expect(opener.live).toBe(1);
    open();
    await idle;
    expect(opener.live).toBe(0);
    expect(store.stats().ram).toEqual({ entries: 0, bytes: 0, budgetBytes: 10 });
  });

  test('an acquire during the background read waits for it and shares it', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    let open = (): void => undefined;
    const lease = await take(store, A, opener);
    fake(lease.chunk).gate = new Promise((resolve) => (open = resolve));
    lease.release();
    const idle = store.idle();
    const next = store.acquire(A, opener);
    setTimeout(open, 10);
    const shared = await next;
    expect(shared?.tier).toBe('ram');
    expect(shared?.chunk.inMemory).toBe(true);
    await idle;
    expect(opener.opened).toHaveLength(1);
    shared?.release();
  });

  test('a prefetched chunk is served from memory, and was not used by that', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 2);
    expect(await store.prefetch(A, opener)).toBe('in-memory');
    expect(await store.prefetch(A, opener)).toBe('in-memory');
    expect(await store.prefetch('0'.repeat(64), opener)).toBe('missing');
    expect(store.stats()).toMatchObject({
      hits: { ram: 0, disk: 0 },
      misses: 0,
      leased: 0,
      ram: { bytes: 1000 },
    });
    expect(store.list().map(({ key, hits, inRam }) => [key, hits, inRam])).toEqual([
      [B, 0, false],
      [A, 0, true],
    ]);
    const lease = await take(store, A, opener);
    expect([lease.tier, opener.opened.length]).toEqual(['ram', 1]);
    lease.release();
  });

  test('prefetching evicts nothing and does not count as a use: the least recently used goes first', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 3500);
    const [, , , , last = ''] = await fill(store, 5);
    for (const key of [A, B]) expect(await store.prefetch(key, opener)).toBe('in-memory');
    (await take(store, C, opener)).release();
    await store.idle();
    expect(await store.prefetch(D, opener)).toBe('no-room');
    const inRam = (): boolean[] => [A, B, C].map((key) => store.entry(key)?.inRam === true);
    expect(inRam()).toEqual([true, true, true]);
    for (const [key, left] of [
      [D, [false, true, true]],
      [last, [false, false, true]],
    ] as const) {
      (await take(store, key, opener)).release();
      await store.idle();
      expect(inRam()).toEqual(left);
    }
    expect(opener.live).toBe(3);
  });

  test('an entry expected next replaces the least valuable one, and its use is counted', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 2500);
    await fill(store, 4);
    for (const key of [A, B]) {
      (await take(store, key, opener)).release();
      await store.idle();
    }
    expect(await store.prefetch(C, opener, 'made')).toBe('in-memory');
    expect([A, B, C].map((key) => store.entry(key)?.inRam)).toEqual([false, true, true]);
    expect(store.stats().prefetches).toEqual({ made: 1, used: 0 });
    for (const prefetched of [true, false]) {
      const lease = await take(store, C, opener);
      expect([lease.tier, lease.prefetched]).toEqual(['ram', prefetched]);
      lease.release();
    }
    expect(store.stats().prefetches).toEqual({ made: 1, used: 1 });
    expect(store.list().map(({ key }) => key)[0]).toBe(C);
  });

  test('a damaged file found while prefetching is quarantined', async () => {
    const { dir, store } = await storeFor(9, 5000);
    await fill(store, 1);
    flip(chunkPath(dir, A), -1);
    expect(await store.prefetch(A, model)).not.toBe('in-memory');
    await store.idle();
    expect(store.has(A)).toBe(false);
    expect(store.stats()).toMatchObject({ quarantine: { files: 1 }, ram: { bytes: 0 } });
  });

  test('a model that goes waits for what is being prefetched for it', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 1);
    let open = (): void => undefined;
    const opening = new Promise<void>((resolve) => (open = resolve));
    opener.onOpen = () => opening;
    const prefetching = store.prefetch(A, opener);
    const forgotten = store.forget(opener);
    open();
    await forgotten;
    await prefetching;
    expect(opener.live).toBe(0);
  });

  test('close disposes everything not leased, and the rest at its release', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9, 5000);
    await fill(store, 2);
    (await take(store, A, opener)).release();
    const lease = await take(store, B, opener);
    await store.close();
    expect(opener.live).toBe(1);
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
    expect(opener.live).toBe(0);
  });
});
