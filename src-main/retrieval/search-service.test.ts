import { describe, expect, onTestFinished, test } from 'vitest';
import type { ActiveEmbedder, ActiveModel, EmbedderSource } from '../models/active-model.ts';
import { ChunkTable } from '../catalogue/chunk-table.ts';
import { VectorTable } from '../catalogue/vector-table.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { openDatabase } from '../platform/database.ts';
import { Gate } from '../platform/gate.ts';
import { silentLogger } from '../platform/logger.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { SearchService } from './search-service.ts';

const SCHEMA = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, char_start INTEGER NOT NULL, char_end INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, tokens BLOB NOT NULL, lead BLOB NOT NULL DEFAULT x'')`;

/** A vector that encodes which of these topics a text mentions. */
const TOPICS = [/cat|kitten|feline/i, /car|vehicle|automobile/i, /sea|ocean/i];

class TopicEmbedders implements EmbedderSource {
  embedder: ActiveEmbedder | undefined;
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

  use(identity: string, embed = (texts: readonly string[]): Float32Array => this.#vectors(texts)): void {
    const info = { dimension: TOPICS.length } as ActiveEmbedder['embedder']['info'];
    const countTokens = (text: string): number => text.length;
    const embedder = { info, countTokens, embed: async (texts: readonly string[]) => embed(texts) };
    this.embedder = { id: identity, identity, embedder };
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
  const service = new SearchService({
    catalogue: {
      words: new WordTable(database),
      vectors: new VectorTable(database),
      chunkTable: new ChunkTable(database),
      pageLabel: (_, offset) => `p. ${offset}`,
    },
    sets: { chunkTokens: 512, chunkSets: (ids) => (ids.length > 0 ? ids.map(Number) : sets.current) },
    models: embedders,
    gate: new Gate(),
    log: silentLogger,
  });
  onTestFinished(async () => {
    await service.close();
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
