import { z } from 'zod';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { DocumentPhase } from '../../src-shared/contract/libraries.ts';
import type { Database } from '../platform/database.ts';
import { parseOr } from '../platform/parse-or.ts';
import type { ChunkSetKey } from './chunk-table.ts';

/** A heading line in a document's text: its UTF-16 offset, its level from 1, its words. */
export type Heading = readonly [start: number, level: number, title: string];

const HeadingsSchema = z.array(z.tuple([z.int().min(0), z.int().min(1), z.string()])).nullable();

/**
 * A page, slide, sheet or chapter: its label and UTF-16 range in the document's text. A page that is a picture has the confidence of its
 * recognised text, 0 to 100; null until it is recognised, and where its own text is better.
 */
export type Page = readonly [label: string, start: number, end: number, confidence?: number | null];

/** A page's label for people: recognised text may have errors. */
export function labelOf([label, , , confidence]: Page): string {
  return typeof confidence === 'number' ? `${label} (OCR)` : label;
}

export interface DocumentRow {
  id: number;
  libraryId: number;
  rootId: number;
  /** Relative to its root, with forward slashes. */
  path: string;
  title: string;
  format: string;
  /** Of the file's bytes; '' when they were never read. */
  sha256: string;
  mtimeMs: number;
  bytes: number;
  /** When the file was last read, in milliseconds since 1970. */
  seenMs: number;
  phase: DocumentPhase;
  attempts: number;
  failure: Failure | null;
  warnings: string[];
  textLength: number | null;
  /** Of the web page that it was fetched from. */
  address: string | null;
}

type FileFacts = Pick<DocumentRow, 'path' | 'format' | 'bytes' | 'mtimeMs'>;
export type DocumentName = Pick<DocumentRow, 'id' | 'libraryId' | 'path'>;
export type ReadableDocument = Pick<DocumentRow, 'id' | 'path' | 'title'>;

export type KnownFile = Pick<DocumentRow, 'id' | 'path' | 'bytes' | 'mtimeMs' | 'seenMs' | 'phase'>;

/** The result of reading a file. */
interface ReadFacts extends Pick<DocumentRow, 'title' | 'sha256' | 'bytes' | 'mtimeMs' | 'seenMs'> {
  warnings: readonly string[];
  textLength: number;
  /** null: use Markdown's headings. */
  headings: readonly Heading[] | null;
  pages: readonly Page[];
}

/** Documents of one format that have not been read (waiting) or not been chunked (chunking). */
export interface DocumentBacklog {
  phase: 'waiting' | 'chunking';
  format: string;
  bytes: number;
  /** UTF-16 units of their text; 0 before it was read. */
  textLength: number;
}

/** Sizes of documents of one format after chunking. */
export interface CutSize {
  format: string;
  bytes: number;
  /** UTF-16 units. */
  textLength: number;
  tokens: number;
}

type RawDocumentRow = Omit<DocumentRow, 'failure' | 'warnings'> & {
  failure: string | null;
  warnings: string;
};

const COLUMNS = `id, library_id AS libraryId, root_id AS rootId, path, title, format, sha256, mtime_ms AS mtimeMs, bytes,
  seen_ms AS seenMs, phase, attempts, failure, warnings, text_length AS textLength, address`;

/** Phases in the order in which a document passes through them. */
export type WorkingPhase = 'waiting' | 'recognising' | 'chunking' | 'indexing' | 'precomputing';

