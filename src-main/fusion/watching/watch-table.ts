import type { WatchedAnswer } from '../../../src-shared/contract/watching.ts';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../../platform/database.ts';
import { MIGRATIONS } from './schema.ts';

/** A model in its current state: with another file or adapter it counts as another model. */
export interface Subject {
  modelId: string;
  fingerprint: string;
}

export interface DrawnAnswer extends Subject {
  id: number;
  answerId: string;
}

/** The minimum recomputed share, and the first drawn answer it applies to. */
interface Limit {
  leastRatio: number;
  sinceId: number;
}

/** 'kept': by a conversation. 'passing': its prompt is only in memory; its id then begins with PASSING. */
export type Origin = 'kept' | 'passing';

export const PASSING = 'passing:';

const NO_LIMIT: Limit = { leastRatio: 0, sinceId: 0 };

/** The watched answers and the resulting limits: an SQLite file. */
export class WatchTable {
  readonly #database: Database;
  /** By fingerprint and library, cached for questions: these continue when the database cannot be read. */
  #leastRatios: ReadonlyMap<string, number>;

  /** An unreadable file is set aside and replaced with an empty one. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  static open(path: string, onSetAside?: (what: QuarantinedDatabase) => void): WatchTable {
    return openOrSetAside(path, MIGRATIONS, (database) => new WatchTable(database), onSetAside);
  }

  constructor(database: Database) {
    this.#database = database;
    this.#leastRatios = this.#readLeastRatios();
  }

  /** The minimum share of cached tokens to recompute when passages of these libraries are blended; 1: all. */
  leastRatio({ info }: { info: { fingerprint: string } }, libraryIds: readonly string[]): number {
    return Math.max(0, ...libraryIds.map((id) => this.#leastRatios.get(`${info.fingerprint} ${id}`) ?? 0));
  }

  /** How many answers were drawn since then. */
  drawnSince(ms: number, origin: Origin): number {
    const query = 'SELECT count(*) FROM watched WHERE drawn_ms > ? AND (substr(answer_id, 1, ?) = ?) = ?';
    const passing = Number(origin === 'passing');
    return this.#database.value<number>(query, ms, PASSING.length, PASSING, passing) ?? 0;
  }

  /** Does nothing for an answer that was drawn before and continued since. */
  draw(answerId: string, { modelId, fingerprint }: Subject, libraryIds: readonly string[], ms: number): void {
    const sql = `INSERT INTO watched (answer_id, model_id, fingerprint, drawn_ms) VALUES (?, ?, ?, ?)
      ON CONFLICT DO NOTHING RETURNING id`;
    this.#database.transaction(() => {
      const id = this.#database.value<number>(sql, answerId, modelId, fingerprint, ms);
      for (const libraryId of id === undefined ? [] : libraryIds)
        this.#database.run(
          'INSERT INTO watched_library (watched_id, library_id) VALUES (?, ?)',
          id,
          libraryId,
        );
    });
  }

  /** The next one to compare: the newest, since its passages are the most likely to be cached still. */
  next({ modelId, fingerprint }: Subject, drawnAfterMs: number): DrawnAnswer | undefined {
    const query = `SELECT id, answer_id AS answerId, model_id AS modelId, fingerprint FROM watched
      WHERE measured_ms IS NULL AND model_id = ? AND fingerprint = ? AND drawn_ms > ? ORDER BY id DESC LIMIT 1`;
    return this.#database.get<DrawnAnswer>(query, modelId, fingerprint, drawnAfterMs);
  }

  save(id: number, { measuredMs, kl, agreement, ratio }: WatchedAnswer): void {
    const sql = 'UPDATE watched SET measured_ms = ?, kl = ?, agreement = ?, ratio = ? WHERE id = ?';
    this.#database.run(sql, measuredMs, kl, agreement, ratio, id);
  }

  /** Deletes an answer that cannot be compared. */
  drop(id: number): void {
    this.#database.run('DELETE FROM watched WHERE id = ?', id);
  }

  libraryIds(id: number): string[] {
    return this.#database.column<string>('SELECT library_id FROM watched_library WHERE watched_id = ?', id);
  }

  /** Models and libraries with any data. */
  pairs(): { modelId: string; libraryId: string }[] {
    return this.#database.all(`SELECT model_id AS modelId, library_id AS libraryId FROM watched
      JOIN watched_library ON watched_id = id WHERE measured_ms IS NOT NULL
      UNION SELECT model_id, library_id FROM blending_limit ORDER BY 1, 2`);
  }

  /** The latest compared answers among those drawn after this one, oldest first. */
  answers(modelId: string, libraryId: string, afterId: number, count: number): WatchedAnswer[] {
    const query = `SELECT measured_ms AS measuredMs, kl, agreement, ratio FROM watched
      JOIN watched_library ON watched_id = id
      WHERE model_id = ? AND library_id = ? AND id > ? AND measured_ms IS NOT NULL ORDER BY id DESC LIMIT ?`;
    return this.#database.all<WatchedAnswer>(query, modelId, libraryId, afterId, count).toReversed();
  }

  limit(modelId: string, libraryId: string): Limit {
    const query = `SELECT least_ratio AS leastRatio, since_id AS sinceId FROM blending_limit
      WHERE model_id = ? AND library_id = ?`;
    return this.#database.get<Limit>(query, modelId, libraryId) ?? NO_LIMIT;
  }

  /** Applies from now on; answers drawn before no longer count. */
  setLimit(subject: Subject, libraryId: string, leastRatio: number): void {
    const sql = `INSERT OR REPLACE INTO blending_limit (model_id, library_id, fingerprint, least_ratio, since_id)
      VALUES (?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM watched))`;
    this.#database.run(sql, subject.modelId, libraryId, subject.fingerprint, leastRatio);
    this.#leastRatios = this.#readLeastRatios();
  }

  /** As setLimit() to none. False if there is no limit. */
  lift(modelId: string, libraryId: string): boolean {
    const sql = `UPDATE blending_limit SET least_ratio = 0, since_id = (SELECT coalesce(max(id), 0) FROM watched)
      WHERE model_id = ? AND library_id = ?`;
    const lifted = this.#database.run(sql, modelId, libraryId) > 0;
    this.#leastRatios = this.#readLeastRatios();
    return lifted;
  }

  /** Deletes the data of models and libraries that are gone. Returns whether there was any. */
  keepOnly(modelIds: readonly string[], libraryIds: readonly string[]): boolean {
    const [models, libraries] = [JSON.stringify(modelIds), JSON.stringify(libraryIds)];
    const gone = (column: string) => `${column} NOT IN (SELECT value FROM json_each(?))`;
    const statements: [string, ...string[]][] = [
      [`DELETE FROM blending_limit WHERE ${gone('model_id')} OR ${gone('library_id')}`, models, libraries],
      [`DELETE FROM watched_library WHERE ${gone('library_id')}`, libraries],
      [`DELETE FROM watched WHERE ${gone('model_id')}`, models],
      ['DELETE FROM watched WHERE id NOT IN (SELECT watched_id FROM watched_library)'],
    ];
    const changes = this.#database.transaction(() =>
      statements.map(([sql, ...values]) => this.#database.run(sql, ...values)),
    );
    this.#leastRatios = this.#readLeastRatios();
    return changes.some((rows) => rows > 0);
  }

  /** Deletes a model's data from before its last change, and data older than this. Returns whether there was any. */
  forget({ modelId, fingerprint }: Subject, drawnBeforeMs: number): boolean {
    const other = 'model_id = ? AND fingerprint <> ?';
    const changes = this.#database.transaction(() => {
      const limits = this.#database.run(`DELETE FROM blending_limit WHERE ${other}`, modelId, fingerprint);
      const old = `DELETE FROM watched WHERE ${other} OR drawn_ms < ?`;
      return this.#database.run(old, modelId, fingerprint, drawnBeforeMs) + limits;
    });
    this.#leastRatios = this.#readLeastRatios();
    return changes > 0;
  }

  close(): void {
    this.#database.close();
  }

  #readLeastRatios(): Map<string, number> {
    const limits = this.#database.all<{ key: string; leastRatio: number }>(
      `SELECT fingerprint || ' ' || library_id AS key, least_ratio AS leastRatio FROM blending_limit`,
    );
    return new Map(limits.map(({ key, leastRatio }) => [key, leastRatio]));
  }
}
