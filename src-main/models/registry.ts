import type { HubSource } from '../../src-shared/contract/hub.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { GgufInfo } from '../engine/engine.ts';
import type { RemoteServer } from '../engine/remote/server-address.ts';
import { openOrSetAside, type Database, type SetAside } from '../platform/database.ts';

export const DEMO_MODEL_ID = 'demo';

/** `header` is the engine's GgufInfo as JSON: what is known of a file that cannot be read now (an unplugged drive). */
const VERSION_1 = `
  CREATE TABLE model (
    id TEXT PRIMARY KEY,          -- 'demo' or random; never used again
    path TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('demo', 'imported', 'downloaded')),
    mtime_ms REAL NOT NULL,
    header TEXT NOT NULL,
    fingerprint TEXT,             -- known once the model was loaded
    tokens_per_second REAL,       -- of precomputing; known once it has run
    loading INTEGER NOT NULL DEFAULT 0, -- 1 while it is being loaded: still 1 at the next start when that ended the program
    added_ms REAL NOT NULL
  ) STRICT;
  CREATE TABLE download (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,         -- '' when none was announced
    file TEXT NOT NULL,           -- name in the models folder, without .part
    state TEXT NOT NULL,
    bytes_total REAL NOT NULL,    -- 0 while unknown
    validator TEXT NOT NULL,      -- ETag or Last-Modified of what the part is of; '' when there is none
    failure TEXT,                 -- JSON
    added_ms REAL NOT NULL
  ) STRICT;
`;

/** See weights-check.ts. */
const VERSION_2 = `
  CREATE TABLE weights_file (
    path TEXT PRIMARY KEY,
    identity TEXT NOT NULL,       -- device, inode, size and times of the file that was hashed
    sha256 TEXT NOT NULL
  ) STRICT;
  CREATE TABLE weights (
    fingerprint TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL          -- of the file that KV under this fingerprint was computed with
  ) STRICT;
`;

/** What the user calls a model; NULL: what its file does. */
const VERSION_3 = 'ALTER TABLE model ADD COLUMN name TEXT';

/**
 * Headers say which engine takes the file, and what its sessions take of memory. Those there are get what was so until now, and are
 * read again where the file can be.
 */
const VERSION_4 = `
  UPDATE model SET mtime_ms = -1, header = json_set(header,
    '$.engine', iif(header ->> 'unsupportedReason' = '', 'blending', 'none'),
    '$.obstacle', '',
    '$.kvValuesPerToken', 2 * (header ->> 'layers') * (header ->> 'kvHeads') * (header ->> 'headDim'),
    '$.stateValues', 0, '$.experts', 0, '$.windows', json('[]'), '$.unrotatedLayers', 0)
  WHERE json_valid(header)
`;

/** Headers say which layers keep KV and how large heads are, and another engine takes some: the same. */
const VERSION_5 = `
  UPDATE model SET mtime_ms = -1, header = json_set(header,
    '$.kvLayers', header ->> 'layers', '$.headDims', json_array(header ->> 'headDim'))
  WHERE json_valid(header)
`;

/** See trial/trials.ts. */
const VERSION_6 = `
  CREATE TABLE tried_file (
    path TEXT PRIMARY KEY,
    identity TEXT NOT NULL        -- as of weights_file
  ) STRICT;
`;

/** File of the LoRA adapter that is put on a model; NULL: none. */
const VERSION_7 = 'ALTER TABLE model ADD COLUMN adapter TEXT';

/**
 * A download has one file or several, as a JSON list (DownloadFile), and knows which repository of a hub they are from (HubSource), as a
 * model does that came from there. How fast a model writes says what to expect of others.
 */
const VERSION_8 = `
  ALTER TABLE download ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE download ADD COLUMN source TEXT;
  UPDATE download SET files = json_array(json_object(
    'url', url, 'sha256', sha256, 'file', file, 'bytesTotal', bytes_total, 'validator', validator));
  ALTER TABLE download DROP COLUMN url;
  ALTER TABLE download DROP COLUMN sha256;
  ALTER TABLE download DROP COLUMN file;
  ALTER TABLE download DROP COLUMN bytes_total;
  ALTER TABLE download DROP COLUMN validator;
  ALTER TABLE model ADD COLUMN source TEXT;
  ALTER TABLE model ADD COLUMN written_per_second REAL;
`;

/** On which server a model is, and what it is asked by, as JSON (servers/); NULL: its file is here. Its path is then address and name. */
const VERSION_9 = 'ALTER TABLE model ADD COLUMN server TEXT';

/** MIGRATIONS[n] leads from version n to n + 1. */
export const MIGRATIONS = [
  ...[VERSION_1, VERSION_2, VERSION_3, VERSION_4],
  ...[VERSION_5, VERSION_6, VERSION_7, VERSION_8],
  VERSION_9,
];

type ModelOrigin = 'demo' | 'imported' | 'downloaded';

export interface ModelRow {
  id: string;
  /** The user's, where there is one. */
  name: string | null;
  path: string;
  origin: ModelOrigin;
  mtimeMs: number;
  header: GgufInfo;
  /** File of the LoRA adapter that is on it. */
  adapter: string | null;
  /** Of the model as it was loaded last, with its adapter. */
  fingerprint: string | null;
  /** Of precomputing, on this machine. */
  tokensPerSecond: number | null;
  /** Of writing an answer, on this machine. */
  writtenPerSecond: number | null;
  /** Where on a hub it came from. */
  source: HubSource | null;
  /** The server that it is on. */
  server: RemoteServer | null;
  /** 1: the last attempt to load it has not come to an end. */
  loading: 0 | 1;
}

