/** The store with the real engine: repeats the unit tests' checks with real chunk files. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Engine, type ChunkKv, type Model, type Segment } from '../src-main/engine/engine.ts';
import { ChunkStore, type Lease } from '../src-main/kvstore/store.ts';
import { canMount, mountTmpfs } from '../src-main/testing/store.ts';
import { makeModel, MODEL_OPTIONS, plan, type PlannedChunk } from './support/store-crash-plan.ts';

let work: string;
let engine: Engine;
let model: Model;
let chunk: PlannedChunk;
let other: PlannedChunk;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'kvasir-store-engine-'));
  engine = Engine.open();
  model = await engine.loadModel(makeModel(work), MODEL_OPTIONS);
  const [first, second] = plan(model);
  if (!first || !second) throw new Error('no chunks');
  [chunk, other] = [first, second];
});

afterAll(() => {
  model.dispose();
  rmSync(work, { recursive: true, force: true });
});

async function openStore(dir: string, ramBudgetBytes = 0): Promise<ChunkStore> {
  const store = await ChunkStore.open({ dir, diskBudgetBytes: 1e9, ramBudgetBytes, files: engine });
  onTestFinished(() => store.close());
  return store;
}

/** A store in a new folder that contains `chunk`, and the path of its file. */
async function storeWithChunk(ramBudgetBytes = 0) {
  const dir = mkdtempSync(join(work, 'store-'));
  const store = await openStore(dir, ramBudgetBytes);
  await put(store, chunk);
  const path = join(dir, 'chunks', chunk.key.slice(0, 2), `${chunk.key}.v1.kvc`);
  return { dir, store, path };
}

async function put(store: ChunkStore, { key, tokens, dtype }: PlannedChunk): Promise<void> {
  const kv = await model.encodeChunk(tokens, dtype);
  onTestFinished(() => kv.dispose());
  await store.put(key, kv);
}

async function take(store: ChunkStore): Promise<Lease> {
  const lease = await store.acquire(chunk.key, model);
  if (!lease) throw new Error('the chunk was not served');
  return lease;
}

/** Fuses both chunks, recomputing a quarter of their tokens from layer 1 on; returns the selected tokens and the logits. */
async function fuse(store: ChunkStore) {
  const leases = await Promise.all([chunk, other].map(({ key }) => store.acquire(key, model)));
  const held = leases.filter((lease) => lease !== undefined);
  expect(held).toHaveLength(2);
  const session = model.createSession(512);
  try {
    const segments: Segment[] = [
      { kind: 'compute', tokens: Int32Array.of(4, ...model.encodingPrefix) },
      ...held.map((lease) => ({ kind: 'chunk' as const, chunk: lease.chunk })),
      { kind: 'compute', tokens: Int32Array.of(5, 6, 7) },
    ];
    const { selected } = await session.append(segments, {
      kind: 'deviation',
      checkLayers: [1],
      ratios: [0.25],
    });
    return { tiers: held.map((lease) => lease.tier), selected, logits: session.logits().slice() };
  } finally {
    session.dispose();
    held.forEach((lease) => lease.release());
  }
}

/** Places a chunk after the model's prefix, followed by a question; returns the logits. */
async function use(kv: ChunkKv): Promise<Float32Array> {
  const session = model.createSession(256);
  try {
    await session.append(
      [
        { kind: 'compute', tokens: Int32Array.of(4, ...model.encodingPrefix) },
        { kind: 'chunk', chunk: kv },
        { kind: 'compute', tokens: Int32Array.of(5, 6, 7) },
      ],
      { kind: 'none' },
    );
    return session.logits().slice();
  } finally {
    session.dispose();
  }
}

function edit(path: string, change: (bytes: Buffer) => void): Buffer {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
  return bytes;
}

test('from memory, from the file and freshly encoded: the same logits', async () => {
  const { store } = await storeWithChunk(1e9);
  const fresh = await model.encodeChunk(chunk.tokens, chunk.dtype);
  const expected = await use(fresh);
  const disk = await take(store);
  expect(disk.tier).toBe('disk');
  expect(await use(disk.chunk)).toEqual(expected);
  disk.release();
  await store.idle();
  const ram = await take(store);
  expect(ram.tier).toBe('ram');
  expect(await use(ram.chunk)).toEqual(expected);
  ram.release();
  fresh.dispose();
});

