import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SearchScope } from '../catalogue/search-scope.ts';
import { WordIndex } from '../catalogue/word-index.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { compareWords } from '../catalogue/edit-distance.ts';
import { ftsTerm, termsFor } from '../catalogue/words.ts';
import type { Language } from '../catalogue/language.ts';
import { openDatabase, type Database } from '../platform/database.ts';
import { randomFrom } from '../testing/random.ts';
import { retrieve } from './retriever.ts';
import type { RetrievedChunk } from './types.ts';
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
  const addDocument = 'INSERT INTO document (library_id, title) VALUES (?, ?) RETURNING id';
  const addChunk =
    'INSERT INTO chunk (chunk_set_id, document_id, ordinal, title, text) VALUES (?, ?, ?, ?, ?)';
  for (const [title, chunks] of Object.entries(documents)) {
    const document = database.value<number>(addDocument, set, title);
    chunks.forEach((text, ordinal) => database.run(addChunk, set, document, ordinal, title, text));
  }
}

function matchQuery(question: string, ...languages: Language[]): string {
  return termsFor(question, languages.length > 0 ? languages : ['en'])
    .map(ftsTerm)
    .join(' OR ');
}

function indexOf(database: Database, scope: number | SearchScope): SearchIndex {
  new WordIndex(database); // brings the index up to date
  return new SearchIndex(new WordTable(database), scope);
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
    const index = indexOf(databaseOf(PEOPLE), 1);
    expect(Array.isArray(index.search(question, 5))).toBe(true);
  });

  test('words are quoted, frequent ones left out unless there are no others', () => {
    expect(matchQuery('Where does "Mara" live, AND why?')).toBe('"mara" OR "live"');
    expect(matchQuery('who are you?')).toBe('"who" OR "ar" OR "you"');
    expect(matchQuery('?!')).toBe('');
  });
});

describe('search', () => {
  test("finds a pronoun's chunk by the title above it, and other forms of a word", () => {
    const index = indexOf(databaseOf(PEOPLE), 1);
    const [best] = index.search('Where is Mara living?', 5);
    expect(best).toMatchObject({ documentId: 1, ordinal: 1 });
    expect(best?.score).toBeGreaterThan(0);
  });

  test('follows changes of the table, and sees only its own set', () => {
    const database = databaseOf(PEOPLE);
    const index = indexOf(database, 1);
    add(database, { 'Mara Lind': ['Mara Lind, other set'] }, 2);
    expect(index.search('other', 5)).toEqual([]);
    add(database, { New: ['A zebra.'] }, 1);
    expect(index.search('zebra', 5)).toHaveLength(1);
    database.run("DELETE FROM chunk WHERE text = 'A zebra.'");
    expect(index.search('zebra', 5)).toEqual([]);
    expect(indexOf(database, 2).search('other', 5)).toHaveLength(1);
    expect(indexOf(database, 1).search('mara', 5)).toHaveLength(3); // opened again: nothing twice
  });
});

