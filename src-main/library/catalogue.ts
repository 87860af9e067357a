import type { DocumentFailure } from '../../src-shared/library.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';
import { databaseError, openDatabase, type Database } from '../platform/database.ts';
import type { TextChunk } from './chunker.ts';

/** Chunks depend on the tokenizer and on the chunk size, so a library has a set of chunks for each pair in use. */
const SCHEMA = `
  CREATE TABLE library (
    id INTEGER PRIMARY KEY,
    root TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    sha256 TEXT NOT NULL,      -- of the file's bytes; '' when they were never read
    mtime_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    seen_ms REAL NOT NULL,     -- when the file was last read
    error_code TEXT,           -- NULL: readable
    error_message TEXT,
    UNIQUE (library_id, path)
  ) STRICT;
  CREATE TABLE chunk_set (
    id INTEGER PRIMARY KEY,
    library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL, -- of the model whose tokenizer made the ids
    chunk_tokens INTEGER NOT NULL,
    UNIQUE (library_id, fingerprint, chunk_tokens)
  ) STRICT;
  CREATE TABLE chunking (      -- which text of a document a set's chunks were made from
    chunk_set_id INTEGER NOT NULL REFERENCES chunk_set(id) ON DELETE CASCADE,
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (chunk_set_id, document_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    chunk_set_id INTEGER NOT NULL REFERENCES chunk_set(id) ON DELETE CASCADE,
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,  -- place in the document, from 0
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    title TEXT NOT NULL,       -- the document's title and the headings above the chunk
    text TEXT NOT NULL,
    tokens BLOB NOT NULL,      -- little-endian int32
    UNIQUE (chunk_set_id, document_id, ordinal)
  ) STRICT;
  CREATE INDEX chunk_document ON chunk(document_id);
`;

export interface DocumentRow {
  id: number;
  path: string;
  title: string;
  sha256: string;
  mtimeMs: number;
  bytes: number;
  seenMs: number;
  errorCode: ErrorCode | null;
  errorMessage: string | null;
}

export interface ChunkRow {
  id: number;
  documentId: number;
  /** The document's path and title. */
  path: string;
  documentTitle: string;
  ordinal: number;
  start: number;
  end: number;
  title: string;
  text: string;
  tokens: Int32Array;
}

export type DocumentFacts = Omit<DocumentRow, 'id'>;

interface RawChunkRow extends Omit<ChunkRow, 'tokens'> {
  tokens: Buffer;
}

const DOCUMENT_COLUMNS = `id, path, title, sha256, mtime_ms AS mtimeMs, bytes, seen_ms AS seenMs,
  error_code AS errorCode, error_message AS errorMessage`;

const CHUNK_QUERY = `SELECT c.id, c.document_id AS documentId, d.path, d.title AS documentTitle, c.ordinal,
  c.char_start AS start, c.char_end AS end, c.title, c.text, c.tokens FROM chunk c JOIN document d ON d.id = c.document_id`;

/**
 * What is known of documents and their chunks: an SQLite file. Removing a document removes its chunks; the chunks' KV
 * stays in the store, which forgets it in its own time.
 */
export class Catalogue {
  /** For services that keep their own tables beside these (the search index). */
  readonly database: Database;
  readonly #path: string;

  private constructor(database: Database, path: string) {
    this.database = database;
    this.#path = path;
  }

  /** STORE_READ_ONLY, STORE_VERSION, STORE_CORRUPT, DISK_FULL. */
  static open(path: string): Catalogue {
    return new Catalogue(openDatabase(path, [SCHEMA]), path);
  }

