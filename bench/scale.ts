/**
 * What everyday operations cost where much is stored: a chunk store and a catalogue with N entries are made, and for each operation
 * the processor time of this process and the longest stretch during which it answered nobody else are printed.
 *
 *   npm run bench:scale -- [--entries 45000] [--dir FOLDER] [--only delete]
 *
 * Texts are random token ids, files hold one byte, and no model takes part: what is measured is rows, queries and deletions.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SettingsSchema } from '../src-shared/settings.ts';
import { CacheService } from '../src-main/cache/cache-service.ts';
import { Catalogue } from '../src-main/catalogue/catalogue.ts';
import { Layout } from '../src-main/kvstore/files.ts';
import { chunkKey, prefixHash } from '../src-main/kvstore/hash.ts';
import { openIndex } from '../src-main/kvstore/open-index.ts';
import { ChunkStore } from '../src-main/kvstore/store.ts';
import { CacheCounts } from '../src-main/library/queue/cache-counts.ts';
import { removeWithCache } from '../src-main/library/sources/removal.ts';
import { EventBus } from '../src-main/platform/event-bus.ts';
import { silentLogger } from '../src-main/platform/logger.ts';

const { values: args } = parseArgs({
  options: {
    entries: { type: 'string', default: '45000' },
    dir: { type: 'string', default: tmpdir() },
    only: { type: 'string', default: '' },
  },
});

const ENTRIES = Number(args.entries);
const CHUNKS_PER_DOCUMENT = 9;
const TOKENS = 256;
/** In a chunk's text, of as many different ones as English has. */
const WORDS = 180;
const NO_LEAD = new Int32Array();
const TARGET = {
  fingerprint: 'bench',
  chunkTokens: TOKENS,
  prefix: Int32Array.of(1),
  dtype: 'q8_0' as const,
  blends: true,
};

/** A deterministic text: no two chunks are alike. */
function tokensOf(chunk: number): Int32Array {
  let state = chunk + 1;
  return Int32Array.from({ length: TOKENS }, () => (state = (state * 48_271) % 2_147_483_647) & 0xffff);
}

interface Stored {
  dir: string;
  catalogue: Catalogue;
  library: number;
  documents: number[];
  keys: string[];
}

function fillCatalogue(dir: string): Stored {
  const catalogue = Catalogue.open(join(dir, 'catalogue.db'));
  const library = catalogue.libraries.create('Bench');
  const root = catalogue.libraries.addRoot(library, { kind: 'folder', path: dir, watched: false });
  const set = catalogue.chunkTable.setId({ libraryId: library, ...TARGET });
  const keys: string[] = [];
  catalogue.transaction(() => {
    for (let document = 0; document * CHUNKS_PER_DOCUMENT < ENTRIES; document++) {
      const path = `folder/document-${document}.md`;
      catalogue.documents.queueFile(library, root, { path, format: 'md', bytes: 1, mtimeMs: 1 });
      const id = catalogue.documents.ofPath(root, path)?.id ?? 0;
      for (let ordinal = 0; ordinal < CHUNKS_PER_DOCUMENT; ordinal++) {
        const tokens = tokensOf(keys.length);
        const text = tokens.subarray(0, WORDS).join(' ');
        const chunk = { ordinal, start: ordinal, end: ordinal + 1, title: path, text, tokens, lead: NO_LEAD };
        catalogue.chunkTable.insert(set, id, chunk);
        keys.push(chunkKey({ ...TARGET, tokens }));
      }
      catalogue.chunkTable.finish(set, id, 'sha', CHUNKS_PER_DOCUMENT, TOKENS * CHUNKS_PER_DOCUMENT);
    }
  });
  return { dir, catalogue, library, documents: catalogue.documents.idsOfLibrary(library), keys };
}

