import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WordIndex } from '../catalogue/word-index.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { VectorTable } from '../catalogue/vector-table.ts';
import { openDatabase, type Database } from '../platform/database.ts';
import { randomFrom } from '../testing/random.ts';
import { searchesOf } from '../testing/searches.ts';
import { Searcher } from './searcher.ts';
import { SearchThread, type SearchRunner } from './search-thread.ts';

const SCHEMA = `CREATE TABLE document (id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, title TEXT NOT NULL);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, chunk_set_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, tokens BLOB NOT NULL DEFAULT x'')`;
const SCOPE = { chunkSetIds: [1] };
const QUESTION = 'Where does the kitten sleep?';

function opened(): { database: Database; thread: SearchThread; path: string } {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-search-'));
  const path = join(dir, 'x.sqlite');
  const database = openDatabase(path, [SCHEMA]);
  new WordIndex(database);
  const thread = new SearchThread(path);
  onTestFinished(async () => {
    await thread.close();
    database.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { database, thread, path };
}

/** Chunks of random words, ten in a document. */
function fill(database: Database, count: number): void {
  const random = randomFrom(1);
  const word = (): string => `w${Math.floor(random() ** 3 * 5000)}`;
  const insert =
    "INSERT INTO chunk (chunk_set_id, document_id, ordinal, title, text) VALUES (1, ?, ?, 'Cats', ?)";
  database.transaction(() => {
    for (let i = 0; i < count; i++) {
      const text = Array.from({ length: 30 }, word).join(' ');
      database.run(insert, Math.floor(i / 10), i % 10, i % 50 === 0 ? `The kitten sleeps. ${text}` : text);
    }
  });
}

test('a thread finds what a searcher here finds, and sees what is written meanwhile', async () => {
  const { database, thread } = opened();
  fill(database, 500);
  const here = new Searcher(new WordTable(database), new VectorTable(database));
  const found = await thread.run('rank', [QUESTION, SCOPE, 20]);
  expect(found).toEqual(here.rank(QUESTION, SCOPE, 20));
  expect(found.ranking.matches).toHaveLength(10);
  const given = [QUESTION, SCOPE, found.ranking, 6] as const;
  const chosen = await thread.run('choose', [...given]);
  expect(chosen).toEqual(here.choose(...given));
  expect(chosen[0]?.foundBy?.words).toEqual(['kitten', 'sleeps']);
  const order = await thread.run('scattered', [1]);
  expect(order).toEqual(here.scattered(1));
  expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  expect(order).not.toEqual(order.toSorted((a, b) => a - b));
  database.run('DELETE FROM chunk WHERE id > 1');
  expect((await thread.run('rank', [QUESTION, SCOPE, 20])).ranking.matches).toHaveLength(1);
});

test('the event loop of this thread turns while the other one reads', async () => {
  const { database, thread } = opened();
  fill(database, 3000);
  await thread.run('texts', [[1]]);
  const scopes = Array.from({ length: 20 }, (_, i) => ({ chunkSetIds: [1, 100 + i] }));
  const turnsOf = async (runner: SearchRunner): Promise<number> => {
    let turns = 0;
    let next = setImmediate(function turn() {
      turns++;
      next = setImmediate(turn);
    });
    for (const scope of scopes) await runner.run('rank', ['w1 w2 w3 w4 w5 w6', scope, 1000]);
    clearImmediate(next);
    return turns;
  };
  expect(await turnsOf(searchesOf(database))).toBeLessThan(scopes.length);
  expect(await turnsOf(thread)).toBeGreaterThan(5 * scopes.length);
});

test('a search that is aborted while it waits is not run; the current one ends unheard', async () => {
  const { database, thread } = opened();
  fill(database, 500);
  const ending = new AbortController();
  const args = () => [QUESTION, SCOPE, 20] as Parameters<Searcher['rank']>;
  const both = [1, 2].map(() => thread.run('rank', args(), ending.signal));
  const other = thread.run('rank', args());
  ending.abort();
  const ends = await Promise.allSettled(both);
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ABORTED' } });
  expect((await other).ranking.matches).toHaveLength(10);
});

test('an error of the database arrives with its code, and the next search runs', async () => {
  const { database, thread, path } = opened();
  fill(database, 10);
  database.exec('ALTER TABLE chunk RENAME TO hidden');
  await expect(thread.run('rank', [QUESTION, SCOPE, 5])).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
  database.exec('ALTER TABLE hidden RENAME TO chunk');
  expect((await thread.run('rank', [QUESTION, SCOPE, 5])).ranking.matches).toHaveLength(1);
  const missing = new SearchThread(`${path}.none`);
  await expect(missing.run('rank', [QUESTION, SCOPE, 5])).rejects.toThrow();
  await missing.close();
});

test('after its end nothing is searched', async () => {
  const { thread } = opened();
  await thread.run('texts', [[1]]);
  await thread.close();
  await expect(thread.run('texts', [[1]])).rejects.toMatchObject({ code: 'ABORTED' });
});
