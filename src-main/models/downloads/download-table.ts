import type { Download } from '../../../src-shared/contract/models.ts';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { Database } from '../../platform/database.ts';

export interface DownloadRow {
  id: string;
  url: string;
  name: string;
  /** Lower case; '' when none was announced. */
  sha256: string;
  /** Name in the models folder; the unfinished file is called the same with .part behind it. */
  file: string;
  state: Download['state'];
  /** 0 while unknown. */
  bytesTotal: number;
  validator: string;
  failure: Failure | null;
}

type RawRow = Omit<DownloadRow, 'failure'> & { failure: string | null };

const COLUMNS = `id, url, name, sha256, file, state, bytes_total AS bytesTotal, validator, failure`;

/** Downloads as they are kept between runs. */
export class DownloadTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** In the order they were added. */
  all(): DownloadRow[] {
    const query = `SELECT ${COLUMNS} FROM download ORDER BY added_ms, rowid`;
    return this.#database.all<RawRow>(query).map((row) => ({
      ...row,
      failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
    }));
  }

  /** Adds a download, or replaces what is known of it. */
  put(row: DownloadRow): void {
    const sql = `INSERT INTO download (id, url, name, sha256, file, state, bytes_total, validator, failure, added_ms)
      VALUES (@id, @url, @name, @sha256, @file, @state, @bytesTotal, @validator, @failure, @now)
      ON CONFLICT (id) DO UPDATE SET state = @state, bytes_total = @bytesTotal, validator = @validator, failure = @failure`;
    const failure = row.failure && JSON.stringify(row.failure);
    this.#database.run(sql, { ...row, failure, now: Date.now() });
  }

  remove(id: string): void {
    this.#database.run('DELETE FROM download WHERE id = ?', id);
  }
}
