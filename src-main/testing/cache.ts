import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { EventPayload, KvasirEvent } from '../../src-shared/contract/events.ts';
import { isPacked, kvBytes } from '../../src-shared/kv-dtype.ts';
import { CacheService } from '../cache/cache-service.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { MIGRATIONS } from '../catalogue/schema.ts';
import type { DeviceTier, KvDtype, Model } from '../engine/engine.ts';
import type { ChunkStore, StoreOptions } from '../kvstore/store.ts';
import type { ActiveModel } from '../models/active-model.ts';
import type { ModelRow } from '../models/registry/model-registry.ts';
import { openDatabase } from '../platform/database.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { packTokens } from '../platform/token-bytes.ts';
import { FakeModel, openTestStore, tempDir } from './store.ts';

export const model = new FakeModel();
export const other = new FakeModel('e'.repeat(64));

/** An idle queue. */
export const QUEUE: EventPayload<'queue.status'> = {
  ...{ paused: false, waiting: 0, active: 0, failed: 0, done: 1, total: 1 },
  ...{ current: null, tokensDone: 0, tokensTotal: 0, tokensPerSecond: 0, secondsLeft: null, blocked: null },
  tokensLeftOut: 0,
};

/** Tokens of the chunk that the fake model calls `id`. */
const tokensOf = (id: number): Buffer => packTokens(Int32Array.of(id, -id, 7));

/** A catalogue of documents and the chunks in them; every chunk is stored. */
function catalogueOf(path: string, documents: Record<string, number[]>): Catalogue {
  const database = openDatabase(path, MIGRATIONS);
  const prefix = packTokens(model.prefix);
  database.exec(
    "INSERT INTO library (id, name) VALUES (1, 'L'); INSERT INTO root (id, library_id, kind, path) VALUES (1, 1, 'folder', '/l')",
  );
  database.run(
    'INSERT INTO chunk_set (id, library_id, fingerprint, chunk_tokens, prefix) VALUES (1, 1, ?, 3, ?)',
    model.fingerprint,
    prefix,
  );
  const addDocument = `INSERT INTO document (library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase)
     VALUES (1, 1, ?, ?, 'txt', '', 0, 0, 0, 'ready') RETURNING id`;
  const addChunk = `INSERT INTO chunk (chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens)
     VALUES (1, ?, ?, 0, 0, '', '', ?)`;
  const addCut =
    "INSERT INTO chunking (chunk_set_id, document_id, sha256, chunks, tokens) VALUES (1, ?, '', ?, ?)";
  for (const [name, ids] of Object.entries(documents)) {
    const document = database.value<number>(addDocument, name, name);
    ids.forEach((id, ordinal) => database.run(addChunk, document, ordinal, tokensOf(id)));
    database.run(addCut, document, ids.length, ids.length * 3);
  }
  database.close();
  return Catalogue.open(path);
}

export async function put(
  store: ChunkStore,
  by: FakeModel,
  id: number,
  label = `label ${id}`,
): Promise<string> {
  const { key, chunk } = by.encode(id);
  await store.put(key, chunk, { label });
  chunk.dispose();
  return key;
}

/** A store of all chunks of these documents, and the service over it. */
export async function cacheOf(
  documents: Record<string, number[]> = { 'a.txt': [1, 2, 3], 'b/c.txt': [3, 4] },
  options: Pick<StoreOptions, 'fs'> = {},
) {
  const dir = tempDir();
  const store = await openTestStore({ dir, ramBudgetBytes: 1e6, ...options });
  const catalogue = catalogueOf(join(dir, 'catalogue.sqlite'), documents);
  const keys = new Map<number, string>();
  for (const id of new Set(Object.values(documents).flat())) keys.set(id, await put(store, model, id));
  const events = new EventBus();
  const seen: KvasirEvent[] = [];
  events.on((event) => seen.push(event));
  const device = { tier: null as DeviceTier | null, there: new Set<string>(), budgets: [] as unknown[] };
  const loaded = {
    info: { fingerprint: model.fingerprint },
    bytesPerToken: (dtype: KvDtype) => kvBytes(32, dtype),
    onDevice: (key: string) => device.there.has(key),
    deviceTier: () => device.tier,
    setDeviceBudget: (bytes: number | undefined) => device.budgets.push(bytes),
  };
  const active: ActiveModel = {
    ...{ id: 'm', name: 'M', path: '', chunkTokens: 3 },
    model: loaded as unknown as Model,
  };
  const settings = new SettingsService(join(dir, 'settings.json'));
  const row = {
    id: 'n',
    fingerprint: null,
    tokensPerSecond: 2,
    header: { kvValuesPerToken: 64 },
  } as ModelRow;
  const models = {
    active: active as ActiveModel | undefined,
    current: async () => active,
    onChange: () => () => undefined,
  };
  const cache = new CacheService({
    ...{ store, dir, catalogue, settings, events, log: silentLogger },
    models,
    known: { get: () => row, chunkTokens: () => 6 },
    formats: { lossIn: () => undefined, offers: (dtype) => !isPacked(dtype) },
  });
  onTestFinished(() => {
    cache.close();
    catalogue.close();
  });
  const key = (id: number): string => keys.get(id)!;
  return { cache, store, catalogue, settings, seen, events, dir, device, models, active, key };
}
