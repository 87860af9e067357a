/** Migrations of watching.sqlite; see docs/formats/watching.md. */
export const MIGRATIONS = [
  `
  CREATE TABLE watched (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    answer_id TEXT NOT NULL UNIQUE, -- in conversations.sqlite; it may be gone. passing:<uuid>: in no file
    model_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,    -- of the model as it answered
    drawn_ms REAL NOT NULL,
    measured_ms REAL,             -- NULL: drawn, but not compared yet; the rest is then NULL as well
    kl REAL,
    agrees INTEGER,
    kept REAL,
    f1 REAL,                      -- NULL: it means nothing
    ratio REAL
  ) STRICT;
  CREATE INDEX watched_model ON watched(model_id, measured_ms);
  CREATE TABLE watched_library (  -- whose passages were blended. clients: text of other programs
    watched_id INTEGER NOT NULL REFERENCES watched(id) ON DELETE CASCADE,
    library_id TEXT NOT NULL,
    PRIMARY KEY (watched_id, library_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX watched_library_library ON watched_library(library_id);
  CREATE TABLE blending_limit (   -- what followed
    model_id TEXT NOT NULL,
    library_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    least_ratio REAL NOT NULL,    -- 0: no limit. 1: nothing is blended
    since_id INTEGER NOT NULL,    -- what was drawn up to this one no longer counts
    PRIMARY KEY (model_id, library_id)
  ) STRICT, WITHOUT ROWID;
  `,
  // Earlier comparisons covered only the first token, and words: they no longer count, nor do their consequences.
  `
  DELETE FROM watched;
  DELETE FROM blending_limit;
  ALTER TABLE watched DROP COLUMN agrees;
  ALTER TABLE watched DROP COLUMN f1;
  ALTER TABLE watched RENAME COLUMN kept TO agreement;
  `,
];