describe('retrieve', () => {
  test('brings the chunk with the name before the one that says "she"', () => {
    const database = databaseOf({
      a: ['Mara Lind builds bridges.', 'She lives in Oslo near the harbour.', 'Her desk is 12.'],
      b: ['No.'],
    });
    const found = retrieve(indexOf(database, 1), 'Who lives near the harbour?', 2);
    expect(found.map(({ ordinal, reason }) => [ordinal, reason])).toEqual([
      [0, 'before-match'],
      [1, 'match'],
    ]);
  });

  describe('no match of the better half is displaced by the surroundings of a better one', () => {
    const found = (filler: number): unknown[] => {
      const text = (n: number): string => `Nothing is said here${' at all'.repeat(n + filler)}.`;
      const documents = Object.fromEntries(
        ['One', 'Two', 'Three', 'Four'].map((name, i) => [
          name,
          [
            text(4 * i),
            text(4 * i + 1),
            `The quartz lamp of ${name}${', quartz'.repeat(filler)}.`,
            text(4 * i + 2),
          ],
        ]),
      );
      const chosen = retrieve(indexOf(databaseOf(documents), 1), 'Where is a quartz lamp?', 4);
      return chosen.map(({ reason, ordinal }) => [reason, ordinal]);
    };

    test('short chunks: two matches, and the text before them', () => {
      expect(found(0).filter((each) => String(each) === 'match,2')).toHaveLength(2);
    });

    test('self-contained chunks: matches only', () => {
      expect(found(200)).toEqual(Array(4).fill(['match', 2]));
    });
  });

  test('neighbours are under the same headings', () => {
    const database = databaseOf({ a: ['Release notes of June.', 'The lamp glows.', 'Contact us by mail.'] });
    database.run("UPDATE chunk SET title = 'a › June' WHERE ordinal = 0");
    database.run("UPDATE chunk SET title = 'a › Contact' WHERE ordinal = 2");
    const found = retrieve(indexOf(database, 1), 'What glows?', 5);
    expect(found.map(({ ordinal }) => ordinal)).toEqual([1]);
  });

  test('chunks of one text come once', () => {
    const copies = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [name, ['The  licence of the Lamp.']]),
    );
    const found = retrieve(indexOf(databaseOf({ ...copies, e: ['The lamp glows.'] }), 1), 'lamp', 4);
    expect(found.map(({ documentId }) => documentId).sort()).toEqual([expect.any(Number), 5]);
  });

  test('the best match comes even where its lead-in does not fit', () => {
    const found = retrieve(indexOf(databaseOf(PEOPLE), 1), 'Whose desk is number 40?', 1);
    expect(found).toMatchObject([{ documentId: 2, ordinal: 2 }]);
  });

  test('documents come by their best chunk, chunks in reading order, within the budget', () => {
    const found = retrieve(indexOf(databaseOf(PEOPLE), 1), 'Does Jon Berg live in Porto?', 4);
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
    const found = (): RetrievedChunk[] => retrieve(indexOf(databaseOf(documents), 1), question, 5);

    test('brings its own best chunk for the question', () => {
      expect(found()).toContainEqual(
        expect.objectContaining({ documentId: 2, ordinal: 2, reason: 'named-in-match' }),
      );
    });

    test('comes before documents that only share words, and after the match', () => {
      expect(found().map(({ documentId }) => documentId)).toEqual([1, 1, 2, 2, 2]);
    });

    test('brings what follows its beginning where its chunks are short, rather than what shares a word', () => {
      const teams = Object.fromEntries(
        ['Oak', 'Elm', 'Ash', 'Fir'].map((name) => [name, [`The leader of ${name} sits here.`]]),
      );
      const filler = (characters: number): string => ' '.padEnd(characters, 'It was so. ');
      const asked = (characters: number): string[] => {
        const person = ['Mara Lind.', 'She reads.', 'Her desk is 12.'].map(
          (text) => text + filler(characters),
        );
        const index = indexOf(databaseOf({ ...documents, ...teams, 'Mara Lind': person }), 1);
        const passages = retrieve(index, 'Where does the leader of Project Fjord sit?', 5);
        return passages.filter(({ documentId }) => documentId === 2).map(({ reason }) => reason);
      };
      expect(asked(20)).toEqual(['named-in-match', 'after-match', 'after-match']);
      expect(asked(1200)).toEqual(['named-in-match']);
    });

    test('is not meant by a part of a word, or by a short word', () => {
      const index = indexOf(
        databaseOf({ Ann: ['x'], Mara: ['y'], z: ['Maratonga and Ann win the marathon, Maraé.'] }),
        1,
      );
      expect(index.mentions({ chunkId: 3 })).toEqual([]);
    });
  });

  test('a title that several documents have names none of them', () => {
    const database = databaseOf({ Index: ['x'], z: ['See Index for more.'] });
    const index = indexOf(database, 1);
    expect(index.mentions({ chunkId: 2 })).toEqual([1]);
    database.run("UPDATE document SET title = 'index' WHERE id = 1");
    expect(index.mentions({ chunkId: 2 })).toEqual([]);
    database.run("UPDATE document SET title = 'Index' WHERE id = 1");
    add(database, { Index: ['y'] }, 1);
    expect(index.mentions({ chunkId: 2 })).toEqual([]);
  });

  test('nothing matches', () => {
    expect(retrieve(indexOf(databaseOf(PEOPLE), 1), 'xylophone', 3)).toEqual([]);
    expect(() => retrieve(indexOf(databaseOf(PEOPLE), 1), 'x', 0)).toThrow(TypeError);
  });
});

