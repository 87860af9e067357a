import type { Database } from '../platform/database.ts';
import { languageOf, type Language } from './language.ts';
import { indexedText, lettersOnly, titleWord } from './words.ts';

/** Renamed whenever the indexed text changes, so that an older index is rebuilt. */
export const TABLE = 'chunk_words_2';

/** The index holds words only; texts stay in `chunk`, and can be deleted without supplying the text. */
const SCHEMA = `
  CREATE VIRTUAL TABLE ${TABLE} USING fts5(
    title, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
  CREATE VIRTUAL TABLE ${TABLE}_counts USING fts5vocab(${TABLE}, row);
  CREATE TABLE ${TABLE}_languages (language TEXT PRIMARY KEY, chunks INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ${TABLE}_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO ${TABLE}_languages VALUES (kvasir_language(new.text), 1) ON CONFLICT DO UPDATE SET chunks = chunks + 1;
    INSERT INTO ${TABLE} (rowid, title, text) VALUES (new.id,
      kvasir_words(new.title, kvasir_language(new.text)), kvasir_words(new.text, kvasir_language(new.text)));
  END;
  CREATE TRIGGER ${TABLE}_delete AFTER DELETE ON chunk BEGIN
    DELETE FROM ${TABLE} WHERE rowid = old.id;
    UPDATE ${TABLE}_languages SET chunks = chunks - 1 WHERE language = kvasir_language(old.text);
  END;
  CREATE TABLE ${TABLE}_titles (
    document_id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, word TEXT NOT NULL) STRICT;
  CREATE INDEX ${TABLE}_title_words ON ${TABLE}_titles(library_id, word);
  CREATE TRIGGER ${TABLE}_title_insert AFTER INSERT ON document BEGIN
    INSERT INTO ${TABLE}_titles VALUES (new.id, new.library_id, kvasir_title_word(new.title));
  END;
  CREATE TRIGGER ${TABLE}_title_update AFTER UPDATE OF title, library_id ON document BEGIN
    INSERT OR REPLACE INTO ${TABLE}_titles VALUES (new.id, new.library_id, kvasir_title_word(new.title));
  END;
  CREATE TRIGGER ${TABLE}_title_delete AFTER DELETE ON document BEGIN
    DELETE FROM ${TABLE}_titles WHERE document_id = old.id;
  END;
  INSERT INTO ${TABLE}_titles SELECT id, library_id, kvasir_title_word(title) FROM document;
  CREATE INDEX IF NOT EXISTS chunk_place ON chunk(id, chunk_set_id, document_id, ordinal);
  INSERT INTO ${TABLE}_languages SELECT kvasir_language(text), count(*) FROM chunk GROUP BY 1;
  INSERT INTO ${TABLE} (rowid, title, text)
    SELECT id, kvasir_words(title, kvasir_language(text)), kvasir_words(text, kvasir_language(text)) FROM chunk;`;

/**
 * The indexed words that a misspelt one may mean, without counts: FTS5's own list of words counts their chunks. A word stays until the next
 * purge after the last chunk that contains it.
 */
const TERMS = `
  CREATE TABLE ${TABLE}_terms (term TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ${TABLE}_terms_insert AFTER INSERT ON chunk BEGIN
    INSERT OR IGNORE INTO ${TABLE}_terms SELECT value FROM json_each(kvasir_terms(
      kvasir_words(new.title, kvasir_language(new.text)), kvasir_words(new.text, kvasir_language(new.text))));
  END;
  INSERT OR IGNORE INTO ${TABLE}_terms SELECT value FROM ${TABLE}_counts, json_each(kvasir_terms(term));`;

/** Terms of one step of a purge: a few milliseconds. */
const TERMS_AT_ONCE = 100;

/**
 * FTS5's merge settings. It merges a segment once half of it has been deleted; at a tenth, its default, deleting takes the index six times
 * as long. A merge runs for 64 pages at a stretch: small pages make stretches short.
 */
const TIDYING = { deletemerge: 50, pgsz: 1000 };

/**
 * The full-text index (SQLite FTS5, BM25) over all chunks. One index holds all sets, so that word statistics, and with them scores, are
 * comparable across libraries. Triggers keep it equal to the `chunk` table, in the same transactions, with a function that this class
 * defines; an older index is rebuilt. WordTable reads it.
 */
export class WordIndex {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    const words = (text = '', language = 'en'): string => indexedText(text, language as Language);
    sql.define('kvasir_words', remembering(words, 2)); // two triggers ask, each for a title and a text
    sql.define('kvasir_terms', (...indexed) => JSON.stringify(lettersOnly(indexed.join(' '))));
    sql.define('kvasir_title_word', (title = '') => titleWord(title));
    sql.define(
      'kvasir_language',
      remembering((text = '') => languageOf(text), 1),
    );
    const known = 'SELECT count(*) FROM sqlite_master WHERE name IN (?, ?, ?)';
    if (sql.value<number>(known, TABLE, `${TABLE}_insert`, `${TABLE}_delete`) !== 3)
      sql.transaction(() => {
        this.#dropOlder();
        sql.exec(SCHEMA);
      });
    if (sql.value('SELECT 1 FROM sqlite_master WHERE name = ?', `${TABLE}_terms`) === undefined)
      sql.transaction(() => sql.exec(TERMS));
    for (const [name, value] of Object.entries(TIDYING)) this.#configure(name, value);
  }

  /** The value is stored in the database, so most starts have nothing to write. */
  #configure(name: string, value: number): void {
    if (this.#sql.value(`SELECT v FROM ${TABLE}_config WHERE k = ?`, name) === value) return;
    this.#sql.run(`INSERT INTO ${TABLE} (${TABLE}, rank) VALUES (?, CAST(? AS INTEGER))`, name, value);
  }

  /** As Database.purgeWords: removes the words of deleted chunks from the index. */
  *purge(): Generator<void> {
    yield* this.#sql.purgeWords(TABLE);
    const next = `SELECT max(term) FROM (SELECT term FROM ${TABLE}_terms WHERE term > ? ORDER BY term LIMIT ${TERMS_AT_ONCE})`;
    const remove = `DELETE FROM ${TABLE}_terms WHERE term > ? AND term <= ?
      AND NOT EXISTS (SELECT 1 FROM ${TABLE} WHERE ${TABLE} MATCH '"' || term || '"')`;
    let from = '';
    for (let to; (to = this.#sql.value<string | null>(next, from)); from = to) {
      this.#sql.run(remove, from, to);
      yield;
    }
  }

  /** The first versions had an index, a view and triggers for each chunk set. */
  #dropOlder(): void {
    const query = `SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'table')
      AND (name GLOB 'chunk_fts_[0-9]*' OR name GLOB 'chunk_set_[0-9]*' OR name GLOB 'chunk_words_[0-9]*')
      ORDER BY type = 'trigger' DESC, length(name)`;
    for (const { type, name } of this.#sql.all<{ type: string; name: string }>(query))
      this.#sql.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`); // dropping a table drops its shadow tables, too
  }
}

/** Memoises the last few calls: several triggers ask about the same chunk. */
function remembering<T>(work: (...texts: string[]) => T, count: number): (...texts: string[]) => T {
  const last: { key: string; result: T }[] = [];
  return (...texts) => {
    const key = texts.join('\0');
    const known = last.find((each) => each.key === key);
    if (known) return known.result;
    const result = work(...texts);
    last.unshift({ key, result });
    last.splice(count);
    return result;
  };
}
