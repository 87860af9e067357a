import type { Database } from '../platform/database.ts';

/** SHA-256 of weights: of the files they lie in, and of those that KV in the store was computed with. */
export class WeightsTable {
  readonly #database: Database;

  /** Its tables are the registry's. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Of a file, while it is the one that was hashed. */
  fileSha256(path: string, identity: string): string | undefined {
    const query = 'SELECT sha256 FROM weights_file WHERE path = ? AND identity = ?';
    return this.#database.value<string>(query, path, identity);
  }

  putFile(path: string, identity: string, sha256: string): void {
    this.#database.run('INSERT OR REPLACE INTO weights_file VALUES (?, ?, ?)', path, identity, sha256);
  }

  /** Of the weights with this fingerprint that KV was computed with. */
  sha256(fingerprint: string): string | undefined {
    return this.#database.value<string>('SELECT sha256 FROM weights WHERE fingerprint = ?', fingerprint);
  }

  put(fingerprint: string, sha256: string): void {
    this.#database.run('INSERT OR REPLACE INTO weights VALUES (?, ?)', fingerprint, sha256);
  }
}
