import type { Range } from '../../src-shared/contract/common.ts';
import { termsOf } from '../catalogue/words.ts';
import { openDatabase, type Database } from '../platform/database.ts';

/** Of Unicode's private use: no text means anything by them. */
const START = '\uE000';
const END = '\uE001';
const MARKS = /[\uE000\uE001]/g;

/**
 * Finds the words of a question in passages as the full-text index matches them: by English stems, which only SQLite's
 * own tokenizer knows. It gets the passages in a database in memory.
 */
export class Highlighter {
  readonly #database: Database = openDatabase(':memory:', [
    `CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')`,
  ]);

  /** For each text its matching ranges (UTF-16), ascending and apart. */
  ranges(question: string, texts: readonly string[]): Range[][] {
    const { words, pieces } = termsOf(question);
    const found = texts.map((text) => rangesOfPieces(text, pieces));
    if (words.length > 0) this.#addWords(words, texts, found);
    return found.map(merged);
  }

  close(): void {
    this.#database.close();
  }

  #addWords(words: readonly string[], texts: readonly string[], found: Range[][]): void {
    const database = this.#database;
    const add = 'INSERT INTO passage (rowid, text) VALUES (?, ?)';
    const query = `SELECT rowid AS i, highlight(passage, 0, '${START}', '${END}') AS marked FROM passage WHERE passage MATCH ?`;
    database.transaction(() => {
      texts.forEach((text, i) => database.run(add, i, text.replace(MARKS, ' ')));
      const match = words.map((word) => `"${word}"`).join(' OR ');
      for (const { i, marked } of database.all<{ i: number; marked: string }>(query, match))
        found[i]?.push(...rangesOfMarks(marked));
      database.run('DELETE FROM passage');
    });
  }
}

function rangesOfMarks(marked: string): Range[] {
  const ranges: Range[] = [];
  let marks = 0;
  let start = 0;
  for (const { 0: mark, index } of marked.matchAll(MARKS)) {
    const at = index - marks++;
    if (mark === START) start = at;
    else ranges.push({ start, end: at });
  }
  return ranges;
}

/** Where pairs of characters of unspaced text stand, or a character that stands alone in the question. */
function rangesOfPieces(text: string, pieces: readonly string[]): Range[] {
  const lower = text.toLowerCase();
  const haystack = lower.length === text.length ? lower : text; // a few characters grow when made lower case
  return pieces.flatMap((piece) => {
    const characters = Array.from(piece);
    const needles =
      characters.length === 1
        ? [piece]
        : characters.slice(1).map((second, i) => `${characters[i] ?? ''}${second}`);
    return needles.flatMap((needle) => occurrences(haystack, needle));
  });
}

function occurrences(text: string, needle: string): Range[] {
  const ranges: Range[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
    ranges.push({ start: at, end: at + needle.length });
  return ranges;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = result.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else result.push({ ...range });
  }
  return result;
}