type RawRow = Omit<ModelRow, 'header' | 'source' | 'server'> & {
  header: string;
  source: string | null;
  server: string | null;
};

const COLUMNS = `id, name, path, origin, mtime_ms AS mtimeMs, header, adapter, fingerprint, source, server,
  tokens_per_second AS tokensPerSecond, written_per_second AS writtenPerSecond, loading`;

/** The models Kvasir knows, and their downloads: an SQLite file. The model files themselves stay where they are. */
export class ModelRegistry {
  readonly database: Database;

  /** A file that cannot be read is set aside, and an empty one takes its place. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  constructor(path: string, onSetAside?: (what: SetAside) => void) {
    this.database = openOrSetAside(path, MIGRATIONS, requireReadable, onSetAside);
  }

  /** The demo model first, then in the order they were added. */
  all(): ModelRow[] {
    const query = `SELECT ${COLUMNS} FROM model ORDER BY id <> '${DEMO_MODEL_ID}', added_ms, id`;
    return this.database.all<RawRow>(query).map(parse);
  }

  get(id: string): ModelRow | undefined {
    const row = this.database.get<RawRow>(`SELECT ${COLUMNS} FROM model WHERE id = ?`, id);
    return row && parse(row);
  }

  byPath(path: string): ModelRow | undefined {
    const row = this.database.get<RawRow>(`SELECT ${COLUMNS} FROM model WHERE path = ?`, path);
    return row && parse(row);
  }

  /** Adds a model, or replaces where one lies and what its header says. */
  put(model: Pick<ModelRow, 'id' | 'path' | 'origin' | 'mtimeMs' | 'header'>): void {
    const sql = `INSERT INTO model (id, path, origin, mtime_ms, header, added_ms) VALUES (@id, @path, @origin, @mtimeMs, @header, @now)
      ON CONFLICT (id) DO UPDATE SET path = @path, mtime_ms = @mtimeMs, header = @header`;
    this.database.run(sql, { ...model, header: JSON.stringify(model.header), now: Date.now() });
  }

  /** A file that was replaced by another: what was measured of the old one is forgotten. */
  setFingerprint(id: string, fingerprint: string): void {
    const sql = `UPDATE model SET tokens_per_second = iif(fingerprint IS @fingerprint, tokens_per_second, NULL),
      written_per_second = iif(fingerprint IS @fingerprint, written_per_second, NULL), fingerprint = @fingerprint WHERE id = @id`;
    this.database.run(sql, { id, fingerprint });
  }

  setSpeed(id: string, tokensPerSecond: number): void {
    this.database.run('UPDATE model SET tokens_per_second = ? WHERE id = ?', tokensPerSecond, id);
  }

  setWritingSpeed(id: string, tokensPerSecond: number): void {
    this.database.run('UPDATE model SET written_per_second = ? WHERE id = ?', tokensPerSecond, id);
  }

  setSource(id: string, source: HubSource): void {
    this.database.run('UPDATE model SET source = ? WHERE id = ?', JSON.stringify(source), id);
  }

  setServer(id: string, server: RemoteServer): void {
    this.database.run('UPDATE model SET server = ? WHERE id = ?', JSON.stringify(server), id);
  }

  /** null: what its file calls it. */
  rename(id: string, name: string | null): void {
    this.database.run('UPDATE model SET name = ? WHERE id = ?', name, id);
  }

  /** What its chunks are is known once it was loaded so. */
  setAdapter(id: string, adapter: string | null): void {
    this.database.run('UPDATE model SET adapter = ?, fingerprint = NULL WHERE id = ?', adapter, id);
  }

  setLoading(id: string, loading: boolean): void {
    this.database.run('UPDATE model SET loading = ? WHERE id = ?', Number(loading), id);
  }

  remove(id: string): void {
    this.database.run('DELETE FROM model WHERE id = ?', id);
  }

  close(): void {
    this.database.close();
  }
}

/** A page may be zeroed within a text, which SQLite does not notice. STORE_CORRUPT. */
function requireReadable(database: Database): Database {
  const bad = `SELECT 1 FROM model WHERE NOT json_valid(header) OR NOT json_valid(ifnull(source, 'null'))
    OR NOT json_valid(ifnull(server, 'null')) LIMIT 1`;
  const download = `SELECT 1 FROM download WHERE NOT json_valid(files) OR NOT json_valid(ifnull(failure, 'null'))
    OR NOT json_valid(ifnull(source, 'null')) LIMIT 1`;
  if ([bad, download].every((query) => database.value(query) === undefined)) return database;
  throw new KvasirError('STORE_CORRUPT', 'The list of models has rows that cannot be read.');
}

function parse(row: RawRow): ModelRow {
  const source = row.source === null ? null : (JSON.parse(row.source) as HubSource);
  const server = row.server === null ? null : (JSON.parse(row.server) as RemoteServer);
  return { ...row, header: JSON.parse(row.header) as GgufInfo, source, server };
}
