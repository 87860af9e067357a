import { z } from 'zod';
import type { Download } from '../../../../src-shared/contract/models.ts';
import type { Failure } from '../../../../src-shared/contract/common.ts';
import type { HubSource } from '../../../../src-shared/contract/hub.ts';
import type { Database } from '../../../platform/database.ts';

const FileSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  /** Lower case; '' if none was announced. */
  sha256: z.string(),
  /** Name in the models folder; the partial file has the suffix .part. */
  file: z.string().min(1),
  /** 0 while unknown. */
  bytesTotal: z.number().min(0),
  /** ETag or Last-Modified of the response the partial file came from; '' if there was none. */
  validator: z.string(),
});

/** A row may come from a backup: one with invalid files gets none. */
const FilesSchema = z.array(FileSchema).catch([]);

export type DownloadFile = z.infer<typeof FileSchema>;

export interface DownloadRow {
  id: string;
  name: string;
  /** A model's files, in order; usually one. */
  files: DownloadFile[];
  /** Their location on a hub; null: a URL from the user. */
  source: HubSource | null;
  state: Download['state'];
  failure: Failure | null;
}

type RawRow = Pick<DownloadRow, 'id' | 'name' | 'state'> & Record<'files' | 'source' | 'failure', string>;

/** Downloads stored between runs. */
export class DownloadTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** In the order they were added. */
  all(): DownloadRow[] {
    const query = `SELECT id, name, state, files, ifnull(source, 'null') AS source, ifnull(failure, 'null') AS failure
      FROM download ORDER BY added_ms, rowid`;
    return this.#database.all<RawRow>(query).map((row) => ({
      ...row,
      files: FilesSchema.parse(JSON.parse(row.files)),
      source: JSON.parse(row.source) as HubSource | null,
      failure: JSON.parse(row.failure) as Failure | null,
    }));
  }

  /** Adds a download or replaces its record. Durable. */
  put({ files, source, failure, ...row }: DownloadRow): void {
    const sql = `INSERT INTO download (id, name, files, source, state, failure, added_ms)
      VALUES (@id, @name, @files, @source, @state, @failure, @now)
      ON CONFLICT (id) DO UPDATE SET files = @files, state = @state, failure = @failure`;
    const values = {
      ...row,
      files: JSON.stringify(files),
      source: source && JSON.stringify(source),
      failure: failure && JSON.stringify(failure),
      now: Date.now(),
    };
    this.#database.durable(() => this.#database.run(sql, values));
  }

  remove(id: string): void {
    this.#database.run('DELETE FROM download WHERE id = ?', id);
  }
}