test('which file was read first decides nothing: equal scores go by content', () => {
  const documents = Object.entries({
    Alpha: ['The ship sails on Monday.', 'Its port is Oslo.'],
    Beta: ['The ship sails on Friday.', 'Its port is Porto.'],
    Gamma: ['The ship sails on Sunday.', 'Its port is Turku.'],
  });
  const found = (entries: typeof documents): unknown[] => {
    const database = databaseOf(Object.fromEntries(entries));
    return retrieve(indexOf(database, 1), 'When does the ship sail?', 3).map(({ chunkId }) =>
      database.value('SELECT text FROM chunk WHERE id = ?', chunkId),
    );
  };
  expect(found(documents)).toHaveLength(3);
  expect(found(documents.toReversed())).toEqual(found(documents));
});

describe('text without spaces between words', () => {
  const documents = {
    项目: ['黑猫项目由李明领导。', '他住在上海，办公室在三楼。', '猫'],
    会議: ['来週の会議は東京で行われます。', 'ラーメンが好きです。'],
    회의: ['다음 회의는 서울에서 열립니다.'],
    English: ['The cat sleeps in Shanghai.'],
  };
  const best = (question: string) => indexOf(databaseOf(documents), 1).search(question, 5)[0];

  test.each([
    ['谁领导黑猫项目？', 1, 0],
    ['办公室在哪里？', 1, 1],
    ['会議はどこですか', 2, 0],
    ['ﾗｰﾒﾝ', 2, 1], // half-width
    ['서울', 3, 0],
    ['Ｓｈａｎｇｈａｉ', 4, 0], // full-width
  ])('%s finds document %i, chunk %i', (question, documentId, ordinal) => {
    expect(best(question)).toMatchObject({ documentId, ordinal });
  });

  test('one character finds every place where it occurs, also at the end of a run', () => {
    const found = indexOf(databaseOf(documents), 1).search('猫', 5);
    expect(found.map(({ ordinal }) => ordinal).sort()).toEqual([0, 2]);
    expect(indexOf(databaseOf(documents), 1).search('楼', 5)).toHaveLength(1);
  });

  test('function words of a question are no words to look for, unless there are no others', () => {
    expect(matchQuery('什么是黑猫')).toBe('"黑猫"');
    expect(matchQuery('什么')).not.toBe('');
  });
});

