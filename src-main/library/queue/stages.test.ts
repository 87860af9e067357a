import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../../src-shared/contract/search.ts';
import { activeChunkSets } from '../../retrieval/active-sets.ts';
import { Engine } from '../../engine/engine.ts';
import { SearchService } from '../../retrieval/search-service.ts';
import { SearchThread } from '../../retrieval/search-thread.ts';
import { VectorIndexes } from '../../retrieval/vector-indexes.ts';
import type { DocumentIndexer } from '../../retrieval/types.ts';
import { silentLogger } from '../../platform/logger.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { ServiceFixture } from '../../testing/library.ts';
import type { EmbedderSource } from '../../models/active-model.ts';

const OTHER_MODEL = 'ab'.repeat(32);
const ALL: Scope = { libraryIds: [], documentIds: [] };

const LONG = Array.from({ length: 40 }, (_, i) => `Ship ${i} sails at dawn with ${i + 20} sailors.`).join(
  '\n\n',
);
const LEASE = 'The zebra barn is leased to the zoo for 4,250 euros per year.';

/** Embeds one chunk at a time, as often as permitted; records the documents. */
class SlowIndexer implements DocumentIndexer {
  readonly asked: number[] = [];
  readonly #left = new Map<number, number>();
  #open = Promise.withResolvers<undefined>();

  missingTokens(_set: number, documentId: number): number {
    return this.#left.get(documentId) ?? 3;
  }

  async index(_set: number, documentId: number): Promise<number> {
    this.asked.push(documentId);
    await this.#open.promise;
    const left = this.missingTokens(_set, documentId);
    this.#left.set(documentId, Math.max(0, left - 1));
    return Math.min(1, left);
  }

  let(): void {
    this.#open.resolve(undefined);
  }
}

function searchOf({ catalogue, dir, models, gate }: ServiceFixture): SearchService {
  const searches = new SearchThread(join(dir, 'catalogue.sqlite'));
  onTestFinished(() => searches.close());
  const none: EmbedderSource = { embedder: undefined, onEmbedderChange: () => () => undefined };
  const source = Object.assign(none, { onChange: () => () => undefined });
  return new SearchService({
    catalogue,
    searches,
    vectors: new VectorIndexes(catalogue.vectors, Engine.open(), searches),
    sets: activeChunkSets(catalogue, models),
    models: source,
    gate,
    log: silentLogger,
  });
}

async function pathsFound(fixture: ServiceFixture, question: string, scope: Scope = ALL): Promise<string[]> {
  const { hits } = await searchOf(fixture).query({ text: question, scope, limit: 50 });
  return [...new Set(hits.map(({ path }) => path))];
}

describe('a new document', () => {
  test('is found by its words while vectors of another are being made, and a question is being answered', async () => {
    const indexer = new SlowIndexer();
    const fixture = new ServiceFixture({ 'long.md': LONG }, { indexer });
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.until(() => indexer.asked.length > 0);
    const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
    const question = fixture.gate.foreground(() => answered);
    fixture.write('lease.md', LEASE);
    await fixture.service.rescan(id);
    await fixture.until(() => fixture.documents(id, 'lease')[0]?.phase === 'indexing');
    expect(await pathsFound(fixture, 'What does the zebra barn cost?')).toContain('lease.md');
    answer(undefined);
    await question;
    indexer.let();
    await fixture.idle();
  });

  test('gets its vectors before the rest of a long one’s, and its KV too', async () => {
    const indexer = new SlowIndexer();
    const fixture = new ServiceFixture({ 'long.md': LONG }, { indexer });
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    const ready: string[] = [];
    const encode = fixture.model.encodeChunk.bind(fixture.model);
    fixture.model.encodeChunk = async (...args) => {
      const done = fixture.documents(id).filter(({ phase }) => phase === 'ready');
      ready.push(done.map(({ path }) => path).join());
      if (ready.length === 2) {
        fixture.write('lease.md', LEASE);
        await fixture.service.rescan(id);
        await fixture.until(() => fixture.documents(id, 'lease')[0]?.phase === 'precomputing');
      }
      return encode(...args);
    };
    indexer.let();
    fixture.service.start();
    await fixture.until(() => fixture.documents(id, 'lease')[0]?.phase === 'ready');
    await fixture.idle();
    // The long document's KV was not finished when the short one was ready.
    expect(ready).toContain('lease.md');
    expect(fixture.info(id).cachedChunks).toBe(fixture.info(id).chunks);
  });

  test('that is short comes before long ones, and the newest of equal size first', async () => {
    const fixture = new ServiceFixture({ 'a.md': LONG, 'b.md': LEASE, 'c.md': LEASE });
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    await fixture.service.rescan(id);
    const next = (): string | undefined => {
      const row = fixture.catalogue.documents.next('waiting');
      if (row) fixture.catalogue.documents.advance(row.id, 'waiting', 'ready');
      return row?.path;
    };
    expect([next(), next(), next(), next()]).toEqual(['c.md', 'b.md', 'a.md', undefined]);
  });
});