  /** Runs `work` in one transaction, and gives SQLite's failures their type. */
  transaction<T>(work: () => T): T {
    try {
      return this.database.transaction(work)();
    } catch (error) {
      throw databaseError(error, this.#path);
    }
  }

  libraryId(root: string): number {
    return this.transaction(() => {
      this.database.prepare('INSERT OR IGNORE INTO library (root) VALUES (?)').run(root);
      return this.database.prepare('SELECT id FROM library WHERE root = ?').pluck().get(root) as number;
    });
  }

  chunkSetId(libraryId: number, fingerprint: string, chunkTokens: number): number {
    return this.transaction(() => {
      const key = [libraryId, fingerprint, chunkTokens];
      this.database
        .prepare('INSERT OR IGNORE INTO chunk_set (library_id, fingerprint, chunk_tokens) VALUES (?, ?, ?)')
        .run(key);
      const query = 'SELECT id FROM chunk_set WHERE library_id = ? AND fingerprint = ? AND chunk_tokens = ?';
      return this.database.prepare(query).pluck().get(key) as number;
    });
  }

  documents(libraryId: number): DocumentRow[] {
    const query = `SELECT ${DOCUMENT_COLUMNS} FROM document WHERE library_id = ? ORDER BY path`;
    return this.database.prepare(query).all(libraryId) as DocumentRow[];
  }

  failures(libraryId: number): DocumentFailure[] {
    return this.documents(libraryId).flatMap(({ path, errorCode, errorMessage }) =>
      errorCode ? [{ path, code: errorCode, message: errorMessage ?? '' }] : [],
    );
  }

  /** Adds or replaces what is known of a document; gives its id. */
  putDocument(libraryId: number, facts: DocumentFacts): number {
    const sql = `INSERT INTO document (library_id, path, title, sha256, mtime_ms, bytes, seen_ms, error_code, error_message)
      VALUES (@libraryId, @path, @title, @sha256, @mtimeMs, @bytes, @seenMs, @errorCode, @errorMessage)
      ON CONFLICT (library_id, path) DO UPDATE SET title = @title, sha256 = @sha256, mtime_ms = @mtimeMs, bytes = @bytes,
        seen_ms = @seenMs, error_code = @errorCode, error_message = @errorMessage
      RETURNING id`;
    return this.database
      .prepare(sql)
      .pluck()
      .get({ libraryId, ...facts }) as number;
  }

  removeDocument(id: number): void {
    this.database.prepare('DELETE FROM document WHERE id = ?').run(id);
  }

  removeChunks(documentId: number): void {
    this.database.prepare('DELETE FROM chunk WHERE document_id = ?').run(documentId);
    this.database.prepare('DELETE FROM chunking WHERE document_id = ?').run(documentId);
  }

  /** Hash of the text that a set's chunks of a document were made from. */
  chunkedHash(chunkSetId: number, documentId: number): string | undefined {
    const query = 'SELECT sha256 FROM chunking WHERE chunk_set_id = ? AND document_id = ?';
    return this.database.prepare(query).pluck().get(chunkSetId, documentId) as string | undefined;
  }

  /** Replaces a document's chunks in one set. */
  putChunks(
    chunkSetId: number,
    documentId: number,
    sha256: string,
    title: string,
    chunks: readonly TextChunk[],
  ): void {
    const remove = this.database.prepare('DELETE FROM chunk WHERE chunk_set_id = ? AND document_id = ?');
    const add = this.database.prepare(`INSERT INTO chunk
      (chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    const done = this.database.prepare(
      'INSERT OR REPLACE INTO chunking (chunk_set_id, document_id, sha256) VALUES (?, ?, ?)',
    );
    this.transaction(() => {
      remove.run(chunkSetId, documentId);
      chunks.forEach((chunk, ordinal) => {
        const headings = chunk.headings[0] === title ? chunk.headings : [title, ...chunk.headings];
        add.run(
          chunkSetId,
          documentId,
          ordinal,
          chunk.start,
          chunk.end,
          headings.join(' › '),
          chunk.text,
          tokenBytes(chunk.tokens),
        );
      });
      done.run(chunkSetId, documentId, sha256);
    });
  }

  chunkCount(chunkSetId: number): number {
    return this.database
      .prepare('SELECT count(*) FROM chunk WHERE chunk_set_id = ?')
      .pluck()
      .get(chunkSetId) as number;
  }

  /** In reading order: documents by path, their chunks by place. */
  *chunks(chunkSetId: number): Generator<ChunkRow> {
    const ids = this.database
      .prepare(
        'SELECT c.id FROM chunk c JOIN document d ON d.id = c.document_id WHERE c.chunk_set_id = ? ORDER BY d.path, c.ordinal',
      )
      .pluck()
      .all(chunkSetId) as number[];
    for (const id of ids) {
      const row = this.chunk(id);
      if (row) yield row;
    }
  }

  chunk(id: number): ChunkRow | undefined {
    return toChunk(this.database.prepare(`${CHUNK_QUERY} WHERE c.id = ?`).get(id) as RawChunkRow | undefined);
  }

  close(): void {
    this.database.close();
  }
}

function toChunk(row: RawChunkRow | undefined): ChunkRow | undefined {
  if (!row) return undefined;
  const { tokens, ...rest } = row;
  const ids = new Int32Array(tokens.length / 4);
  for (let i = 0; i < ids.length; i++) ids[i] = tokens.readInt32LE(i * 4);
  return { ...rest, tokens: ids };
}

function tokenBytes(tokens: Int32Array): Buffer {
  const bytes = Buffer.alloc(tokens.length * 4);
  tokens.forEach((token, i) => bytes.writeInt32LE(token, i * 4));
  return bytes;
}
