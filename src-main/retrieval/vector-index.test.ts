import { describe, expect, onTestFinished, test } from 'vitest';
import { VectorTable } from '../catalogue/vector-table.ts';
import { WordIndex } from '../catalogue/word-index.ts';
import { Engine } from '../engine/engine.ts';
import type { ActiveEmbedder } from '../models/active-model.ts';
import { NO_RULES } from '../models/embedding/rules.ts';
import { openDatabase, type Database } from '../platform/database.ts';
import { randomFrom } from '../testing/random.ts';
import { searchesOf } from '../testing/searches.ts';
import { dot } from './exact-hits.ts';
import type { SearchRunner } from './search-thread.ts';
import { VectorIndex } from './vector-index.ts';

const SCHEMA = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, title TEXT NOT NULL);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, tokens BLOB NOT NULL DEFAULT x'')`;
const DIMENSION = 96;
const ALL = { chunkSetIds: [1] };

const engine = Engine.open();

/** Unit vectors, around `topics` centres if there are any. */
function unitVectors(count: number, topics: number, seed: number): Float32Array[] {
  const random = randomFrom(seed);
  const normalFrom = (draw: () => number) => (): number =>
    Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const normal = normalFrom(random);
  const ofCentres = normalFrom(randomFrom(77)); // the same centres for every seed
  const centres = Array.from({ length: topics }, () => Array.from({ length: DIMENSION }, ofCentres));
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * topics)];
    const values = Float32Array.from({ length: DIMENSION }, (_, i) => 4 * (centre?.[i] ?? 0) + normal());
    const length = Math.hypot(...values);
    return values.map((value) => value / length);
  });
}

/** Chunks 1 to `count`, ten in a document, and the index of one model. */
function indexOf(count: number, identity = 'a', dimension = DIMENSION, during: () => void = () => undefined) {
  const database = openDatabase(':memory:', [SCHEMA]);
  new WordIndex(database); // creates the index of places
  const table = new VectorTable(database);
  const insert = `INSERT INTO chunk (id, chunk_set_id, document_id, ordinal, title, text) VALUES (?, 1, ?, ?, '', '')`;
  for (let id = 1; id <= count; id++) database.run(insert, id, Math.ceil(id / 10), (id - 1) % 10);
  const info = { dimension } as ActiveEmbedder['embedder']['info'];
  const embedder = { info } as ActiveEmbedder['embedder'];
  const here = searchesOf(database);
  const searches: SearchRunner = {
    run: async (...request) => {
      const reply = await here.run(...request);
      during(); // as while a thread answers
      return reply;
    },
  };
  const index = new VectorIndex(table, engine, searches, { identity, rules: NO_RULES, embedder });
  onTestFinished(() => {
    index.dispose();
    database.close();
  });
  return { database, table, index };
}

function put(index: VectorIndex, chunkIds: readonly number[], vectors: readonly Float32Array[]): void {
  index.put(chunkIds, Float32Array.from(vectors.flatMap((vector) => [...vector])));
}

const ids = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Ids of the nearest chunks that are stored, by comparing all. */
function nearestOf(database: Database, query: Float32Array, limit: number): number[] {
  const rows = database.all<{ id: number; vector: Buffer }>(
    'SELECT chunk_id AS id, vector FROM chunk_vector',
  );
  const scored = rows.map(({ id, vector }) => {
    const values = new Float32Array(new Uint8Array(vector).buffer);
    return { id, score: dot(query, values) };
  });
  const ranked = scored.sort((a, b) => b.score - a.score || a.id - b.id);
  return ranked.slice(0, limit).map(({ id }) => id);
}

describe('the nearest passages', () => {
  test.each([
    [0, 'in all directions'],
    [12, 'around topics'],
    [1, 'all alike'],
  ])('are those of a comparison with every vector, in order: %i centres, %s', async (topics) => {
    const { database, index } = indexOf(3000);
    const vectors = unitVectors(3000, topics, 1);
    put(index, ids(3000), vectors);
    for (const query of unitVectors(20, topics, 2).concat(vectors.slice(0, 5))) {
      const { hits } = await index.nearest(query, ALL, 20);
      expect(hits.length).toBeGreaterThan(10);
      expect(hits.map(({ chunkId }) => chunkId)).toEqual(nearestOf(database, query, hits.length));
      for (const { chunkId, score, documentId } of hits) {
        expect(score).toBe(dot(query, vectors[chunkId - 1] ?? query));
        expect(documentId).toBe(Math.ceil(chunkId / 10));
      }
    }
  });

  test('lie in the documents and sets of the scope', async () => {
    const { index } = indexOf(200);
    const vectors = unitVectors(200, 3, 1);
    put(index, ids(200), vectors);
    const query = vectors[42] as Float32Array;
    const documentsFor = async (scope: Parameters<VectorIndex['nearest']>[1]): Promise<Set<number>> => {
      const { hits } = await index.nearest(query, scope, 100);
      return new Set(hits.map(({ documentId }) => documentId));
    };
    expect(await documentsFor({ ...ALL, documentIds: [5] })).toEqual(new Set([5]));
    expect(await documentsFor({ chunkSetIds: [2] })).toEqual(new Set());
    expect(await documentsFor({ chunkSetIds: [], standIns: new Map([[5, 1]]) })).toEqual(new Set([5]));
    expect(await documentsFor({ ...ALL, standIns: new Map([[5, 2]]) })).not.toContain(5);
  });

  test('of vectors of another length there are none', async () => {
    const { table, index } = indexOf(3);
    table.put(table.modelId('a'), [[1, Buffer.alloc(8)]]);
    expect((await index.nearest(new Float32Array(DIMENSION).fill(1), ALL, 5)).hits).toEqual([]);
  });
});

describe('the compact copy', () => {
  /** Whether a search for a chunk's own vector finds it first. */
  async function finds(
    index: VectorIndex,
    chunkId: number,
    vectors: readonly Float32Array[],
  ): Promise<boolean> {
    const { hits } = await index.nearest(vectors[chunkId - 1] as Float32Array, ALL, 1);
    return hits[0]?.chunkId === chunkId;
  }

  test('follows what is stored and deleted, by whichever statement', async () => {
    const { database, index } = indexOf(300);
    const vectors = unitVectors(300, 0, 1);
    put(index, ids(250), vectors.slice(0, 250));
    expect(await finds(index, 7, vectors)).toBe(true);
    put(index, [300], vectors.slice(299));
    expect(await finds(index, 300, vectors)).toBe(true);
    database.run('DELETE FROM chunk WHERE document_id = 1');
    expect(await finds(index, 7, vectors)).toBe(false);
    expect(await finds(index, 11, vectors)).toBe(true);
  });

  test('keeps what a deletion that was undone had deleted', async () => {
    const { database, index } = indexOf(100);
    const vectors = unitVectors(100, 0, 1);
    put(index, ids(100), vectors);
    expect(await finds(index, 7, vectors)).toBe(true);
    const undone = (): void =>
      database.transaction(() => {
        database.run('DELETE FROM chunk WHERE id < 50');
        throw new Error('undone');
      });
    expect(undone).toThrow('undone');
    expect(await finds(index, 7, vectors)).toBe(true);
  });

  test('takes a new vector in a row whose id was used before', async () => {
    const { database, index } = indexOf(100);
    const vectors = unitVectors(100, 0, 1);
    put(index, ids(100), vectors);
    expect(await finds(index, 100, vectors)).toBe(true);
    const before = database.value('SELECT max(id) FROM chunk_vector');
    database.run('DELETE FROM chunk_vector WHERE chunk_id IN (99, 100)');
    const [other, another] = unitVectors(2, 0, 5);
    put(index, [100, 99], [other!, another!]);
    expect(database.value('SELECT max(id) FROM chunk_vector')).toBe(before);
    expect(await finds(index, 100, vectors)).toBe(false);
    expect((await index.nearest(other!, ALL, 1)).hits[0]?.chunkId).toBe(100);
    expect((await index.nearest(another!, ALL, 1)).hits[0]?.chunkId).toBe(99);
  });

  test('follows what is deleted and stored again while rows are read', async () => {
    const steps: (() => void)[] = [];
    const { database, index } = indexOf(300, 'a', DIMENSION, () => steps.shift()?.());
    const vectors = unitVectors(301, 0, 1);
    const [newest] = vectors.slice(300);
    put(index, ids(300), vectors.slice(0, 300));
    steps.push(() => {
      database.run('DELETE FROM chunk WHERE id IN (7, 300)');
      database.run(
        "INSERT INTO chunk (id, chunk_set_id, document_id, ordinal, title, text) VALUES (300, 1, 30, 9, '', '')",
      );
      put(index, [300], [newest!]);
    });
    const found = (query: Float32Array | undefined) => index.nearest(query!, ALL, 1);
    expect((await found(newest)).hits).toMatchObject([
      { chunkId: 300, score: expect.closeTo(1, 4) as number },
    ]);
    expect(steps).toEqual([]);
    expect(await finds(index, 7, vectors)).toBe(false);
    expect(await finds(index, 8, vectors)).toBe(true);
  });

  test("has no other model's vectors, and is complete again after an aborted search", async () => {
    const { database, table, index } = indexOf(1000);
    const vectors = unitVectors(1000, 0, 1);
    const other = table.modelId('b');
    table.put(other, [[1, Buffer.from(vectors[1]!.buffer)]]);
    put(index, ids(1000), vectors);
    const aborted = index.nearest(vectors[0]!, ALL, 5, AbortSignal.abort());
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await finds(index, 2, vectors)).toBe(true);
    expect(await finds(index, 1000, vectors)).toBe(true);
    await index.keepOnlyThis(new AbortController().signal);
    expect(database.value('SELECT count(*) FROM chunk_vector')).toBe(1000);
    expect(await finds(index, 1, vectors)).toBe(true);
  });
});