/** Documents and their place in the queue. */
export class DocumentTable {
  readonly #sql: Database;
  /** Pages of the most recently requested document: citations request the same document repeatedly. */
  #pages: { id: number; pages: readonly Page[] } | undefined;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  get(id: number): DocumentRow | undefined {
    const row = this.#sql.get<RawDocumentRow>(`SELECT ${COLUMNS} FROM document WHERE id = ?`, id);
    return row && toDocument(row);
  }

  /** The known files of a root, by path; a page of them, after `after`. */
  knownFiles(rootId: number, after: string, limit: number): KnownFile[] {
    const query = `SELECT id, path, bytes, mtime_ms AS mtimeMs, seen_ms AS seenMs, phase FROM document
      WHERE root_id = ? AND path > ? ORDER BY path LIMIT ?`;
    return this.#sql.all(query, rootId, after, limit);
  }

  ofPath(rootId: number, path: string): DocumentRow | undefined {
    const query = `SELECT ${COLUMNS} FROM document WHERE root_id = ? AND path = ?`;
    const row = this.#sql.get<RawDocumentRow>(query, rootId, path);
    return row && toDocument(row);
  }

  ofAddress(libraryId: number, address: string): DocumentRow | undefined {
    const query = `SELECT ${COLUMNS} FROM document WHERE library_id = ? AND address = ?`;
    const row = this.#sql.get<RawDocumentRow>(query, libraryId, address);
    return row && toDocument(row);
  }

  /** Documents of these libraries (of these alone, if any are named) with a path, file name or title; null: all. Exact paths come first. */
  called(
    name: string | null,
    {
      libraryIds,
      documentIds,
      limit,
    }: { libraryIds: readonly string[]; documentIds: readonly string[]; limit: number },
  ): DocumentRow[] {
    const query = `SELECT ${COLUMNS} FROM document
      WHERE (@libraries = '[]' OR library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(@libraries)))
      AND (@documents = '[]' OR id IN (SELECT CAST(value AS INTEGER) FROM json_each(@documents)))
      AND library_id NOT IN (SELECT id FROM library WHERE doomed)
      AND (@name IS NULL OR path = @name COLLATE NOCASE OR title = @name COLLATE NOCASE
        OR substr(path, -length(@name) - 1) = '/' || @name COLLATE NOCASE)
      ORDER BY path = @name DESC, path LIMIT @limit`;
    const scope = { libraries: JSON.stringify(libraryIds), documents: JSON.stringify(documentIds) };
    return this.#sql.all<RawDocumentRow>(query, { ...scope, name, limit }).map(toDocument);
  }

  /** All documents by id: at most `limit` after one. */
  named(after: number, limit: number): DocumentName[] {
    const query = 'SELECT id, library_id AS libraryId, path FROM document WHERE id > ? ORDER BY id LIMIT ?';
    return this.#sql.all(query, after, limit);
  }

  /** Documents whose text was read, by id: at most `limit` after one. */
  readable(after: number, limit: number): ReadableDocument[] {
    const query = `SELECT d.id, d.path, d.title FROM document d JOIN library l ON l.id = d.library_id
      WHERE d.id > ? AND d.text_length IS NOT NULL AND NOT l.doomed ORDER BY d.id LIMIT ?`;
    return this.#sql.all(query, after, limit);
  }

  idsOfLibrary(libraryId: number): number[] {
    return this.#sql.column('SELECT id FROM document WHERE library_id = ? ORDER BY path', libraryId);
  }

  /** Of a root's documents, those at a relative path or below it; '': all. */
  idsBelow(rootId: number, path: string): number[] {
    if (path === '') return this.idsOfRoot(rootId);
    const query = `SELECT id FROM document WHERE root_id = ? AND (path = ? OR substr(path, 1, ?) = ?) ORDER BY path`;
    const folder = `${path}/`;
    return this.#sql.column(query, rootId, path, folder.length, folder);
  }

  /** Of all documents; `textLength` in UTF-16 units. */
  size(): { bytes: number; textLength: number } {
    const query = `SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(text_length), 0) AS textLength FROM document`;
    return this.#sql.get(query) ?? { bytes: 0, textLength: 0 };
  }

  idsOfRoot(rootId: number): number[] {
    return this.#sql.column('SELECT id FROM document WHERE root_id = ? ORDER BY path', rootId);
  }

  /**
   * Documents of these libraries that no question finds, since no chunk set has their text: how many were not read yet, how many not
   * chunked, and the paths of the newest. `documentIds`: only those, if any are named.
   */
  notFound(
    libraryIds: readonly string[],
    documentIds: readonly string[],
    limit: number,
  ): { reading: number; uncut: number; names: string[] } {
    const from = `FROM document d WHERE phase IN ('waiting', 'recognising', 'chunking')
      AND (@libraries = '[]' OR library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(@libraries)))
      AND (@documents = '[]' OR id IN (SELECT CAST(value AS INTEGER) FROM json_each(@documents)))
      AND library_id NOT IN (SELECT id FROM library WHERE doomed)
      AND (text_length IS NULL
        OR NOT EXISTS (SELECT 1 FROM chunking k WHERE k.document_id = d.id AND k.sha256 = d.sha256))`;
    const scope = { libraries: JSON.stringify(libraryIds), documents: JSON.stringify(documentIds) };
    type Count = { phase: 'waiting' | 'recognising' | 'chunking'; n: number };
    const counts = this.#sql.all<Count>(`SELECT phase, count(*) AS n ${from} GROUP BY phase`, scope);
    const of = (phase: Count['phase']): number => counts.find((each) => each.phase === phase)?.n ?? 0;
    const names: string[] =
      counts.length === 0
        ? []
        : this.#sql.column(`SELECT path ${from} ORDER BY id DESC LIMIT @limit`, { ...scope, limit });
    return { reading: of('waiting') + of('recognising'), uncut: of('chunking'), names };
  }

  /** Titles of the newest searchable documents of these libraries. */
  newestTitles(libraryIds: readonly string[], limit: number): string[] {
    const query = `SELECT title FROM document WHERE phase IN ('indexing', 'precomputing', 'ready')
      AND library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY id DESC LIMIT ?`;
    return this.#sql.column(query, JSON.stringify(libraryIds), limit);
  }

  failed(libraryId: number | undefined): number[] {
    if (libraryId === undefined) return this.#sql.column("SELECT id FROM document WHERE phase = 'failed'");
    const query = "SELECT id FROM document WHERE phase = 'failed' AND library_id = ? ORDER BY path";
    return this.#sql.column(query, libraryId);
  }

  /** Inserts a new or changed file, to be read. */
  queueFile(libraryId: number, rootId: number, file: FileFacts): void {
    this.#sql.run(
      `INSERT INTO document (library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase)
        VALUES (?, ?, ?, ?, ?, '', ?, ?, 0, 'waiting')
        ON CONFLICT (root_id, path) DO UPDATE SET phase = 'waiting', attempts = 0, bytes = excluded.bytes,
          mtime_ms = excluded.mtime_ms`,
      libraryId,
      rootId,
      file.path,
      file.path.slice(file.path.lastIndexOf('/') + 1),
      file.format,
      file.mtimeMs,
      file.bytes,
    );
  }

  /** Where a file is from, and when; null: it is no fetched page. Of the same bytes, an article is other text than a file. */
  setAddress(id: number, address: string | null, fetchedMs: number | null): void {
    const sql = `UPDATE document SET sha256 = iif(address IS @address, sha256, ''), address = @address,
      fetched_ms = @fetchedMs WHERE id = @id`;
    this.#sql.run(sql, { id, address, fetchedMs });
  }

  rename(id: number, file: Pick<FileFacts, 'path' | 'format'>): void {
    this.#sql.run('UPDATE document SET path = ?, format = ? WHERE id = ?', file.path, file.format, id);
  }

  /**
   * The next document in a phase whose root is usable, of one library or of all but some: small ones (by decimal digits of their size)
   * before large ones, then the newest first.
   */
  next(phase: WorkingPhase, libraryId?: number, except: readonly number[] = []): DocumentRow | undefined {
    const which = libraryId === undefined ? 'NOT IN (SELECT value FROM json_each(?))' : '= ?';
    const query = `SELECT ${COLUMNS} FROM document d WHERE phase = ? AND library_id ${which}
      AND NOT EXISTS (SELECT 1 FROM root r WHERE r.id = d.root_id AND r.failure IS NOT NULL AND d.phase = 'waiting')
      AND NOT EXISTS (SELECT 1 FROM library l WHERE l.id = d.library_id AND l.doomed)
      ORDER BY length(bytes), id DESC LIMIT 1`;
    const row = this.#sql.get<RawDocumentRow>(query, phase, libraryId ?? JSON.stringify(except));
    return row && toDocument(row);
  }

  /** True unless something else has changed the document meanwhile. */
  advance(id: number, from: WorkingPhase, to: DocumentPhase): boolean {
    return this.#sql.run('UPDATE document SET phase = ? WHERE id = ? AND phase = ?', to, id, from) > 0;
  }

  /**
   * After a change of model or chunk size: a library's documents that have been read continue from their state for it. At most `limit`
   * documents after `after`; returns the last one's id, 0 when there are no more.
   */
  regress(
    libraryId: number,
    { fingerprint, chunkTokens }: Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>,
    after: number,
    limit: number,
  ): number {
    const query = `SELECT id FROM document WHERE library_id = ? AND id > ?
      AND phase IN ('chunking', 'indexing', 'precomputing', 'ready') ORDER BY id LIMIT ?`;
    const ids = this.#sql.column<number>(query, libraryId, after, limit);
    const sql = `UPDATE document SET phase = iif(EXISTS (
        SELECT 1 FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id WHERE k.document_id = document.id
          AND k.sha256 = document.sha256 AND s.fingerprint = ? AND s.chunk_tokens = ?), 'indexing', 'chunking')
      WHERE id = ?`;
    this.#sql.transaction(() => {
      for (const id of ids) this.#sql.run(sql, fingerprint, chunkTokens, id);
    });
    return ids.length < limit ? 0 : (ids.at(-1) ?? 0);
  }

  /** How much there is to read and to chunk, by format. */
  unprepared(libraryId?: number): DocumentBacklog[] {
    const where = libraryId === undefined ? '' : 'AND library_id = ?';
    const query = `SELECT phase, format, sum(bytes) AS bytes, coalesce(sum(text_length), 0) AS textLength
      FROM document WHERE phase IN ('waiting', 'chunking') ${where} GROUP BY phase, format`;
    return this.#sql.all(query, ...(libraryId === undefined ? [] : [libraryId]));
  }

  /** Sizes of chunked documents by format: for each, the newest thousand. */
  cutSizes(): CutSize[] {
    const query = `SELECT d.format, sum(d.bytes) AS bytes, sum(d.text_length) AS textLength, sum(k.tokens) AS tokens
      FROM (SELECT id, format, bytes, text_length FROM document WHERE text_length > 0 ORDER BY id DESC LIMIT 1000) d
      JOIN chunking k ON k.document_id = d.id GROUP BY d.format`;
    return this.#sql.all(query);
  }

  /** Queues documents again that are ready although some of their chunks are not stored. */
  reopen({ fingerprint, chunkTokens }: Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>): void {
    const sql = `UPDATE document SET phase = 'precomputing' WHERE phase = 'ready' AND id IN (SELECT k.document_id
      FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE s.fingerprint = ? AND s.chunk_tokens = ? AND k.cached_chunks < k.chunks)`;
    this.#sql.run(sql, fingerprint, chunkTokens);
  }

  /** Documents that were chunked and are not ready, with about how many of their tokens are not stored; assumes chunks of equal size. */
  missing({
    fingerprint,
    chunkTokens,
  }: Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>): { id: number; tokens: number }[] {
    const query = `SELECT d.id, k.tokens * (k.chunks - k.cached_chunks) / max(1, k.chunks) AS tokens
      FROM document d JOIN chunking k ON k.document_id = d.id JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE d.phase IN ('indexing', 'precomputing') AND s.fingerprint = ? AND s.chunk_tokens = ?`;
    return this.#sql.all(query, fingerprint, chunkTokens);
  }

  /** About how many tokens of chunked documents are not stored, of one library or of all; assumes chunks of equal size. */
  uncached(
    { fingerprint, chunkTokens }: Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>,
    libraryId?: number,
  ): number {
    const query = `SELECT coalesce(sum(k.tokens * (k.chunks - k.cached_chunks) / max(1, k.chunks)), 0)
      FROM chunking k JOIN document d ON d.id = k.document_id JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE d.phase IN ('recognising', 'indexing', 'precomputing', 'ready') AND s.fingerprint = @fingerprint
        AND s.chunk_tokens = @chunkTokens AND (@libraryId IS NULL OR d.library_id = @libraryId)`;
    const values = { fingerprint, chunkTokens, libraryId: libraryId ?? null };
    return this.#sql.value<number>(query, values) ?? 0;
  }

  /** About how many tokens of ready documents are not stored; assumes chunks of equal size. */
  leftOut({ fingerprint, chunkTokens }: Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>): number {
    const query = `SELECT coalesce(sum(k.tokens * (k.chunks - k.cached_chunks) / k.chunks), 0)
      FROM chunking k JOIN document d ON d.id = k.document_id JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE s.fingerprint = ? AND s.chunk_tokens = ? AND k.cached_chunks < k.chunks AND d.phase = 'ready'`;
    return this.#sql.value<number>(query, fingerprint, chunkTokens) ?? 0;
  }

  beginAttempt(id: number): void {
    this.#sql.run('UPDATE document SET attempts = attempts + 1 WHERE id = ?', id);
  }

  retry(ids: readonly number[]): void {
    const sql = "UPDATE document SET phase = 'waiting', attempts = 0, failure = NULL WHERE id = ?";
    this.#sql.transaction(() => {
      for (const id of ids) this.#sql.run(sql, id);
    });
  }

  /** The file was read and its text is new. */
  setRead(id: number, facts: ReadFacts, phase: 'recognising' | 'chunking'): void {
    this.#pages = undefined;
    this.#sql.run(
      `UPDATE document SET title = ?, sha256 = ?, bytes = ?, mtime_ms = ?, seen_ms = ?, warnings = ?, text_length = ?,
        headings = ?, pages = ?, failure = NULL, phase = ${unlessChanged('?')} WHERE id = ?`,
      facts.title,
      facts.sha256,
      facts.bytes,
      facts.mtimeMs,
      facts.seenMs,
      JSON.stringify(facts.warnings),
      facts.textLength,
      facts.headings && JSON.stringify(facts.headings),
      JSON.stringify(facts.pages),
      phase,
      id,
    );
  }

  /** The text of its pages that are pictures was added: it is split again. */
  setRecognised(id: number, facts: Pick<ReadFacts, 'warnings' | 'textLength' | 'headings' | 'pages'>): void {
    this.#pages = undefined;
    const sql = `UPDATE document SET warnings = ?, text_length = ?, headings = ?, pages = ?, phase = 'chunking'
      WHERE id = ? AND phase = 'recognising'`;
    const { warnings, textLength, headings, pages } = facts;
    const json = [JSON.stringify(warnings), textLength, headings && JSON.stringify(headings)] as const;
    this.#sql.run(sql, ...json, JSON.stringify(pages), id);
    this.#sql.run("UPDATE chunking SET sha256 = '' WHERE document_id = ?", id);
  }

  /** Reads documents again that have pages whose text was not recognised. */
  reopenScans(): void {
    const sql = `UPDATE document SET sha256 = '', phase = 'waiting', attempts = 0 WHERE text_length IS NOT NULL
      AND pages LIKE '%,null]%'`;
    this.#sql.run(sql);
  }

  /** The file was checked and is unchanged. */
  setSeen(id: number, facts: Pick<ReadFacts, 'bytes' | 'mtimeMs' | 'seenMs'>, phase: DocumentPhase): void {
    const sql = `UPDATE document SET bytes = ?, mtime_ms = ?, seen_ms = ?, failure = NULL, phase = ${unlessChanged('?')}
      WHERE id = ?`;
    this.#sql.run(sql, facts.bytes, facts.mtimeMs, facts.seenMs, phase, id);
  }

  /** The file cannot be used: its text is discarded. */
  setFailed(id: number, failure: Failure, file: Pick<ReadFacts, 'bytes' | 'mtimeMs' | 'seenMs'>): void {
    this.#pages = undefined;
    const sql = `UPDATE document SET phase = ${unlessChanged("'failed'")}, failure = ?, bytes = ?, mtime_ms = ?, seen_ms = ?,
      sha256 = '', text_length = NULL, pages = '[]', warnings = '[]' WHERE id = ?`;
    this.#sql.run(sql, JSON.stringify(failure), file.bytes, file.mtimeMs, file.seenMs, id);
  }

  /** The document's text stays; only this step failed. */
  setStepFailed(id: number, failure: Failure): void {
    const sql = "UPDATE document SET phase = 'failed', failure = ? WHERE id = ?";
    this.#sql.run(sql, JSON.stringify(failure), id);
  }

  remove(id: number): void {
    this.#pages = undefined;
    this.#sql.run('DELETE FROM document WHERE id = ?', id);
  }

  /** The heading lines of a document's text; null where Markdown's headings apply. */
  headings(id: number): readonly Heading[] | null {
    const json = this.#sql.value<string | null>('SELECT headings FROM document WHERE id = ?', id);
    return parseOr(HeadingsSchema, json, null);
  }

  pages(id: number): readonly Page[] {
    if (this.#pages?.id !== id) {
      const json = this.#sql.value<string>('SELECT pages FROM document WHERE id = ?', id) ?? '[]';
      this.#pages = { id, pages: JSON.parse(json) as Page[] };
    }
    return this.#pages.pages;
  }

  pageLabel(id: number, offset: number): string | null {
    const page = this.pages(id).findLast(([, start]) => start <= offset);
    return page ? labelOf(page) : null;
  }

  /** How many documents are in each phase. */
  phaseCounts(libraryId?: number): ReadonlyMap<DocumentPhase, number> {
    const where = libraryId === undefined ? '' : 'WHERE library_id = ?';
    const query = `SELECT phase, count(*) AS n FROM document ${where} GROUP BY phase`;
    const values = libraryId === undefined ? [] : [libraryId];
    const rows = this.#sql.all<{ phase: DocumentPhase; n: number }>(query, ...values);
    return new Map(rows.map(({ phase, n }) => [phase, n]));
  }
}

/** A file that changed while it was being read has been queued again (attempts: 0), and stays so. */
function unlessChanged(phase: string): string {
  return `iif(phase = 'waiting' AND attempts = 0, 'waiting', ${phase})`;
}

function toDocument(row: RawDocumentRow): DocumentRow {
  return {
    ...row,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
    warnings: JSON.parse(row.warnings) as string[],
  };
}