test('fused after eviction: bit-identical to before', async () => {
  const { store, dir } = await storeWithChunk(1e9);
  await put(store, other);
  const keys = [chunk.key, other.key];
  for (const key of keys) await store.prefetch(key, model);
  const { tiers, ...before } = await fuse(store);
  expect(tiers).toEqual(['ram', 'ram']);
  // A quarter of 2 × 96 tokens.
  expect(before.selected).toHaveLength(48);

  await store.setBudget({ ramBytes: 0 });
  expect(store.stats().ram).toMatchObject({ entries: 0, bytes: 0 });
  expect(await fuse(store)).toEqual({ tiers: ['disk', 'disk'], ...before });

  await store.setBudget({ ramBytes: 1e9 });
  for (const key of keys) await store.prefetch(key, model);
  expect(await fuse(store)).toEqual({ tiers: ['ram', 'ram'], ...before });

  await store.close();
  const reopened = await openStore(dir);
  expect(await fuse(reopened)).toEqual({ tiers: ['disk', 'disk'], ...before });

  expect(await reopened.evict({ keys })).toMatchObject({ entries: 2 });
  for (const planned of [chunk, other]) await put(reopened, planned);
  expect(await fuse(reopened)).toEqual({ tiers: ['disk', 'disk'], ...before });
});

test('a damaged layer is detected when it is used, reported, and never served again', async () => {
  const { dir, store, path } = await storeWithChunk();
  edit(path, (bytes) => bytes.writeUInt8(bytes.readUInt8(bytes.length - 100) ^ 1, bytes.length - 100));
  const lease = await take(store);
  await expect(use(lease.chunk)).rejects.toMatchObject({ code: 'CHUNK_CORRUPT', chunkIndex: 1 });
  await store.reportCorrupt(chunk.key);
  lease.release();
  expect(await store.acquire(chunk.key, model)).toBeUndefined();
  expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(1);
  await put(store, chunk);
  expect(await store.verify()).toMatchObject({ checked: 1, ok: 1 });
});

test.runIf(process.platform !== 'win32')(
  'a file that the system cannot read for a while is a miss, stays where it is, and is served again',
  async () => {
    const { dir, store, path } = await storeWithChunk();
    const expected = await model.encodeChunk(chunk.tokens, chunk.dtype);
    onTestFinished(() => expected.dispose());
    const lease = await take(store);
    renameSync(path, `${path}.aside`);
    symlinkSync(path, path); // opening it fails with ELOOP
    await expect(use(lease.chunk)).rejects.toMatchObject({ code: 'CHUNK_UNREADABLE', chunkIndex: 1 });
    lease.release();
    expect(await store.acquire(chunk.key, model)).toBeUndefined();
    expect(await store.verify()).toMatchObject({ checked: 1, ok: 0, corrupt: [{ key: chunk.key }] });
    expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(0);

    rmSync(path);
    renameSync(`${path}.aside`, path);
    const again = await take(store);
    expect(await use(again.chunk)).toEqual(await use(expected));
    again.release();
  },
);

test.each([
  ['the header', 40],
  ['a token', 130],
  ['a layer', -1],
])('verify finds damage in %s', async (_, at) => {
  const { store, path } = await storeWithChunk();
  await put(store, other);
  edit(path, (bytes) =>
    bytes.writeUInt8(
      bytes.readUInt8((at + bytes.length) % bytes.length) ^ 1,
      (at + bytes.length) % bytes.length,
    ),
  );
  expect(await store.verify()).toMatchObject({ checked: 2, ok: 1, corrupt: [{ key: chunk.key }] });
  expect(store.has(chunk.key)).toBe(false);
  expect(store.has(other.key)).toBe(true);
});

test('a file of a newer format is left unchanged, and ours is stored next to it', async () => {
  const { dir, store, path } = await storeWithChunk();
  const newer = edit(path, (bytes) => bytes.writeUInt32LE(255, 8));
  expect(await store.acquire(chunk.key, model)).toBeUndefined();
  expect(store.stats()).toMatchObject({ entries: 0, newerFormat: { files: 1 }, quarantine: { files: 0 } });
  await store.close();
  const again = await openStore(dir);
  expect(again.recovery.newerFormat).toHaveLength(1);
  expect(readFileSync(path).equals(newer)).toBe(true);
});

test('a chunk of another model is refused by name, and kept', async () => {
  const { store } = await storeWithChunk();
  const path = makeModel(mkdtempSync(join(work, 'model-')), 2);
  const stranger = await engine.loadModel(path, MODEL_OPTIONS);
  onTestFinished(() => stranger.dispose());
  await expect(store.acquire(chunk.key, stranger)).rejects.toMatchObject({ code: 'CHUNK_MISMATCH' });
  expect(store.has(chunk.key)).toBe(true);
});

test.runIf(canMount)(
  'a full disk: the engine reports it, nothing is left behind, stored chunks are served',
  async () => {
    const dir = mountTmpfs('320k');
    const store = await openStore(join(dir, 'store'));
    const stored: PlannedChunk[] = [];
    const fill = async (): Promise<void> => {
      for (const next of plan(model)) {
        await put(store, next);
        stored.push(next);
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: 'DISK_FULL',
      advice: expect.stringMatching(/Free some space/) as string,
    });
    expect(stored.length).toBeGreaterThan(0);
    expect(readdirSync(join(dir, 'store', 'tmp'))).toEqual([]);
    expect(await store.verify()).toMatchObject({ checked: stored.length, ok: stored.length });
    const lease = await take(store);
    await use(lease.chunk);
    lease.release();
  },
);
