import { describe, expect, onTestFinished, test } from 'vitest';
import type { ActiveEmbedder, ActiveModel, ActiveReranker, EmbedderSource } from '../models/active-model.ts';
import { ChunkTable } from '../catalogue/chunk-table.ts';
import { DocumentFilter } from '../catalogue/document-filter.ts';
import { VectorTable } from '../catalogue/vector-table.ts';
import { WordIndex } from '../catalogue/word-index.ts';
import { Engine } from '../engine/engine.ts';
import { NO_RULES } from '../models/embedding/rules.ts';
import type { EmbeddingRules } from '../models/embedding/families.ts';
import { openDatabase } from '../platform/database.ts';
import { Gate } from '../platform/gate.ts';
import { silentLogger } from '../platform/logger.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { searchesOf } from '../testing/searches.ts';
import { SearchService } from './search-service.ts';
import { VectorIndexes } from './vector-indexes.ts';

const SCHEMA = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, root_id INTEGER NOT NULL DEFAULT 1,
    path TEXT NOT NULL, title TEXT NOT NULL, format TEXT NOT NULL DEFAULT 'md', mtime_ms REAL NOT NULL DEFAULT 0);
  CREATE TABLE library (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE root (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
  INSERT INTO library VALUES (1, 'Home'), (2, 'Work');
  INSERT INTO root VALUES (1, '/documents/Notes');
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, char_start INTEGER NOT NULL, char_end INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, tokens BLOB NOT NULL, lead BLOB NOT NULL DEFAULT x'')`;

/** A vector that encodes which of these topics a text mentions. */
const TOPICS = [/cat|kitten|feline/i, /car|vehicle|automobile/i, /sea|ocean/i];

class TopicEmbedders implements EmbedderSource {
  embedder: ActiveEmbedder | undefined;
  reranker: ActiveReranker | undefined;
  embedded: string[] = [];
  #listener: (active: ActiveEmbedder | undefined) => void = () => undefined;

  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void {
    this.#listener = listener;
    return () => (this.#listener = () => undefined);
  }

  /** Simulates a change of model or chunk size. */
  changeSets: () => void = () => undefined;

  onChange(listener: (active: ActiveModel) => void): () => void {
    this.changeSets = () => listener({} as ActiveModel);
    return () => undefined;
  }

  use(
    identity: string,
    embed = (texts: readonly string[]): Float32Array => this.#vectors(texts),
    rules: EmbeddingRules = NO_RULES,
  ): void {
    const info = { dimension: TOPICS.length } as ActiveEmbedder['embedder']['info'];
    const countTokens = (text: string): number => text.length;
    const embedder = { info, countTokens, embed: async (texts: readonly string[]) => embed(texts) };
    this.embedder = { id: identity, identity, rules, embedder };
    this.#listener(this.embedder);
  }

  stop(): void {
    this.embedder = undefined;
    this.#listener(undefined);
  }

  #vectors(texts: readonly string[]): Float32Array {
    this.embedded.push(...texts);
    return Float32Array.from(texts.flatMap((text) => TOPICS.map((topic) => Number(topic.test(text)))));
  }
}

interface Document {
  library: number;
  chunks: string[];
}

function serviceOf(documents: Record<string, Document>) {
  const database = openDatabase(':memory:', [SCHEMA]);
  const embedders = new TopicEmbedders();
  const sets = { current: [1, 2] };
  new WordIndex(database);
  const searches = searchesOf(database);
  const vectors = new VectorIndexes(new VectorTable(database), Engine.open(), searches);
  const service = new SearchService({
    vectors,
    searches,
    catalogue: {
      chunkTable: new ChunkTable(database),
      filter: new DocumentFilter(database),
      pageLabel: (_, offset) => `p. ${offset}`,
    },
    sets: { chunkTokens: 512, chunkSets: (ids) => (ids.length > 0 ? ids.map(Number) : sets.current) },
    models: embedders,
    gate: new Gate(),
    log: silentLogger,
  });
  onTestFinished(async () => {
    await service.close();
    vectors.close();
    database.close();
  });
  for (const [title, { library, chunks }] of Object.entries(documents)) {
    const addDocument = 'INSERT INTO document (library_id, path, title) VALUES (?, ?, ?) RETURNING id';
    const addChunk = `INSERT INTO chunk (chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const id = database.value<number>(addDocument, library, `${title}.md`, title);
    chunks.forEach((text, ordinal) => {
      const place = [ordinal, ordinal * 100, ordinal * 100 + text.length];
      database.run(addChunk, library, id, ...place, title, text, Buffer.alloc(40));
    });
  }
  return { service, embedders, database, sets };
}

