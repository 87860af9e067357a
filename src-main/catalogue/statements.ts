import type { Statement } from 'better-sqlite3';
import { databaseError, type Database } from '../platform/database.ts';

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters --
   only who writes a query knows what its rows look like */

/** A database whose statements are prepared once, and whose failures are typed. */
export class Statements {
  readonly database: Database;
  readonly #path: string;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database, path: string) {
    this.database = database;
    this.#path = path;
  }

  all<T>(sql: string, ...values: unknown[]): T[] {
    return this.#run(() => this.#prepare(sql).all(...values) as T[]);
  }

  get<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#run(() => this.#prepare(sql).get(...values) as T | undefined);
  }

  /** The first column of the first row. */
  value<T>(sql: string, ...values: unknown[]): T | undefined {
    const row = this.get<Record<string, T>>(sql, ...values);
    return row && Object.values(row)[0];
  }

  /** Gives the number of rows changed. */
  run(sql: string, ...values: unknown[]): number {
    return this.#run(() => this.#prepare(sql).run(...values).changes);
  }

  transaction<T>(work: () => T): T {
    return this.#run(() => this.database.transaction(work)());
  }

  #prepare(sql: string): Statement {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }

  #run<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw databaseError(error, this.#path);
    }
  }
}
