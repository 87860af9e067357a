import { expect, onTestFinished, test } from 'vitest';
import { WordIndex } from '../catalogue/word-index.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { openDatabase } from '../platform/database.ts';
import { isContents, isTitlePage } from './cut-off.ts';
import { choosePassages, fullTextRanking } from './retriever.ts';
import { SearchIndex } from './search-index.ts';

const SCHEMA = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, title TEXT NOT NULL);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL)`;

/** Chosen texts, in prompt order, from documents of one chunk each, unless one is a list. */
function choose(documents: Record<string, string | string[]>, question: string): string[] {
  const database = openDatabase(':memory:', [SCHEMA]);
  onTestFinished(() => {
    database.close();
  });
  new WordIndex(database);
  const words = new WordTable(database);
  Object.entries(documents).forEach(([title, texts], id) => {
    database.run('INSERT INTO document VALUES (?, 1, ?)', id + 1, title);
    const insert =
      'INSERT INTO chunk (chunk_set_id, document_id, ordinal, title, text) VALUES (1, ?, ?, ?, ?)';
    [texts].flat().forEach((text, ordinal) => database.run(insert, id + 1, ordinal, title, text));
  });
  const index = new SearchIndex(words, 1);
  const chosen = choosePassages(index, question, fullTextRanking(index, question, 24), 6);
  const all = index.texts(chosen.map(({ chunkId }) => chunkId));
  return chosen.map(({ chunkId }) => all.get(chunkId)?.text ?? '');
}

const LEASE = 'The zebra barn is let for 4,250 euros per year.';
const REPORTS = Object.fromEntries(
  Array.from({ length: 8 }, (_, i) => [
    `Report ${i}`,
    `In year ${i} the cost per unit was ${i}.5 million. It rose each year.`,
  ]),
);

test('passages that share only common words with the question are not worth it', () => {
  const texts = choose({ ...REPORTS, Lease: LEASE }, 'How much does the zebra barn cost per year?');
  expect(texts).toEqual([LEASE]);
});

test('a question about two things has a passage for each', () => {
  const goat =
    'The goat shed was built in spring and is painted red, as its tenants wished, with a green roof.';
  const texts = choose(
    { ...REPORTS, Lease: LEASE, Shed: goat },
    'What do the zebra barn and the goat shed cost?',
  );
  expect(texts).toContain(LEASE);
  expect(texts).toContain(goat);
});

test('there are no more passages than wanted', () => {
  expect(choose(REPORTS, 'cost per unit')).toHaveLength(6);
});

test('a contents page takes no slot where another passage matches, and one where none does', () => {
  const contents = [
    'Zebra barns ........ 4',
    'Goat sheds ........ 9',
    'Cow houses ....... 12',
    'Index ........ 15',
  ].join('\n');
  const book = { Book: [contents, 'A zebra barn needs a wide door, since the zebra is shy.'] };
  expect(choose(book, 'zebra barns')).not.toContain(contents);
  expect(choose({ Book: contents }, 'zebra barns')).toEqual([contents]);
});

test('tells contents and title pages from other texts', () => {
  expect(isContents('1 Introduction 3\n1.1 Aims 4\n2 Methods 9\n3 Results 20\n')).toBe(true);
  expect(isContents('Milk 12\nBread 3\nEggs 20\nFlour 1\n')).toBe(false);
  expect(isTitlePage('The Zebra Barn\nA Novel\nby Ada Dahl')).toBe(true);
  expect(isTitlePage('The barn is let for 4,250 euros.')).toBe(false);
});