describe('right after a change of model', () => {
  test('documents are found by what was cut for the other one', async () => {
    const fixture = new ServiceFixture({ 'lease.md': LEASE, 'ships.md': LONG });
    await fixture.library();
    fixture.service.queue.pause();
    const other = new FakeModel({ fingerprint: OTHER_MODEL });
    other.tokenize = (text: string) => Int32Array.from(text, (letter) => letter.charCodeAt(0));
    fixture.models.use(other, 16);
    await fixture.until(() => fixture.catalogue.documents.phaseCounts().get('chunking') === 2);
    expect(await pathsFound(fixture, 'What does the zebra barn cost?')).toContain('lease.md');
  });

  test('each is found once, also when some are cut for the new model already', async () => {
    const fixture = new ServiceFixture({ 'lease.md': LEASE, 'ships.md': LONG });
    const { id } = await fixture.library();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const other = new FakeModel({ fingerprint: OTHER_MODEL });
    other.encodeChunk = async () => promise.then(() => Promise.reject(new Error('never')));
    fixture.models.use(other, 24);
    await fixture.until(() => fixture.documents(id).every(({ phase }) => phase === 'precomputing'));
    fixture.service.queue.pause();
    resolve(undefined);
    for (const moved of [[], ['lease.md']]) {
      for (const { id: documentId, path } of fixture.documents(id))
        if (moved.includes(path)) {
          fixture.catalogue.chunkTable.removeSome(Number(documentId), 1); // as while it is being chunked
          fixture.catalogue.documents.advance(Number(documentId), 'precomputing', 'chunking');
        }
      const { hits } = await searchOf(fixture).query({ text: 'zebra barn', scope: ALL, limit: 50 });
      const places = hits.map(({ documentId, ordinal }) => `${documentId} ${ordinal}`);
      expect(new Set(places).size).toBe(places.length);
    }
  });
});

describe('the sample library', () => {
  test('steps aside once other documents are there, and can still be chosen', async () => {
    const fixture = new ServiceFixture({ 'lease.md': LEASE });
    const sample = fixture.catalogue.libraries.create('Sample', true);
    fixture.catalogue.setState('sample-library', 'made');
    fixture.catalogue.libraries.addRoot(sample, { kind: 'folder', path: fixture.root, watched: false });
    fixture.service.start();
    await fixture.service.rescan(String(sample));
    await fixture.idle();
    expect(await pathsFound(fixture, 'zebra barn')).toEqual(['lease.md']);

    const { id } = fixture.service.create('Mine');
    expect(await pathsFound(fixture, 'zebra barn')).toEqual(['lease.md']); // it has no documents yet
    fixture.write('more/ships.md', LONG);
    await fixture.service.addPaths({ id, paths: [`${fixture.root}/more`], watch: true });
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(await pathsFound(fixture, 'zebra barn')).toEqual([]);
    const chosen = { libraryIds: [String(sample)], documentIds: [] };
    expect(await pathsFound(fixture, 'zebra barn', chosen)).toEqual(['lease.md']);
    const [document] = fixture.documents(String(sample), 'lease');
    const one = { libraryIds: [], documentIds: [document!.id] };
    expect(await pathsFound(fixture, 'zebra barn', one)).toEqual(['lease.md']);
  });
});