const ALL = { libraryIds: [], documentIds: [] };

const ANIMALS = {
  Pets: { library: 1, chunks: ['A kitten needs sleep.', 'Dogs need walks.'] },
  Garage: { library: 2, chunks: ['The vehicle stands in the garage. Kittens are not allowed.', 'Tools.'] },
};

describe('search results', () => {
  test('hits with place, page, reason, ranks and the words that match', async () => {
    const { service } = serviceOf(ANIMALS);
    const { hits, usedVectors } = await service.query({
      text: 'Where does the kitten sleep?',
      scope: ALL,
      limit: 3,
    });
    expect(usedVectors).toBe(false);
    expect(hits[0]).toMatchObject({
      documentId: '1',
      libraryId: '1',
      path: 'Pets.md',
      ordinal: 0,
      page: 'p. 2', // of the first word that matches
      tokens: 10,
      reason: 'match',
      fullText: { rank: 1 },
      vector: null,
    });
    const { text, highlights } = hits[0]!;
    expect(highlights.map(({ start, end }) => text.slice(start, end))).toEqual(['kitten', 'sleep']);
    // Only matches, by rank.
    expect(hits.map(({ documentId, fullText }) => [documentId, fullText?.rank])).toEqual([
      ['1', 1],
      ['2', 2],
    ]);
  });

  test.each<[{ libraryIds: string[]; documentIds: string[] }, string[]]>([
    [ALL, ['1', '2']],
    [{ libraryIds: ['2'], documentIds: [] }, ['2']],
    [{ libraryIds: [], documentIds: ['1'] }, ['1']],
    [{ libraryIds: ['2'], documentIds: ['1'] }, []],
  ])('in %j', async (scope, expected) => {
    const { service } = serviceOf(ANIMALS);
    const { hits } = await service.query({ text: 'kitten', scope, limit: 50 });
    expect([...new Set(hits.map(({ documentId }) => documentId))].sort()).toEqual(expected);
  });

  test('highlights follow stems and unspaced text, and keep their places after emoji', async () => {
    const { service } = serviceOf({ A: { library: 1, chunks: ['🐈 Sleeping cats. 黑猫项目在上海。'] } });
    const { chunks } = await service.find('sleeps 黑猫 上海', { scope: ALL, topK: 1 });
    const text = '🐈 Sleeping cats. 黑猫项目在上海。';
    expect(chunks[0]?.highlights.map(({ start, end }) => text.slice(start, end))).toEqual([
      'Sleeping',
      '黑猫',
      '上海',
    ]);
  });

  test('an aborted search says so', async () => {
    const { service } = serviceOf(ANIMALS);
    const found = service.find('cat', { scope: ALL, topK: 2, signal: AbortSignal.abort() });
    await expect(found).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('with an embedding model', () => {
  test('a search for words alone finds what there is without the model, which it does not ask', async () => {
    const { service, embedders } = serviceOf(ANIMALS);
    const { chunks } = await service.find('kitten', { scope: ALL, topK: 2 });
    embedders.use('a');
    await service.idle();
    expect(await service.byWords('kitten', { scope: ALL, topK: 2 })).toEqual(
      chunks.map(({ chunkId }) => chunkId),
    );
    expect(
      await service.byWords('kitten', { scope: { libraryIds: ['2'], documentIds: [] }, topK: 1 }),
    ).toEqual([3]);
    expect(await service.byWords('feline', { scope: ALL })).toEqual([]);
    expect(embedders.embedded).not.toContain('kitten');
  });

  test('a passage without any word of the question is found, and one that both rankings have comes first', async () => {
    const { service, embedders } = serviceOf(ANIMALS);
    embedders.use('a');
    await service.idle();
    const feline = await service.find('feline', { scope: ALL, topK: 2 });
    expect(feline.usedVectors).toBe(true);
    expect(feline.chunks[0]).toMatchObject({
      documentId: 1,
      ordinal: 0,
      fullText: null,
      vector: { rank: 1 },
    });
    const kitten = await service.find('sleep, feline', { scope: ALL, topK: 4 });
    expect(kitten.chunks[0]).toMatchObject({ documentId: 1, ordinal: 0, fullText: { rank: 1 } });
    expect(kitten.chunks[0]?.score).toBeGreaterThan(0.5);
  });

  test('the scope holds for vectors too, and what has nothing to do with the question stays out', async () => {
    const { service, embedders } = serviceOf(ANIMALS);
    embedders.use('a');
    await service.idle();
    const inGarage = await service.find('feline', { scope: { libraryIds: ['2'], documentIds: [] }, topK: 3 });
    expect(new Set(inGarage.chunks.map(({ documentId }) => documentId))).toEqual(new Set([2]));
    for (const document of [1, 2]) {
      const scope = { libraryIds: [], documentIds: [String(document)] };
      const { chunks } = await service.find('feline', { scope, topK: 3 });
      expect(new Set(chunks.map(({ documentId }) => documentId))).toEqual(new Set([document]));
    }
    expect((await service.find('ocean', { scope: ALL, topK: 3 })).chunks).toEqual([]);
  });

  test('index() embeds what has no vector, once; another model embeds again and the old vectors are deleted', async () => {
    const { service, embedders, database } = serviceOf(ANIMALS);
    embedders.embedder = undefined;
    await service.index(1, 1, new AbortController().signal);
    expect(embedders.embedded).toEqual([]);
    embedders.use('a');
    await service.idle();
    expect(embedders.embedded).toHaveLength(4);
    await service.index(1, 1, new AbortController().signal);
    expect(embedders.embedded).toHaveLength(4);
    embedders.use('b');
    await service.idle();
    expect(embedders.embedded).toHaveLength(8);
    expect(database.value('SELECT count(*) FROM chunk_vector')).toBe(4);
    database.run('DELETE FROM chunk WHERE document_id = 1');
    expect(database.value('SELECT count(*) FROM chunk_vector')).toBe(2);
    embedders.stop();
    expect((await service.find('feline', { scope: ALL, topK: 2 })).usedVectors).toBe(false);
  });

  test("passages and questions get the model's prefixes, and a passage's title its place", async () => {
    const { service, embedders, database } = serviceOf(ANIMALS);
    database.run("UPDATE chunk SET title = '' WHERE document_id = 2");
    const texts: string[] = [];
    const embed = (given: readonly string[]): Float32Array => {
      texts.push(...given);
      return new Float32Array(given.length * TOPICS.length);
    };
    embedders.use('a', embed, { question: 'query: ', passage: 'title: {title} | text: ' });
    await service.idle();
    expect(texts.map((text) => text.slice(0, 20)).sort()).toEqual(
      [
        ...Array<string>(2).fill('title: Pets | text: '),
        ...Array<string>(2).fill('title: none | text: '),
      ].sort(),
    );
    await service.find('feline', { scope: ALL, topK: 2 });
    expect(texts.at(-1)).toBe('query: feline');
    embedders.use('b', embed, { question: '', passage: 'passage: ' });
    await service.idle();
    expect(texts.slice(5).filter((text) => text.startsWith('passage: Pets\n'))).toHaveLength(2);
  });

  test("below the model's own floor a passage has nothing to do with the question", async () => {
    const { service, embedders } = serviceOf(ANIMALS);
    const embed = (texts: readonly string[]): Float32Array =>
      Float32Array.from(texts.flatMap((text) => (text === 'feline' ? [1, 0, 0] : [0.6, 0.8, 0])));
    embedders.use('a', embed);
    await service.idle();
    expect((await service.find('feline', { scope: ALL, topK: 2 })).chunks).not.toEqual([]);
    embedders.use('b', embed, { ...NO_RULES, floor: 0.7 });
    await service.idle();
    expect((await service.find('feline', { scope: ALL, topK: 2 })).chunks).toEqual([]);
  });

  test('chunk sets that come into use later get their vectors then', async () => {
    const { service, embedders, sets } = serviceOf(ANIMALS);
    sets.current = [];
    embedders.use('a');
    await service.idle();
    expect(embedders.embedded).toEqual([]);
    sets.current = [1, 2];
    embedders.changeSets();
    await service.idle();
    expect(embedders.embedded).toHaveLength(4);
  });

  test('a question that cannot be embedded is searched by words', async () => {
    const { service, embedders } = serviceOf(ANIMALS);
    embedders.use('broken', () => {
      throw new KvasirError('ENGINE_FAILED', 'no');
    });
    await service.idle();
    const found = await service.find('kitten', { scope: ALL, topK: 2 });
    expect(found.usedVectors).toBe(false);
    expect(found.chunks.length).toBeGreaterThan(0);
  });
});

describe('filters in the text', () => {
  test.each([
    ['kitten in:work', ['2'], 1],
    ['in:notes kitten', ['1', '2'], 2],
    ['kitten in:elsewhere', [], 0],
    ['kitten kind:pdf', ['2'], 1],
    ['kitten before:2001', ['1'], 1],
    ['kitten kind:pdf before:2001', [], 0],
    ['kitten', ['1', '2'], null],
  ])('%s', async (text, expected, filtered) => {
    const { service, database } = serviceOf(ANIMALS);
    database.run("UPDATE document SET format = 'pdf', mtime_ms = ? WHERE id = 2", Date.UTC(2024, 5));
    const found = await service.query({ text, scope: ALL, limit: 50 });
    expect(found.filtered).toBe(filtered);
    expect([...new Set(found.hits.map(({ documentId }) => documentId))].sort()).toEqual(expected);
    const { chunks } = await service.find(text, { scope: ALL, topK: 4 });
    expect([...new Set(chunks.map(({ documentId }) => String(documentId)))].sort()).toEqual(expected);
  });

  test('leave only those of the documents in scope', async () => {
    const { service } = serviceOf(ANIMALS);
    const scope = { libraryIds: [], documentIds: ['1'] };
    const { hits } = await service.query({ text: 'kitten in:work', scope, limit: 50 });
    expect(hits).toEqual([]);
  });
});

describe('a word that no passage contains', () => {
  test('is searched by the words that differ in a letter, and those are marked', async () => {
    const { service } = serviceOf(ANIMALS);
    const { hits, misspelt } = await service.query({ text: 'Which garaeg?', scope: ALL, limit: 5 });
    expect(misspelt).toEqual(['garaeg']);
    expect(new Set(hits.map(({ documentId }) => documentId))).toEqual(new Set(['2'])); // by text and title
    const { text, highlights } = hits.find(({ ordinal }) => ordinal === 0)!;
    expect(highlights.map(({ start, end }) => text.slice(start, end))).toEqual(['garage']);
    expect((await service.find('garaeg', { scope: ALL, topK: 2 })).chunks[0]?.documentId).toBe(2);
  });

  test('is left alone when nothing is like it, and every other word is taken as it is', async () => {
    const { service } = serviceOf(ANIMALS);
    for (const text of ['elephant', 'garage', 'garage 2031', 'doga'])
      expect(await service.query({ text, scope: ALL, limit: 5 })).toMatchObject({ misspelt: [] });
  });
});

describe('with a reranker', () => {
  /** It prefers texts about vehicles. */
  function reranked(rank?: (query: string, texts: readonly string[]) => Promise<Float32Array>) {
    const set = serviceOf(ANIMALS);
    const read: string[] = [];
    const prefers = (_: string, texts: readonly string[]): Promise<Float32Array> => {
      read.push(...texts);
      return Promise.resolve(Float32Array.from(texts, (text) => (text.includes('vehicle') ? 0.75 : 0.01)));
    };
    const reranker = { info: {} as never, countTokens: () => 1, rank: rank ?? prefers };
    set.embedders.reranker = { id: 'r', reranker };
    return { ...set, read };
  }

  test('the passages that it finds likely come first, and the others have nothing to do with the question', async () => {
    const { service } = reranked();
    const query = { text: 'Where does the kitten sleep?', scope: ALL, limit: 5 };
    const { hits, usedReranker } = await service.query(query);
    expect(usedReranker).toBe(true);
    expect(hits.map(({ documentId, fullText, reranked: by }) => [documentId, fullText?.rank, by])).toEqual([
      ['2', 2, { rank: 1, score: 0.75 }],
      ['1', 1, { rank: 2, score: expect.closeTo(0.01) as number }],
    ]);
    expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score);
    const { chunks } = await service.find('kitten', { scope: ALL, topK: 4 });
    expect(new Set(chunks.map(({ documentId }) => documentId))).toEqual(new Set([2]));
    expect(chunks[0]?.foundBy).toEqual({
      words: ['kittens'],
      fullText: { rank: 2, score: expect.any(Number) as number },
      vector: null,
      reranked: { rank: 1, score: 0.75 },
    });
  });

  test('a question asked again is not read again', async () => {
    const { service, read } = reranked();
    for (const text of ['kitten', 'kitten', 'kitten sleep'])
      await service.find(text, { scope: ALL, topK: 2 });
    expect(read).toHaveLength(4);
  });

  test('that fails, results keep their order', async () => {
    const { service } = reranked(() => Promise.reject(new KvasirError('ENGINE_FAILED', 'no')));
    const { hits, usedReranker } = await service.query({ text: 'kitten sleep', scope: ALL, limit: 5 });
    expect(usedReranker).toBe(false);
    expect(hits.map(({ documentId, reranked: by }) => [documentId, by])).toEqual([
      ['1', null],
      ['2', null],
    ]);
  });
});
