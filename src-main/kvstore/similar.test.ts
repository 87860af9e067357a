import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { KvDtype } from '../engine/engine.ts';
import { MIGRATIONS } from './schema.ts';
import { fingerprints } from './similar.ts';
import type { ChunkStore, SimilarChunk } from './store.ts';
import { randomFrom } from '../testing/random.ts';
import { FakeModel, chunkPath, model, openTestStore, tempDir } from '../testing/store.ts';

/** Distinct tokens for each seed. */
function text(seed: number, length = 512): Int32Array {
  const random = randomFrom(seed);
  return Int32Array.from({ length }, () => Math.floor(random() * 32_000));
}

/** The same text with a few tokens replaced in the middle. */
function edited(tokens: Int32Array, at = tokens.length >> 1): Int32Array {
  return Int32Array.of(...tokens.slice(0, at), 1, 2, 3, ...tokens.slice(at + 5));
}

async function put(store: ChunkStore, tokens: Int32Array, dtype: KvDtype = 'f16', by = model) {
  const { key, chunk } = by.encodeTokens(tokens, { dtype });
  await store.put(key, chunk);
  return key;
}

function similar(store: ChunkStore, tokens: Int32Array, limit?: number): Promise<SimilarChunk[]> {
  return store.similar({ fingerprint: model.fingerprint, dtype: 'f16', tokens }, limit);
}

const keys = (found: SimilarChunk[]): string[] => found.map(({ key }) => key);

test('an edited text finds the chunk it was, with its tokens; an unknown one finds nothing', async () => {
  const store = await openTestStore({ dir: tempDir() });
  const stored: string[] = [];
  for (const seed of [1, 2, 3]) stored.push(await put(store, text(seed)));
  const [found, ...others] = await similar(store, edited(text(2)));
  expect(found).toMatchObject({ key: stored[1], tokens: text(2) });
  expect(found?.shared).toBeGreaterThan(24);
  expect(others).toEqual([]);
  expect(await similar(store, text(4))).toEqual([]);
  expect(await similar(store, Int32Array.of(1, 2, 3))).toEqual([]);
});

test('a text made of two stored ones finds both, the one it has more of first', async () => {
  const store = await openTestStore({ dir: tempDir() });
  const [a, b] = [await put(store, text(1)), await put(store, text(2))];
  const mixed = Int32Array.of(...text(1).slice(150), ...text(2).slice(0, 150));
  expect(keys(await similar(store, mixed))).toEqual([a, b]);
  expect(keys(await similar(store, mixed, 1))).toEqual([a]);
});

test('among very many alike, what shares most is found', async () => {
  const store = await openTestStore({ dir: tempDir() });
  const form = (seed: number): Int32Array => Int32Array.of(...text(0, 100), ...text(seed, 100));
  for (let seed = 1; seed <= 300; seed++) await put(store, form(seed));
  const [found] = await similar(store, edited(form(5), 150));
  expect(found?.tokens).toEqual(form(5));
});

test('chunks of another model or format are not found; chunks with another lead are', async () => {
  const store = await openTestStore({ dir: tempDir() });
  const tokens = text(1);
  await put(store, tokens, 'q8_0');
  await put(store, tokens, 'f16', new FakeModel('b'.repeat(64)));
  expect(await similar(store, edited(tokens))).toEqual([]);
  const led = await put(store, tokens, 'f16', new FakeModel(model.fingerprint, Int32Array.of(1, 2)));
  expect(keys(await similar(store, edited(tokens)))).toEqual([led]);
});

test('fingerprints are bounded', () => {
  expect(fingerprints(text(1, 5000))).toHaveLength(32);
  expect(fingerprints(new Int32Array(5000).fill(7))).toHaveLength(1);
});

/** Number of rows in a table of a closed store's index. */
function rows(dir: string, table: string): number {
  const db = new Database(join(dir, 'index.db'), { readonly: true });
  try {
    return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  } finally {
    db.close();
  }
}

test('an evicted chunk is no longer found; once as many are gone as are left, their fingerprints are deleted', async () => {
  const dir = tempDir();
  const store = await openTestStore({ dir });
  const stored: string[] = [];
  for (let seed = 0; seed < 200; seed++) stored.push(await put(store, text(seed, 64)));
  for (let i = 0; i < 150; i++) {
    await store.evict({ keys: [stored[i] ?? ''] });
    expect(await similar(store, edited(text(i, 64), 50))).toEqual([]);
  }
  for (let i = 150; i < 200; i++)
    expect(keys(await similar(store, edited(text(i, 64), 50)))).toEqual([stored[i]]);
  await store.close();
  expect(rows(dir, 'sketches')).toBe(50);
  expect(rows(dir, 'fingerprints')).toBeGreaterThanOrEqual(50 * 32);
  expect(rows(dir, 'fingerprints')).toBeLessThanOrEqual(100 * 32);
  const again = await openTestStore({ dir });
  await again.evict({ all: true });
  await put(again, text(7, 64));
  expect(keys(await similar(again, edited(text(7, 64), 50)))).toEqual([stored[7]]);
});

test.each(['an index of version 2', 'an index that was lost', 'a row whose fingerprints were not written'])(
  'chunks are found again after %s',
  async (what) => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const key = await put(store, text(1));
    await store.close();
    const path = join(dir, 'index.db');
    if (what.endsWith('lost')) rmSync(path);
    else {
      const db = new Database(path);
      const old =
        'DROP TABLE fingerprints; DROP TABLE sketches; DROP TABLE sweep; DROP TABLE workload; DROP INDEX chunks_by_kind; DROP INDEX chunks_by_group; DROP TABLE deletions; ALTER TABLE chunks DROP COLUMN folder; CREATE INDEX chunks_by_class ON chunks (kind, class, use_order, use_offset DESC) WHERE NOT pinned; PRAGMA user_version = 2';
      db.exec(what.endsWith('2') ? old : 'DELETE FROM sketches');
      db.close();
    }
    const again = await openTestStore({ dir });
    expect(again.recovery.indexSetAside).toBeUndefined();
    expect(keys(await similar(again, edited(text(1))))).toEqual([key]);
    await again.close();
    const db = new Database(path, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
    db.close();
  },
);

test('a chunk whose file is gone or damaged is passed over', async () => {
  const dir = tempDir();
  const store = await openTestStore({ dir });
  const [gone, damaged] = [await put(store, text(1)), await put(store, edited(text(1), 100))];
  const sound = await put(store, edited(text(1), 400));
  renameSync(chunkPath(dir, gone), join(dir, 'elsewhere'));
  writeFileSync(chunkPath(dir, damaged), 'no chunk');
  expect(keys(await similar(store, edited(text(1), 250)))).toEqual([sound]);
});