describe('words of other languages', () => {
  const documents = {
    Wohnen: ['Die Häuser in der Stadt werden von den Mietern gepflegt.', 'Der Garten ist für alle da.'],
    Living: ['The houses of the town are looked after by those who rent them.'],
    Maisons: ['Les maisons de la ville sont entretenues par les locataires.'],
  };
  test.each([
    ['Wer pflegt das Haus?', 1],
    ['Who rents a house?', 2],
    ['Qui entretient une maison ?', 3],
  ])('%s', (question, documentId) => {
    expect(indexOf(databaseOf(documents), 1).search(question, 5)[0]).toMatchObject({ documentId });
  });

  test('a large index leaves out words that occur in most chunks, and all but the rarest of very many', () => {
    const many = Array.from({ length: 1200 }, (_, i) => `The project has item${i}.`);
    const index = indexOf(databaseOf({ many }), 1);
    expect(index.search('Which project has item77?', 9).map(({ ordinal }) => ordinal)).toEqual([77]);
    expect(index.search('project', 9)).toHaveLength(9);
    const pasted = Array.from({ length: 300 }, (_, i) => `item${i * 2}`).join(' ');
    expect(index.search(pasted, 400).length).toBeLessThanOrEqual(24);
    const unknown = Array.from({ length: 30 }, (_, i) => `nowhere${i}`).join(' ');
    expect(index.search(`${unknown} item77`, 9).map(({ ordinal }) => ordinal)).toEqual([77]);
  });

  test('misspelt words are looked up in a fraction of the words, with what comparing all would find', () => {
    const random = randomFrom(5);
    const one = (of: string): string => of.charAt(Math.floor(random() * of.length));
    const word = (syllables: number): string =>
      Array.from({ length: syllables }, () => one('bcdfghjklmnpr') + one('aeiou')).join('');
    const words = [...new Set(Array.from({ length: 20_000 }, (_, i) => word(3 + (i % 3))))];
    const texts = words.flatMap((_, i) => (i % 100 === 0 ? [words.slice(i, i + 100).join(' ')] : []));
    const database = databaseOf({});
    new WordIndex(database);
    database.transaction(() => add(database, { many: texts }, 1));
    const terms = database.column<string>('SELECT term FROM chunk_words_2_terms');
    const { counts } = new WordTable(database);
    const seeks = vi.spyOn(database, 'value');
    const asked = words.slice(0, 60).map((each) => `${each.slice(0, 3)}${one('qxz')}${each.slice(4)}`);
    for (const misspelt of asked) {
      const most = misspelt.length >= 8 ? 2 : 1;
      const sameLetter = terms.filter((term) => term[0] === misspelt[0]);
      const distances = sameLetter.map((term) => compareWords(misspelt, term, most).edits);
      seeks.mockClear();
      const [found] = counts.similar([{ word: misspelt, terms: [{ text: misspelt }] }]);
      expect(seeks.mock.calls.length).toBeLessThan(sameLetter.length * (most === 1 ? 0.4 : 0.9));
      const near = found?.terms.map(({ text }) => compareWords(misspelt, text, most).edits) ?? [];
      const least = Math.min(...distances);
      const nearest = distances.filter((edits) => edits === least && edits <= most);
      expect(near).toEqual(nearest.slice(0, 3));
    }
  });

  test('words in more places than a search reads are weighed by an estimate of their number', () => {
    const many = Array.from(
      { length: 22_000 },
      (_, i) => `Report${i % 5 === 0 ? ' blue' : ''} ${i < 21_000 ? 'old' : 'new'}.`,
    );
    const database = databaseOf({});
    database.transaction(() => add(database, { many }, 1));
    const index = indexOf(database, 1);
    const first =
      'INSERT INTO chunk (id, chunk_set_id, document_id, ordinal, title, text) VALUES (-5, 2, 9, 0, ?, ?)';
    database.run(first, 'Other', 'Report of another library.');
    expect(indexOf(database, 2).search('report', 9)).toHaveLength(1);
    // "old" is in 21,000 chunks and "report" in all: neither is rarer than the other words.
    expect(index.rareWords('new report', [1, 22_000])).toEqual([new Set([22_000])]);
    expect(index.search('report old', 5)[0]?.ordinal).toBeLessThan(21_000);
    expect(index.search('blue report', 9).every(({ ordinal }) => ordinal % 5 === 0)).toBe(true);
    database.run(
      "INSERT INTO chunk (chunk_set_id, document_id, ordinal, title, text) VALUES (1, 1, 9, '', 'green')",
    );
    expect(index.search('green report', 9).map(({ chunkId }) => chunkId)).toEqual([22_001]);
    expect(['green report', 'blue', 'report'].map((text) => index.newest(text))).toEqual([
      null,
      null,
      20_000,
    ]);
    const newest = index.search('report', 30_000).map(({ chunkId }) => chunkId);
    expect([newest.length, Math.min(...newest)]).toEqual([20_000, 2001]);
  });
});

