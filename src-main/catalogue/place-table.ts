import type { Database } from '../platform/database.ts';

/**
 * Places of documents whose KV is computed before the rest. A place is a position of the text, not a chunk: it holds for every model and
 * chunk size. `tried`: the target that it was last computed for.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS place (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the newest has the highest
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,            -- UTF-16 units
    reason TEXT NOT NULL CHECK (reason IN ('found', 'opening')),
    tried TEXT,
    UNIQUE (document_id, position, reason)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS place_order ON place(reason, id);`;

/** Found places kept; the oldest go first. */
const MOST_FOUND = 4096;

/** `found`: by a question or a search, or opened by a person. `opening`: the start of a document, which broad questions read. */
type PlaceReason = 'found' | 'opening';

export interface Place {
  id: number;
  documentId: number;
  position: number;
  reason: PlaceReason;
}

/** The places whose KV is computed first. Derived: without it, documents are computed in the usual order. */
export class PlaceTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  /** A person opened a document here, or it has an opening: the place becomes the newest. */
  add(documentId: number, position: number, reason: PlaceReason): void {
    const sql = `INSERT OR REPLACE INTO place (document_id, position, reason)
      SELECT id, ?, ? FROM document WHERE id = ?`;
    this.#sql.run(sql, position, reason, documentId);
    this.#dropOldest();
  }

  /** A question or a search found these chunks, the best first: their places become the newest. */
  found(chunkIds: readonly number[]): void {
    const sql = `INSERT OR REPLACE INTO place (document_id, position, reason)
      SELECT document_id, char_start, 'found' FROM chunk WHERE id = ?`;
    this.#sql.transaction(() => {
      for (const id of chunkIds.toReversed()) this.#sql.run(sql, id);
      this.#dropOldest();
    });
  }

  /**
   * The next place to compute for a target, of one library or of all but some, in a document whose chunks are complete: the newest found
   * one, then openings.
   */
  next(target: string, libraryId?: number, except: readonly number[] = []): Place | undefined {
    const which =
      libraryId === undefined ? 'NOT IN (SELECT value FROM json_each(@libraries))' : '= @libraries';
    const query = `SELECT p.id, p.document_id AS documentId, p.position, p.reason
      FROM place p CROSS JOIN document d ON d.id = p.document_id
      WHERE p.reason = @reason AND p.tried IS NOT @target AND d.phase IN ('precomputing', 'ready')
        AND d.library_id ${which} AND d.library_id NOT IN (SELECT id FROM library WHERE doomed)
      ORDER BY p.id DESC LIMIT 1`;
    const libraries = libraryId ?? JSON.stringify(except);
    for (const reason of ['found', 'opening'] as const) {
      const place = this.#sql.get<Place>(query, { reason, target, libraries });
      if (place) return place;
    }
    return undefined;
  }

  /** A place needs nothing more for a target. */
  setTried({ id, reason }: Place, target: string): void {
    if (reason === 'opening') this.#sql.run('DELETE FROM place WHERE id = ?', id);
    else this.#sql.run('UPDATE place SET tried = ? WHERE id = ?', target, id);
  }

  #dropOldest(): void {
    const sql = `DELETE FROM place WHERE reason = 'found' AND id <= (SELECT id FROM place WHERE reason = 'found'
      ORDER BY id DESC LIMIT 1 OFFSET ?)`;
    this.#sql.run(sql, MOST_FOUND);
  }
}