function fillStore({ dir, keys }: Stored): void {
  const layout = new Layout(join(dir, 'cache'));
  mkdirSync(layout.dir, { recursive: true });
  const { index, similar } = openIndex(layout.index, { now: 1, onFlushFailed: () => undefined });
  for (const [order, key] of keys.entries()) {
    const path = layout.chunkFile(key, 1);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    index.insert({
      ...{ key, kind: 'chunk', fingerprint: TARGET.fingerprint, prefixHash: prefixHash(TARGET.prefix) },
      ...{ dtype: TARGET.dtype, layers: 1, tokens: TOKENS, bytes: 1, formatVersion: 1, label: '', pinned: 0 },
      ...{ hits: 0, createdAt: 1, lastUsedAt: order, class: 'precompute', order, offset: 0 },
    });
    similar.add(key, tokensOf(order));
  }
  index.close();
}

function openStore({ dir }: Stored): Promise<ChunkStore> {
  const files = {
    readChunkHeader: (): never => {
      throw new Error('no header is asked for');
    },
    verifyChunk: () => Promise.resolve(),
  };
  return ChunkStore.open({ dir: join(dir, 'cache'), diskBudgetBytes: Infinity, ramBudgetBytes: 0, files });
}

function cacheService({ dir, catalogue }: Stored, store: ChunkStore): CacheService {
  const settings = { current: SettingsSchema.parse({}), onChange: () => () => undefined };
  const models = { active: undefined, current: () => Promise.reject(new Error('no model')), plan: () => 0 };
  const events = new EventBus();
  const parts = { store, dir, catalogue, settings, models, events, log: silentLogger };
  return new CacheService(parts as unknown as ConstructorParameters<typeof CacheService>[0]);
}

async function measure(name: string, work: () => unknown): Promise<void> {
  if (!name.includes(args.only)) return;
  await sleep(50);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(20);
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  await sleep(20);
  delay.disable();
  const [cpu, longest] = [(user + system) / 1000, delay.max / 1e6];
  console.log(`${name.padEnd(44)} ${cpu.toFixed(0).padStart(8)} ms CPU ${longest.toFixed(0).padStart(8)} ms`);
}

const dir = mkdtempSync(join(args.dir, 'kvasir-scale-'));
const stored = fillCatalogue(dir);
fillStore(stored);
const { catalogue, documents, keys, library } = stored;
execFileSync('sync'); // or the first deletions wait for what filling has left to be written
let store = await openStore(stored);

let cache: CacheService | undefined;
const page = { search: '', sort: 'lastUsed' as const, descending: true, offset: 0, limit: 50 };
try {
  console.log(
    `${keys.length} entries, ${documents.length} documents; the last column is the longest stretch`,
  );
  await measure('close the store, and open it', async () => {
    await store.close();
    store = await openStore(stored);
  });
  cache = cacheService(stored, store);
  await measure('recount: all documents, the first time', async () => {
    await new CacheCounts(catalogue, store).countAll(TARGET, new AbortController().signal);
  });
  await measure('recount: all documents, again', async () => {
    await new CacheCounts(catalogue, store).countAll(TARGET, new AbortController().signal);
  });
  const shown = cache;
  await measure('cache.entries: first page', () => shown.entries(page));
  await sleep(2100);
  await measure('cache.entries: a page, two seconds later', () => shown.entries({ ...page, offset: 50 }));
  await measure('cache.documents: first page', () =>
    shown.documents({ ...page, sort: 'bytes' as const, descending: true }),
  );
  await measure('cache: pin all, unpin all', async () => {
    await shown.pin({ all: true }, true);
    await shown.pin({ all: true }, false);
  });
  await measure('stats: asked 100 times', () => {
    for (let i = 0; i < 100; i++) store.stats();
  });
  await measure('list: 256 chunks of a model that has none', () =>
    store.list({ kind: 'chunk', fingerprint: 'other', limit: 256 }),
  );
  await measure('list: prefixes, where there are none', () => store.list({ kind: 'prefix' }));
  await measure('evict: 9 keys', () => store.evict({ keys: keys.slice(-9) }));
  await measure('remove a document', () => removeWithCache(catalogue, store, documents.slice(0, 1)));
  await measure('delete the library', async () => {
    await removeWithCache(catalogue, store, documents.slice(1));
    catalogue.libraries.remove(library);
  });
} finally {
  cache?.close();
  await store.close();
  catalogue.close();
  rmSync(dir, { recursive: true, force: true });
}
