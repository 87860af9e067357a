import type { Database } from '../../../platform/database.ts';
import { identityOf } from '../weights-check.ts';
import type { TrialRequest } from './protocol.ts';
import type { TryFile } from './try-file.ts';

/** Tests every file for libllama in a separate process before its first use, and again once it has changed. */
export class Trials {
  readonly #database: Database;
  readonly #tryFile: TryFile;

  /** The table is part of the registry. */
  constructor(database: Database, tryFile: TryFile) {
    this.#database = database;
    this.#tryFile = tryFile;
  }

  /** See TryFile. */
  async require(request: TrialRequest): Promise<void> {
    const { path } = request;
    const identity = await identityOf(path);
    const known = 'SELECT 1 FROM tried_file WHERE path = ? AND identity = ?';
    if (this.#database.value(known, path, identity) !== undefined) return;
    await this.#tryFile(request);
    this.#database.run('INSERT OR REPLACE INTO tried_file VALUES (?, ?)', path, identity);
  }
}
