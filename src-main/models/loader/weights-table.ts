import type { Database } from '../../platform/database.ts';

/** SHA-256 of weights: of model files, and of the weights that stored KV was computed with. */
export class WeightsTable {
  readonly #database: Database;

  /** Its tables are part of the registry. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Hash of a file if it is unchanged since it was hashed. */
  fileSha256(path: string, identity: string): string | undefined {
    const query = 'SELECT sha256 FROM weights_file WHERE path = ? AND identity = ?';
    return this.#database.value<string>(query, path, identity);
  }

  putFile(path: string, identity: string, sha256: string): void {
    this.#database.run('INSERT OR REPLACE INTO weights_file VALUES (?, ?, ?)', path, identity, sha256);
  }

  /** Hash of the weights with this fingerprint that KV was computed with. */
  sha256(fingerprint: string): string | undefined {
    return this.#database.value<string>('SELECT sha256 FROM weights WHERE fingerprint = ?', fingerprint);
  }

  put(fingerprint: string, sha256: string): void {
    this.#database.run('INSERT OR REPLACE INTO weights VALUES (?, ?)', fingerprint, sha256);
  }
}
