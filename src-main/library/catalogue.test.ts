import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeModel } from '../testing/fusion.ts';
import { LibraryFakeStore, folderOf } from '../testing/library.ts';
import { openDatabase } from '../platform/database.ts';
import { SearchIndex } from '../retrieval/search-index.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { MIGRATIONS } from '../catalogue/schema.ts';
import { WordIndex } from '../catalogue/word-index.ts';

function temp(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'kvasir-catalogue-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A catalogue as written by the first version: one folder with two documents, chunked for one model. */
function firstVersion(path: string, root: string, model: FakeModel): void {
  const database = openDatabase(path, MIGRATIONS.slice(0, 1));
  const tokens = (text: string): Buffer => Buffer.from(model.tokenize(`${text}\n\n`).buffer);
  database.run('INSERT INTO library (id, root) VALUES (7, ?)', root);
  const document = `INSERT INTO document (id, library_id, path, title, sha256, mtime_ms, bytes, seen_ms)
    VALUES (?, 7, ?, ?, ?, 1, 3, 5)`;
  const chunk = `INSERT INTO chunk (id, chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens)
    VALUES (?, 4, ?, 0, 0, 3, ?, ?, ?)`;
  const chunking = 'INSERT INTO chunking (chunk_set_id, document_id, sha256) VALUES (4, ?, ?)';
  const { fingerprint } = model.info;
  database.run(
    'INSERT INTO chunk_set (id, library_id, fingerprint, chunk_tokens) VALUES (4, 7, ?, 24)',
    fingerprint,
  );
  for (const [id, path_, text] of [
    [11, 'a.md', 'one'],
    [12, 'b.md', 'two'],
  ] as const) {
    database.run(document, id, path_, path_.slice(0, 1), `hash of ${text}`);
    database.run(chunking, id, `hash of ${text}`);
    database.run(chunk, id * 10, id, path_.slice(0, 1), text, tokens(text));
  }
  database.close();
}

test('a catalogue of version 1 keeps its libraries, documents and chunks; a copy of it stays', async () => {
  const dir = temp();
  const root = join(dir, 'docs');
  mkdirSync(root);
  for (const [name, text] of [
    ['a.md', 'one'],
    ['b.md', 'two'],
  ] as const) {
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), 1000, 1000);
  }
  const model = new FakeModel();
  const path = join(dir, 'catalogue.sqlite');
  firstVersion(path, root, model);

  const catalogue = Catalogue.open(path);
  onTestFinished(() => catalogue.close());
  expect(existsSync(`${path}.v1`)).toBe(true);
  expect(catalogue.libraries.list()).toEqual([{ id: 7, name: root, sample: false }]);
  expect([...catalogue.chunks(4)].map(({ id, path: of, text }) => [id, of, text])).toEqual([
    [110, 'a.md', 'one'],
    [120, 'b.md', 'two'],
  ]);
  expect(catalogue.chunkTable.counts(4)).toMatchObject({ chunks: 2 });

  // The same folder again: the texts are read and stored, the chunks are the existing ones.
  const store = new LibraryFakeStore();
  const library = folderOf(root, { catalogue, store, model, chunkTokens: 24 });
  await library.read({ precompute: false });
  expect(library.chunkSetId()).toBe(4);
  expect([...library.chunks()].map(({ id }) => id)).toEqual([110, 120]);
  expect(catalogue.texts.slice(11, 0, 100)).toBe('one');
  expect(new SearchIndex(catalogue.words, 4).search('two', 5).map(({ chunkId }) => chunkId)).toEqual([120]);
  rmSync(join(root, 'a.md'));
  await library.read({ precompute: false });
  expect([...library.chunks()].map(({ id }) => id)).toEqual([120]);
});

test('chunks of an older version learn the headings above them, and stay', async () => {
  const dir = temp();
  const root = join(dir, 'docs');
  mkdirSync(root);
  writeFileSync(join(root, 'a.md'), `# Ships\n\n${'One word and another one. '.repeat(20)}`);
  const model = new FakeModel();
  const path = join(dir, 'catalogue.sqlite');
  const chunksIn = async (catalogue: Catalogue): Promise<{ id: number; lead: string }[]> => {
    const store = new LibraryFakeStore();
    const library = folderOf(root, { catalogue, store, model, chunkTokens: 64 });
    await library.read({ precompute: false });
    return [...library.chunks()].map(({ id, lead }) => ({ id, lead: model.detokenize(lead) }));
  };
  const first = Catalogue.open(path);
  const made = await chunksIn(first);
  expect(first.isRecut).toBe(false);
  first.close();
  expect(new Set(made.map(({ lead }) => lead))).toEqual(new Set(['', '# Ships\n\n']));

  // As version 6 left it.
  const database = openDatabase(path, MIGRATIONS);
  new WordIndex(database); // which defines the function that the triggers call
  database.exec(`ALTER TABLE chunk DROP COLUMN lead; ALTER TABLE document DROP COLUMN address;
    ALTER TABLE document DROP COLUMN fetched_ms; DROP TABLE scanned_page;
    UPDATE document SET phase = 'failed', failure = '{}', attempts = 3; PRAGMA user_version = 6`);
  database.close();
  const catalogue = Catalogue.open(path);
  onTestFinished(() => catalogue.close());
  expect(catalogue.isRecut).toBe(true);
  expect(await chunksIn(catalogue)).toEqual(made);
});

test('ids of libraries and documents are not reused, in a catalogue of version 2 either', () => {
  const path = join(temp(), 'catalogue.sqlite');
  firstVersion(path, '/somewhere', new FakeModel());
  const second = openDatabase(path, MIGRATIONS.slice(0, 2));
  const before = ['library', 'root', 'document'].map((table) => second.all(`SELECT * FROM ${table}`));
  second.close();
  Catalogue.open(path).close();
  const database = openDatabase(path, MIGRATIONS);
  new WordIndex(database); // which defines the function that the triggers call
  onTestFinished(() => database.close());
  expect(existsSync(`${path}.v2`)).toBe(true);
  const withColumn = (rows: unknown[] = [], added: object): unknown[] =>
    rows.map((row) => ({ ...(row as object), ...added }));
  expect(['library', 'root', 'document'].map((table) => database.all(`SELECT * FROM ${table}`))).toEqual([
    withColumn(before[0], { doomed: 0 }),
    before[1],
    withColumn(before[2], { headings: null, sha256: '', address: null, fetched_ms: null }),
  ]);
  expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
  database.run('DELETE FROM document WHERE id = 12');
  const next = database.get(
    `INSERT INTO document (library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase)
     SELECT library_id, root_id, 'new', '', '', '', 1, 1, 1, 'waiting' FROM document RETURNING id`,
  );
  expect(next).toEqual({ id: 13 });
  database.run('DELETE FROM library');
  expect(database.get('SELECT count(*) AS n FROM chunk')).toEqual({ n: 0 });
  expect(database.get("INSERT INTO library (name) VALUES ('new') RETURNING id")).toEqual({ id: 8 });
});

test.each([1, 2])('a catalogue is migrated from version %d only as a whole', (version) => {
  const dir = temp();
  const path = join(dir, 'catalogue.sqlite');
  firstVersion(path, '/somewhere', new FakeModel());
  const broken = [
    ...MIGRATIONS.slice(0, version),
    `${MIGRATIONS[version] ?? ''}; SELECT no_such_function();`,
  ];
  expect(() => openDatabase(path, broken)).toThrow();
  const catalogue = Catalogue.open(path);
  expect([...catalogue.chunks(4)]).toHaveLength(2);
  catalogue.close();
});
