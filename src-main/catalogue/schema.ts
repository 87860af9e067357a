/** The catalogue's schema, version by version; docs/formats/catalogue.md describes the tables. */

/** Libraries were folders. Chunks depend on the tokenizer and on the chunk size, so a library has one set for each pair in use. */
const VERSION_1 = `
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

/** Of versions 2 and 3, besides the id. */
const DOCUMENT_COLUMNS = `
    library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
    root_id INTEGER NOT NULL REFERENCES root(id) ON DELETE CASCADE,
    path TEXT NOT NULL,        -- relative to the root, with forward slashes
    title TEXT NOT NULL,
    format TEXT NOT NULL,
    sha256 TEXT NOT NULL,      -- of the file's bytes; '' when they were never read
    mtime_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    seen_ms REAL NOT NULL,     -- when the file was last read
    phase TEXT NOT NULL,       -- what is to be done next; ready and failed: nothing
    attempts INTEGER NOT NULL DEFAULT 0, -- readings begun since the file last changed
    failure TEXT,              -- JSON
    warnings TEXT NOT NULL DEFAULT '[]',
    text_length INTEGER,       -- UTF-16 units; NULL: no text is stored
    pages TEXT NOT NULL DEFAULT '[]',    -- JSON: [label, start, end] of pages, slides, sheets or chapters`;

/**
 * Libraries get a name and several roots; documents get their place in the queue, their text and its sources. Rows of version 1 are read
 * again (their text was not stored); chunks with unchanged text stay as they are.
 */
const VERSION_2 = `
  CREATE TABLE library_2 (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sample INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE root (
    id INTEGER PRIMARY KEY,
    library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'file', 'managed')),
    path TEXT NOT NULL,        -- absolute
    watched INTEGER NOT NULL DEFAULT 0,
    failure TEXT,              -- JSON: why it cannot be used now
    UNIQUE (library_id, path)
  ) STRICT;
  CREATE TABLE document_2 (
    id INTEGER PRIMARY KEY,${DOCUMENT_COLUMNS}
    UNIQUE (root_id, path)
  ) STRICT;
  INSERT INTO library_2 (id, name) SELECT id, root FROM library;
  INSERT INTO root (library_id, kind, path) SELECT id, 'folder', root FROM library;
  INSERT INTO document_2 (id, library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase)
    SELECT d.id, d.library_id, r.id, d.path, d.title, CASE WHEN lower(d.path) LIKE '%.md' THEN 'md' ELSE 'txt' END,
      d.sha256, d.mtime_ms, d.bytes, d.seen_ms, 'waiting'
    FROM document d JOIN root r ON r.library_id = d.library_id;
  DROP TABLE document;
  DROP TABLE library;
  ALTER TABLE library_2 RENAME TO library;
  ALTER TABLE document_2 RENAME TO document;
  CREATE INDEX document_phase ON document(phase);
  -- One for each order in which lists are shown.
  CREATE INDEX document_by_path ON document(library_id, path);
  CREATE INDEX document_by_title ON document(library_id, title COLLATE NOCASE);
  CREATE INDEX document_by_time ON document(library_id, mtime_ms);
  CREATE INDEX document_by_bytes ON document(library_id, bytes);
  CREATE INDEX document_by_phase ON document(library_id, phase);
  CREATE TABLE excluded (      -- taken out by the user: not to be picked up again
    root_id INTEGER NOT NULL REFERENCES root(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    PRIMARY KEY (root_id, path)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE text_block (    -- a document's text in blocks of 65,536 UTF-16 units, the last one shorter
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    data BLOB NOT NULL,        -- UTF-16LE, raw deflate
    UNIQUE (document_id, block)
  ) STRICT;
  ALTER TABLE chunk_set ADD COLUMN prefix BLOB; -- the model's encoding prefix, as tokens: part of a chunk's key
  ALTER TABLE chunking ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE chunking ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE chunking ADD COLUMN cached_chunks INTEGER NOT NULL DEFAULT 0; -- as last counted
  ALTER TABLE chunking ADD COLUMN cached_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE chunking SET (chunks, tokens) = (SELECT count(*), coalesce(sum(length(tokens) / 4), 0) FROM chunk c
    WHERE c.chunk_set_id = chunking.chunk_set_id AND c.document_id = chunking.document_id);
  CREATE INDEX chunking_document ON chunking(document_id);
  -- Finds chunks with the same tokens: by their first 16, then by all of them.
  CREATE INDEX chunk_tokens ON chunk(substr(tokens, 1, 64));
  CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/**
 * Ids of libraries and documents are never reused: conversations and upload folders refer to them after the row is gone. That requires
 * AUTOINCREMENT, which a table can only get when it is created.
 */
const VERSION_3 = `
  CREATE TABLE library_3 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    sample INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE document_3 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,${DOCUMENT_COLUMNS}
    UNIQUE (root_id, path)
  ) STRICT;
  INSERT INTO library_3 (id, name, sample) SELECT id, name, sample FROM library;
  INSERT INTO document_3 (id, library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase, attempts,
      failure, warnings, text_length, pages)
    SELECT id, library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase, attempts,
      failure, warnings, text_length, pages FROM document;
  DROP TABLE document;
  DROP TABLE library;
  ALTER TABLE library_3 RENAME TO library;
  ALTER TABLE document_3 RENAME TO document;
  CREATE INDEX document_phase ON document(phase);
  CREATE INDEX document_by_path ON document(library_id, path);
  CREATE INDEX document_by_title ON document(library_id, title COLLATE NOCASE);
  CREATE INDEX document_by_time ON document(library_id, mtime_ms);
  CREATE INDEX document_by_bytes ON document(library_id, bytes);
  CREATE INDEX document_by_phase ON document(library_id, phase);
`;

/** Ids of roots are never reused either: a window may still name one that is gone. Folders to be deleted are recorded. */
const VERSION_4 = `
  CREATE TABLE root_4 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'file', 'managed')),
    path TEXT NOT NULL,        -- absolute
    watched INTEGER NOT NULL DEFAULT 0,
    failure TEXT,              -- JSON: why it cannot be used now
    UNIQUE (library_id, path)
  ) STRICT;
  INSERT INTO root_4 (id, library_id, kind, path, watched, failure)
    SELECT id, library_id, kind, path, watched, failure FROM root;
  DROP TABLE root;
  ALTER TABLE root_4 RENAME TO root;
  CREATE INDEX root_by_path ON root(path);
  CREATE TABLE discarded_folder (
    name TEXT PRIMARY KEY      -- in the folder of uploads
  ) STRICT, WITHOUT ROWID;
`;

/**
 * A document's parser determines its headings. Documents whose headings had been guessed from their looks are read and chunked again;
 * unchanged chunks stay.
 */
const VERSION_5 = `
  ALTER TABLE document ADD COLUMN headings TEXT; -- JSON: [start, level, title] of lines; NULL: those that Markdown has
  CREATE TEMP TABLE misread AS SELECT id FROM document WHERE text_length IS NOT NULL AND lower(format) IN
    ('pdf', 'docx', 'pptx', 'xlsx', 'epub', 'html', 'htm', 'xhtml', 'txt', 'text', 'log', 'rst', 'adoc', 'asciidoc', 'org', 'tex',
     'srt', 'vtt');
  UPDATE chunking SET sha256 = '' WHERE document_id IN (SELECT id FROM misread);
  UPDATE document SET sha256 = '', phase = 'waiting', attempts = 0 WHERE id IN (SELECT id FROM misread);
  DROP TABLE misread;
`;

/** A library that is being deleted is marked: the next start resumes its deletion, and nothing else sees it any more. */
const VERSION_6 = `
  ALTER TABLE library ADD COLUMN doomed INTEGER NOT NULL DEFAULT 0;
`;

/** Chunks know the headings above them, which they are encoded with. They are created again; unchanged ones stay. */
const VERSION_7 = `
  ALTER TABLE chunk ADD COLUMN lead BLOB NOT NULL DEFAULT x''; -- little-endian int32
  UPDATE chunking SET sha256 = '';
  UPDATE document SET phase = 'chunking' WHERE phase IN ('indexing', 'precomputing', 'ready');
`;

/** The order in which documents are prepared, with the data for the queue's estimate of the remaining time. */
const VERSION_8 = `
  CREATE INDEX IF NOT EXISTS document_queue ON document(phase, length(bytes), id DESC, format, bytes, text_length);
`;

/** Chunks are created again, for leads with the text before them; the KV computed so far serves meanwhile. */
const VERSION_9 = `
  UPDATE chunking SET sha256 = '';
  UPDATE document SET phase = 'chunking' WHERE phase IN ('indexing', 'precomputing', 'ready');
`;

/**
 * Documents may come from an address, and have pages that are pictures. All are read again, since most kinds are read otherwise now, and
 * those of kinds that were refused; unchanged chunks stay.
 */
const VERSION_10 = `
  ALTER TABLE document ADD COLUMN address TEXT;     -- of the web page that it was fetched from
  ALTER TABLE document ADD COLUMN fetched_ms REAL;  -- when
  CREATE TABLE scanned_page (  -- a page whose text was recognised from its picture
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    page INTEGER NOT NULL,     -- from 0
    sha256 TEXT NOT NULL,      -- of the file's bytes
    text TEXT NOT NULL,
    confidence REAL NOT NULL,  -- mean of its words, 0 to 100
    words BLOB NOT NULL,       -- deflated JSON: [start, end, left, top, right, bottom], UTF-16 units and parts in 65,535 of the page
    PRIMARY KEY (document_id, page)
  ) STRICT, WITHOUT ROWID;
  UPDATE chunking SET sha256 = '';
  UPDATE document SET sha256 = '', phase = 'waiting', attempts = 0, failure = NULL;
`;

/** The newest version whose migration has all documents cut again. */
export const RECUT_BY = 10;

/** MIGRATIONS[n] leads from version n to n + 1. */
export const MIGRATIONS = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  VERSION_4,
  VERSION_5,
  VERSION_6,
  VERSION_7,
  VERSION_8,
  VERSION_9,
  VERSION_10,
];
