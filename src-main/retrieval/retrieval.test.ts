import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase, type Database } from '../platform/database.ts';
import { matchQuery } from './query.ts';
import { retrieve, type Retrieved } from './retriever.ts';
import { SearchIndex } from './search-index.ts';

/** The part of the catalogue's schema that the index reads. */
const CHUNKS = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, title TEXT NOT NULL);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL)`;

function databaseOf(documents: Record<string, string[]>, set = 1): Database {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-retrieval-'));
  const database = openDatabase(join(dir, 'x.sqlite'), [CHUNKS]);
  onTestFinished(() => {
    database.close();
    rmSync(dir, { recursive: true, force: true });
  });
  add(database, documents, set);
  return database;
}

function add(database: Database, documents: Record<string, string[]>, set: number): void {
  const addDocument = database.prepare('INSERT INTO document (library_id, title) VALUES (?, ?)');
  const addChunk = database.prepare(
    'INSERT INTO chunk (chunk_set_id, document_id, ordinal, title, text) VALUES (?, ?, ?, ?, ?)',
  );
  for (const [title, chunks] of Object.entries(documents)) {
    const { lastInsertRowid } = addDocument.run(set, title);
    chunks.forEach((text, ordinal) => addChunk.run(set, lastInsertRowid, ordinal, title, text));
  }
}

const PEOPLE = {
  'Mara Lind': ['Mara Lind builds bridges.', 'She lives in Oslo.', 'Her desk is number 12.'],
  'Jon Berg': ['Jon Berg sells tea.', 'He lives in Porto.', 'His desk is number 40.'],
  Kitchen: ['The kitchen opens at eight.', 'Tea is free.'],
};

describe('a question can never break the query', () => {
  test.each([
    '"',
    '""" OR',
    "';--",
    'NEAR(a b)',
    'a AND',
    'NOT',
    'title:x',
    'x*',
    '(',
    '^x',
    '{a b}: c',
    'a-b+c',
    '\0',
    '\uFFFD',
    '?!',
    '',
    ' ',
    'AND OR NOT NEAR',
    '"unbalanced',
    '💥',
    'a\u0301',
    '中文 问题',
    'é'.repeat(5000),
  ])('%j', (question) => {
    const index = new SearchIndex(databaseOf(PEOPLE), 1);
    expect(Array.isArray(index.search(question, 5))).toBe(true);
  });

  test('words are quoted, frequent ones left out unless there are no others', () => {
    expect(matchQuery('Where does "Mara" live, AND why?')).toBe('"mara" OR "live"');
    expect(matchQuery('who are you?')).toBe('"who" OR "are" OR "you"');
    expect(matchQuery('?!')).toBe('');
  });
});

describe('search', () => {
  test("finds a pronoun's chunk by the title above it, and other forms of a word", () => {
    const index = new SearchIndex(databaseOf(PEOPLE), 1);
    const [best] = index.search('Where is Mara living?', 5);
    expect(best).toMatchObject({ documentId: 1, ordinal: 1 });
    expect(best?.score).toBeGreaterThan(0);
  });

  test('follows changes of the table, and sees only its own set', () => {
    const database = databaseOf(PEOPLE);
    const index = new SearchIndex(database, 1);
    add(database, { 'Mara Lind': ['Mara Lind, other set'] }, 2);
    expect(index.search('other', 5)).toEqual([]);
    add(database, { New: ['A zebra.'] }, 1);
    expect(index.search('zebra', 5)).toHaveLength(1);
    database.prepare("DELETE FROM chunk WHERE text = 'A zebra.'").run();
    expect(index.search('zebra', 5)).toEqual([]);
    expect(new SearchIndex(database, 2).search('other', 5)).toHaveLength(1);
    expect(new SearchIndex(database, 1).search('mara', 5)).toHaveLength(3); // opened again: nothing twice
  });
});

describe('retrieve', () => {
  test('brings the chunk with the name before the one that says "she"', () => {
    const database = databaseOf({
      a: ['Mara Lind builds bridges.', 'She lives in Oslo near the harbour.', 'Her desk is 12.'],
      b: ['No.'],
    });
    const found = retrieve(new SearchIndex(database, 1), 'Who lives near the harbour?', 2);
    expect(found.map(({ ordinal, reason }) => [ordinal, reason])).toEqual([
      [0, 'stands before a match'],
      [1, 'matches the question'],
    ]);
  });

  test('no chunk comes without what leads up to it', () => {
    const index = new SearchIndex(databaseOf(PEOPLE), 1);
    for (const topK of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const found = retrieve(index, 'Whose desk is number 40, and who lives in Oslo?', topK);
      expect(found.length).toBeLessThanOrEqual(topK);
      const have = new Set(found.map(({ documentId, ordinal }) => `${documentId}:${ordinal}`));
      // The best match alone may exceed a tiny budget; from there on every lead-in is whole.
      if (topK < 3) continue;
      for (const { documentId, ordinal } of found)
        for (let o = Math.max(0, ordinal - 2); o < ordinal; o++) expect(have).toContain(`${documentId}:${o}`);
    }
  });

  test('the best match comes even where its lead-in does not fit', () => {
    const found = retrieve(new SearchIndex(databaseOf(PEOPLE), 1), 'Whose desk is number 40?', 1);
    expect(found).toMatchObject([{ documentId: 2, ordinal: 2 }]);
  });

  test('documents come by their best chunk, chunks in reading order, within the budget', () => {
    const found = retrieve(new SearchIndex(databaseOf(PEOPLE), 1), 'Does Jon Berg live in Porto?', 4);
    expect(found).toHaveLength(4);
    expect(found.slice(0, 3).map(({ documentId, ordinal }) => [documentId, ordinal])).toEqual([
      [2, 0],
      [2, 1],
      [2, 2],
    ]);
    expect(found[1]?.score).toBe(Math.max(...found.map(({ score }) => score)));
  });

  describe('a document named in a match', () => {
    const documents = {
      'Project Fjord': ['Project Fjord is new.', 'It is led by Mara Lind, not by Max.'],
      'Mara Lind': ['Mara Lind builds bridges.', 'She likes to read.', 'She was born in May.'],
      Max: ['Max was born in June.'],
      'Jon Berg': ['Jon Berg was born in July.'],
    };
    const question = 'When was the leader of Project Fjord born?';
    const found = (): Retrieved[] => retrieve(new SearchIndex(databaseOf(documents), 1), question, 5);

    test('brings its own best chunk for the question', () => {
      expect(found()).toContainEqual(
        expect.objectContaining({ documentId: 2, ordinal: 2, reason: 'its document is named in a match' }),
      );
    });

    test('comes before documents that only share words, and after the match', () => {
      expect(found().map(({ documentId }) => documentId)).toEqual([1, 1, 2, 2, 2]);
    });

    test('is not meant by a part of a word, or by a short word', () => {
      const index = new SearchIndex(
        databaseOf({ Ann: ['x'], Mara: ['y'], z: ['Maratonga and Ann win the marathon, Maraé.'] }),
        1,
      );
      expect(index.mentions({ chunkId: 3, documentId: 3 })).toEqual([]);
    });
  });

  test('nothing matches', () => {
    expect(retrieve(new SearchIndex(databaseOf(PEOPLE), 1), 'xylophone', 3)).toEqual([]);
    expect(() => retrieve(new SearchIndex(databaseOf(PEOPLE), 1), 'x', 0)).toThrow(TypeError);
  });
});
