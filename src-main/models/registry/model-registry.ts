import type { HubSource } from '../../../src-shared/contract/hub.ts';
import type { EmbeddingPrefixes } from '../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { GgufInfo } from '../../engine/engine.ts';
import type { RemoteServer } from '../sources/servers/server-address.ts';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../../platform/database.ts';

export const DEMO_MODEL_ID = 'demo';

/** `header` is the engine's GgufInfo as JSON: for files that cannot be read now (an unplugged drive). */
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

/** The user's name for a model; NULL: the file's. */
const VERSION_3 = 'ALTER TABLE model ADD COLUMN name TEXT';

/**
 * Headers include the engine for the file and the memory of its sessions. Existing rows get the previous behaviour and
 * are read again once the file is available.
 */
const VERSION_4 = `
  UPDATE model SET mtime_ms = -1, header = json_set(header,
    '$.engine', iif(header ->> 'unsupportedReason' = '', 'blending', 'none'),
    '$.obstacle', '',
    '$.kvValuesPerToken', 2 * (header ->> 'layers') * (header ->> 'kvHeads') * (header ->> 'headDim'),
    '$.stateValues', 0, '$.experts', 0, '$.windows', json('[]'), '$.unrotatedLayers', 0)
  WHERE json_valid(header)
`;

/**
 * Headers include the layers with KV and the head sizes, and another engine runs some models: migrated the same way.
 */
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

/** File of the LoRA adapter applied to a model; NULL: none. */
const VERSION_7 = 'ALTER TABLE model ADD COLUMN adapter TEXT';

/**
 * A download has one or several files, as a JSON list (DownloadFile), and records its hub repository (HubSource), as
 * does a model that came from there. A model's decode speed is used to estimate that of others.
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

/**
 * The server of a remote model and its request settings, as JSON (servers/); NULL: a local file. For a remote model,
 * `path` is address and name.
 */
const VERSION_9 = 'ALTER TABLE model ADD COLUMN server TEXT';

/**
 * The user's prefixes for an embedding model, as JSON; NULL: its family's. Headers include what the file calls its
 * model, and its pooling; they are read again once the file is available.
 */
const VERSION_10 = `
  ALTER TABLE model ADD COLUMN prefixes TEXT;
  UPDATE model SET mtime_ms = -1, header = json_set(header, '$.names', json_array(header ->> 'name'), '$.pooling', '')
  WHERE json_valid(header) AND server IS NULL
`;

/** MIGRATIONS[n] migrates from version n to n + 1. */
export const MIGRATIONS = [
  ...[VERSION_1, VERSION_2, VERSION_3, VERSION_4],
  ...[VERSION_5, VERSION_6, VERSION_7, VERSION_8],
  ...[VERSION_9, VERSION_10],
];

type ModelOrigin = 'demo' | 'imported' | 'downloaded';

export interface ModelRow {
  id: string;
  /** The user's name for it, if any. */
  name: string | null;
  path: string;
  origin: ModelOrigin;
  mtimeMs: number;
  header: GgufInfo;
  /** File of the applied LoRA adapter. */
  adapter: string | null;
  /** Of the model when last loaded, including its adapter. */
  fingerprint: string | null;
  /** Prefill speed on this machine. */
  tokensPerSecond: number | null;
  /** Decode speed on this machine. */
  writtenPerSecond: number | null;
  /** Its origin on a hub. */
  source: HubSource | null;
  /** Its server, for a remote model. */
  server: RemoteServer | null;
  /** The user's, for an embedding model. */
  prefixes: EmbeddingPrefixes | null;
  /** 1: the last attempt to load it did not finish. */
  loading: 0 | 1;
}

type RawRow = Omit<ModelRow, 'header' | 'source' | 'server' | 'prefixes'> & {
  header: string;
  source: string | null;
  server: string | null;
  prefixes: string | null;
};

const COLUMNS = `id, name, path, origin, mtime_ms AS mtimeMs, header, adapter, fingerprint, source, server, prefixes,
  tokens_per_second AS tokensPerSecond, written_per_second AS writtenPerSecond, loading`;

/** Models and their downloads in an SQLite file. The model files themselves stay in place. */
export class ModelRegistry {
  readonly database: Database;

  /** An unreadable file is set aside and replaced with an empty one. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  constructor(path: string, onSetAside?: (what: QuarantinedDatabase) => void) {
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

  /** Adds a model, or replaces its path and header. Durable. */
  put(model: Pick<ModelRow, 'id' | 'path' | 'origin' | 'mtimeMs' | 'header'>): void {
    const sql = `INSERT INTO model (id, path, origin, mtime_ms, header, added_ms) VALUES (@id, @path, @origin, @mtimeMs, @header, @now)
      ON CONFLICT (id) DO UPDATE SET path = @path, mtime_ms = @mtimeMs, header = @header`;
    const row = { ...model, header: JSON.stringify(model.header), now: Date.now() };
    this.database.durable(() => this.database.run(sql, row));
  }

  /** Sets the fingerprint; if the file was replaced, measurements of the old one are dropped. */
  setFingerprint(id: string, fingerprint: string): void {
    const sql = `UPDATE model SET tokens_per_second = iif(fingerprint IS @fingerprint, tokens_per_second, NULL),
      written_per_second = iif(fingerprint IS @fingerprint, written_per_second, NULL), fingerprint = @fingerprint WHERE id = @id`;
    this.database.run(sql, { id, fingerprint });
  }

  /** Sets the prefill or decode speed, in tokens per second. */
  setSpeed(id: string, speed: 'tokensPerSecond' | 'writtenPerSecond', value: number): void {
    const column = speed === 'tokensPerSecond' ? 'tokens_per_second' : 'written_per_second';
    this.database.run(`UPDATE model SET ${column} = ? WHERE id = ?`, value, id);
  }

  setSource(id: string, source: HubSource): void {
    this.database.run('UPDATE model SET source = ? WHERE id = ?', JSON.stringify(source), id);
  }

  setServer(id: string, server: RemoteServer): void {
    this.database.run('UPDATE model SET server = ? WHERE id = ?', JSON.stringify(server), id);
  }

  /** null: its family's. */
  setPrefixes(id: string, prefixes: EmbeddingPrefixes | null): void {
    const json = prefixes && JSON.stringify(prefixes);
    this.database.run('UPDATE model SET prefixes = ? WHERE id = ?', json, id);
  }

  /** null: the name in its file. */
  rename(id: string, name: string | null): void {
    this.database.run('UPDATE model SET name = ? WHERE id = ?', name, id);
  }

  /** The fingerprint becomes known when the model is next loaded. */
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
    OR NOT json_valid(ifnull(server, 'null')) OR NOT json_valid(ifnull(prefixes, 'null')) LIMIT 1`;
  const download = `SELECT 1 FROM download WHERE NOT json_valid(files) OR NOT json_valid(ifnull(failure, 'null'))
    OR NOT json_valid(ifnull(source, 'null')) LIMIT 1`;
  if ([bad, download].every((query) => database.value(query) === undefined)) return database;
  throw new KvasirError('STORE_CORRUPT', 'The list of models has rows that cannot be read.');
}

function parse(row: RawRow): ModelRow {
  const source = row.source === null ? null : (JSON.parse(row.source) as HubSource);
  const server = row.server === null ? null : (JSON.parse(row.server) as RemoteServer);
  const prefixes = row.prefixes === null ? null : (JSON.parse(row.prefixes) as EmbeddingPrefixes);
  return { ...row, header: JSON.parse(row.header) as GgufInfo, source, server, prefixes };
}
