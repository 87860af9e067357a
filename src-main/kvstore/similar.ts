import type { Database } from '../platform/database.ts';
import { rollingHashes } from '../platform/rolling-hash.ts';
import type { TextIdentity } from './types.ts';

/** Tokens per fingerprint: long enough that few texts share one by chance. */
const GRAM = 8;
/** Fingerprints kept per chunk: of two chunks that share half their grams, one in a billion pairs shares none of 32. */
const KEPT = 32;
/** With fewer shared fingerprints a chunk has too little in common to be considered. */
const FEWEST_SHARED = 3;
/**
 * Only this many of the newest chunks with a given fingerprint are considered, to bound the cost of text that occurs
 * everywhere.
 */
const MOST_ALIKE = 256;

/**
 * The smallest distinct hashes of all token runs: two similar texts share most of them (Broder 1997). Bounded, however
 * long the text.
 */
export function fingerprints(tokens: Int32Array): number[] {
  return [...new Set(rollingHashes(tokens, GRAM))].sort((a, b) => a - b).slice(0, KEPT);
}

/** Fingerprints processed per transaction of a sweep. */
const SWEPT_AT_ONCE = 2000;

const SQL = {
  enter: `INSERT INTO sketches (key) VALUES (?) ON CONFLICT DO NOTHING RETURNING id`,
  fingerprint: `INSERT INTO fingerprints (hash, sketch) VALUES (?, ?)`,
  newest: `SELECT sketch FROM fingerprints JOIN sketches ON id = sketch WHERE hash = ? ORDER BY sketch DESC LIMIT ?`,
  key: `SELECT key FROM sketches JOIN chunks USING (key) WHERE id = @sketch AND kind = 'chunk'
    AND fingerprint = @fingerprint AND dtype = @dtype`,
  count: `SELECT count(*) FROM sketches`,
  missing: `SELECT key FROM chunks WHERE kind = 'chunk' AND key NOT IN (SELECT key FROM sketches)`,
  held: `SELECT gone, (SELECT count(*) FROM sketches) AS live FROM sweep`,
  sweepTo: `SELECT hash, sketch FROM fingerprints WHERE (hash, sketch) > (@hash, @sketch)
    ORDER BY hash, sketch LIMIT 1 OFFSET ${SWEPT_AT_ONCE - 1}`,
  sweep: `DELETE FROM fingerprints WHERE (hash, sketch) > (@hash, @sketch) AND (hash, sketch) <= (@toHash, @toSketch)
    AND sketch NOT IN (SELECT id FROM sketches)`,
  swept: `UPDATE sweep SET gone = max(0, gone - ?)`,
};

interface Fingerprint {
  hash: number;
  sketch: number;
}

/** Position of a sweep, and the number of sketches gone when it began. */
interface Sweep {
  at: Fingerprint;
  gone: number;
}

const FIRST: Fingerprint = { hash: -1, sketch: 0 };
const LAST: Fingerprint = { hash: 2 ** 32, sketch: 0 };

/**
 * Finds chunks with common fingerprints. Stored in the index; once a chunk's row is gone its fingerprints no longer
 * match.
 */
export class SimilarChunks {
  readonly #db: Database;
  #sweep: Sweep | undefined;

  /** Throws SQLITE_ERROR if the schema is not that of this version. */
  constructor(db: Database) {
    this.#db = db;
    db.compile(Object.values(SQL));
  }

  /** Adds a chunk whose row exists. */
  add(key: string, tokens: Int32Array): void {
    this.#db.transaction(() => {
      const id = this.#db.value<number>(SQL.enter, key);
      if (id === undefined) return; // added before
      for (const hash of fingerprints(tokens)) this.#db.run(SQL.fingerprint, hash, id);
    });
  }

  /**
   * Keys that share fingerprints with these tokens, among chunks of the same model and format, most shared first; ties:
   * newest first. A fingerprint counts less the more chunks have it: one that all chunks have distinguishes none.
   */
  find({ fingerprint, dtype, tokens }: TextIdentity, limit: number): { key: string; shared: number }[] {
    const candidates = new Map<number, { shared: number; weight: number }>();
    for (const hash of fingerprints(tokens)) {
      const sketches = this.#db.column<number>(SQL.newest, hash, MOST_ALIKE);
      for (const sketch of sketches) {
        const { shared, weight } = candidates.get(sketch) ?? { shared: 0, weight: 0 };
        candidates.set(sketch, { shared: shared + 1, weight: weight + 1 / sketches.length });
      }
    }
    const ranked = [...candidates]
      .filter(([, { shared }]) => shared >= FEWEST_SHARED)
      .sort(([a, one], [b, other]) => other.weight - one.weight || b - a);
    const found: { key: string; shared: number }[] = [];
    for (const [sketch, { shared }] of ranked) {
      if (found.length === limit) break;
      const key = this.#db.value<string>(SQL.key, { sketch, fingerprint, dtype });
      if (key !== undefined) found.push({ key, shared });
    }
    return found;
  }

  /**
   * Call after deleting `removed` rows: once fingerprints of deleted chunks outnumber the others, deletes them, one
   * stretch per call. So the sweep follows their storage order, dead fingerprints never take more than half of the
   * space for long, and the cost is proportional to the number of deletions.
   */
  sweep(removed: number): void {
    const { gone, live } = this.#db.get<{ gone: number; live: number }>(SQL.held) ?? { gone: 0, live: 0 };
    if (!this.#sweep && gone <= live) return;
    let sweep: Sweep | undefined = this.#sweep ?? { at: FIRST, gone };
    for (let looked = 0; sweep && looked < 2 * KEPT * removed; looked += SWEPT_AT_ONCE)
      sweep = this.#sweepOn(sweep);
    this.#sweep = sweep;
  }

  /** Undefined at the end. */
  #sweepOn({ at, gone }: Sweep): Sweep | undefined {
    const to = this.#db.get<Fingerprint>(SQL.sweepTo, at);
    const { hash: toHash, sketch: toSketch } = to ?? LAST;
    this.#db.transaction(() => {
      this.#db.run(SQL.sweep, { ...at, toHash, toSketch });
      if (!to) this.#db.run(SQL.swept, gone);
    });
    return to && { at: to, gone };
  }

  /** The chunks, up to a limit, that have no fingerprints. */
  missing(chunks: number): string[] {
    if (this.#db.value(SQL.count) === chunks) return [];
    return this.#db.column(SQL.missing);
  }
}