describe('one index for all chunk sets', () => {
  test('a search covers the given sets and documents, and scores are comparable', () => {
    const database = databaseOf({ One: ['apple pie'], Two: ['apple tart', 'plum'] }, 1);
    add(database, { Three: ['apple pie'] }, 2);
    const ids = (scope: { chunkSetIds: number[]; documentIds?: number[] }): number[] =>
      indexOf(database, scope)
        .search('apple', 9)
        .map(({ documentId }) => documentId);
    expect(ids({ chunkSetIds: [1, 2] }).sort()).toEqual([1, 2, 3]);
    expect(ids({ chunkSetIds: [2] })).toEqual([3]);
    expect(ids({ chunkSetIds: [1, 2], documentIds: [2, 3] }).sort()).toEqual([2, 3]);
    expect(ids({ chunkSetIds: [] })).toEqual([]);
    const [a, b] = indexOf(database, { chunkSetIds: [1, 2] }).search('pie', 9);
    expect(a?.score).toBeCloseTo(b?.score ?? 0, 3);
  });

  test('an index of the first version is replaced, with what was in it', () => {
    const database = databaseOf(PEOPLE);
    database.exec(`CREATE VIEW chunk_set_1 AS SELECT id, title, text FROM chunk WHERE chunk_set_id = 1;
      CREATE VIRTUAL TABLE chunk_fts_1 USING fts5(title, text, content='chunk_set_1', content_rowid='id');
      CREATE TRIGGER chunk_fts_1_insert AFTER INSERT ON chunk WHEN new.chunk_set_id = 1 BEGIN
        INSERT INTO chunk_fts_1 (rowid, title, text) VALUES (new.id, new.title, new.text);
      END;
      INSERT INTO chunk_fts_1 (chunk_fts_1) VALUES ('rebuild');`);
    expect(indexOf(database, 1).search('Mara', 9)).toHaveLength(3);
    const old = "SELECT name FROM sqlite_master WHERE name GLOB 'chunk_fts*' OR name GLOB 'chunk_set_*'";
    expect(database.all(old)).toEqual([]);
    add(database, { New: ['Mara again'] }, 1);
    expect(indexOf(database, 1).search('Mara', 9)).toHaveLength(4);
  });
});

describe('the order of words', () => {
  const notes = [
    'Tags are names. Whoever has a key has signed the agreement; tags of that key are trusted, signed or not.',
    'Whoever makes releases needs a key. A release is announced by signed tags, which name its maker.',
    'Signed papers lie in the archive.',
  ];

  test('of passages with the same words, the one that has them as the question has comes first', () => {
    const index = indexOf(databaseOf({ notes }), 1);
    expect(index.search('signed tags', 3)[0]).toMatchObject({ ordinal: 1 });
    expect(index.search('tags signed', 3)[0]).toMatchObject({ ordinal: 0 });
  });

  test('counts in the titles above a passage as well', () => {
    const text = 'It is done once a year, by the office.';
    const index = indexOf(databaseOf({ 'Office keys': [text], 'Keys of the office': [`${text} `] }), 1);
    expect(index.search('keys of the office', 2)[0]).toMatchObject({ documentId: 2 });
    expect(index.search('office keys', 2)[0]).toMatchObject({ documentId: 1 });
  });

  test('unspaced text goes by its characters', () => {
    const index = indexOf(databaseOf({ 甲: ['明月，上海', '上海的明月'] }), 1);
    expect(index.search('上海的明月', 2)[0]).toMatchObject({ ordinal: 1 });
  });
});

test('a purge forgets the words that no chunk contains any more', () => {
  const database = databaseOf({ a: ['The zebra sleeps.', 'The giraffe sleeps.'] });
  const index = new WordIndex(database);
  const misspelt = (word: string): string[] =>
    new SearchIndex(new WordTable(database), 1)
      .misspelt(word)
      .flatMap(({ terms }) => terms.map(({ text }) => text));
  expect([misspelt('girafe'), misspelt('zebar')]).toEqual([['giraff'], ['zebra']]);
  database.run("DELETE FROM chunk WHERE text LIKE '%zebra%'");
  for (const _ of index.purge()) expect(database.pragma('integrity_check')).toBe('ok');
  const terms = database.column('SELECT term FROM chunk_words_2_terms');
  expect(terms).toContain('giraff');
  expect(terms).not.toContain('zebra');
});
