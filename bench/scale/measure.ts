/** Measures a library of bench/scale/library.ts in a fresh process and prints the figures as JSON: measure.ts DATA DIMENSION SEARCHES */
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { App } from '../../src-main/app.ts';
import type { ActiveEmbedder } from '../../src-main/models/active-model.ts';
import { NO_RULES } from '../../src-main/models/embedding/rules.ts';
import { TimeSlice } from '../../src-main/platform/time-slice.ts';
import { SearchService } from '../../src-main/retrieval/search-service.ts';
import { processFigures } from '../lib/process.ts';
import { crashedStore } from './crashed-store.ts';
import { evictionOf } from './eviction.ts';
import { CHUNK_TOKENS, IDENTITY, ScaleTexts } from './library.ts';

/** Milliseconds of one kind of call, and how long it held the main thread at most. */
interface ScaleRow {
  what: string;
  p50: number;
  p95: number;
  max: number;
  heldMs: number;
}

export interface ScaleResult {
  passages: number;
  rows: ScaleRow[];
  /** Resident memory after the start, with the vectors in use, and after all searches, in MiB. */
  rssMiB: { opened: number; vectors: number; searched: number };
}

const [dataDir = '', dimension = '768', searches = '200'] = process.argv.slice(2);
const COUNT = Number(searches);
/** Of slower calls. */
const FEW = Math.min(20, COUNT);
const ALL = { libraryIds: [], documentIds: [] };
const LISTED = { phase: 'all', search: '', descending: false, limit: 100 } as const;

const texts = new ScaleTexts(Number(dimension), 99);
const rows: ScaleRow[] = [];
const held = monitorEventLoopDelay({ resolution: 1 });
held.enable();

/** Runs `call` `count` times and adds a row. */
async function time(what: string, count: number, call: (i: number) => unknown): Promise<void> {
  const times: number[] = [];
  await sleep(20);
  held.reset();
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await call(i);
    times.push(performance.now() - started);
    await sleep(2); // the histogram sees a delay when the loop turns
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(count - 1, Math.floor(count * share))] ?? NaN;
  rows.push({ what, p50: at(0.5), p95: at(0.95), max: at(1), heldMs: held.max / 1e6 });
}

/** Six neighbouring words of some passage, as a question has: common and rare ones. */
const questions = Array.from({ length: COUNT }, () => texts.some(texts.text(), 6));
const rss = (): number => processFigures(process.pid).rssMiB;

let app!: App;
await time('open and search', 1, async () => {
  app = await App.open({ dataDir, overrides: { chunkTokens: CHUNK_TOKENS, welcomed: true } });
  app.start();
  await app.loader.current();
  await app.search.query({ text: questions[0] ?? '', scope: ALL, limit: 20 });
});
await sleep(3000); // background work of the start
const opened = rss();

const { catalogue } = app;
const set = { fingerprint: (await app.loader.current()).model.info.fingerprint, chunkTokens: CHUNK_TOKENS };
const passages = catalogue.chunkTable.corpus(set).chunks;
await time('words', COUNT, (i) => app.search.query({ text: questions[i] ?? '', scope: ALL, limit: 20 }));
await time('misspelt word', FEW, (i) =>
  app.search.query({ text: `${questions[i] ?? ''} ${'bcdfg'.charAt(i % 5)}axolotyl`, scope: ALL, limit: 20 }),
);

const embed = (asked: readonly string[]): Promise<Float32Array> =>
  Promise.resolve(texts.vector(asked[0]?.length ?? 0));
const info = { dimension: Number(dimension) } as ActiveEmbedder['embedder']['info'];
const embedder = { info, embed, countTokens: (text: string) => text.length };
const active: ActiveEmbedder = { id: IDENTITY, identity: IDENTITY, rules: NO_RULES, embedder };
const none = (): (() => void) => () => undefined;
const both = new SearchService({
  catalogue,
  searches: app.searches,
  vectors: app.vectorIndexes,
  sets: {
    chunkTokens: CHUNK_TOKENS,
    chunkSets: () => catalogue.chunkTable.findSets(set.fingerprint, CHUNK_TOKENS, []),
  },
  models: { embedder: active, onChange: none, onEmbedderChange: none },
  gate: app.gate,
  log: app.log,
});
await time('first with vectors', 1, () => both.query({ text: questions[0] ?? '', scope: ALL, limit: 20 }));
const vectors = rss();
await time('vectors', COUNT, () => both.query({ text: '?', scope: ALL, limit: 20 }));
await time('words and vectors', COUNT, (i) =>
  both.query({ text: questions[i] ?? '', scope: ALL, limit: 20 }),
);
const searched = rss();

const pages = Math.max(
  1,
  Math.floor(app.libraries.documents.list({ ...LISTED, sort: 'path', offset: 0 }).total / 100),
);
for (const sort of ['path', 'title', 'tokens'] as const)
  await time(`list by ${sort}`, FEW, (i) =>
    app.libraries.documents.list({ ...LISTED, sort, offset: 100 * Math.floor((pages * i) / FEW) }),
  );
await time('list by name', FEW, (i) =>
  app.libraries.documents.list({ ...LISTED, sort: 'path', offset: 0, search: `document ${i}1` }),
);
const { items } = app.libraries.documents.list({ ...LISTED, sort: 'path', offset: 0 });
await time('delete a document', Math.min(5, items.length), (i) =>
  app.libraries.documents.delete([items[i]?.id ?? '']),
);
await time('purge the index', 1, () => {
  const slice = new TimeSlice();
  return catalogue.purge(() => slice.step());
});
const eviction = await evictionOf(join(dataDir, 'bench-eviction.sqlite'), passages);
await time('choose what to evict', COUNT, () => eviction.decide());
eviction.close();
const openCrashed = await crashedStore(join(dataDir, 'bench-store'), passages);
await time('open the store after a kill', 1, openCrashed);

await both.close();
await time('close after the deletions', 1, () => app.close());
const result: ScaleResult = { passages, rows, rssMiB: { opened, vectors, searched } };
console.log(JSON.stringify(result));
