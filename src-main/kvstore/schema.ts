/** Marks the database as ours ("KVSI"), so that another program's file is never taken for an index. */
export const APPLICATION_ID = 0x4b565349;

/**
 * Step i migrates the index from version i to i + 1 (PRAGMA user_version). Never edit a released step: append. Data
 * that is not in chunk headers (labels, pins, use) is lost when an index is rebuilt.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE chunks (
     key            TEXT    NOT NULL PRIMARY KEY, -- SHA-256, hex
     fingerprint    TEXT    NOT NULL,             -- of the model
     prefix_hash    TEXT    NOT NULL,
     dtype          TEXT    NOT NULL,
     layers         INTEGER NOT NULL,
     tokens         INTEGER NOT NULL,             -- how many
     bytes          INTEGER NOT NULL,             -- of the file
     format_version INTEGER NOT NULL,             -- of the file; part of its name
     label          TEXT    NOT NULL,
     pinned         INTEGER NOT NULL,             -- 0 or 1
     hits           INTEGER NOT NULL,
     created_at     INTEGER NOT NULL,             -- ms since 1970
     last_used_at   INTEGER NOT NULL,             -- ms since 1970; for people
     use_order      INTEGER NOT NULL              -- rises with each use; for eviction, whatever the clock does
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX chunks_by_use ON chunks (use_order);`,
  `ALTER TABLE chunks ADD COLUMN kind TEXT NOT NULL DEFAULT 'chunk';  -- or 'prefix'; the key says it too
   ALTER TABLE chunks ADD COLUMN class TEXT NOT NULL DEFAULT '';      -- of the request that used it last
   ALTER TABLE chunks ADD COLUMN use_offset INTEGER NOT NULL DEFAULT 0; -- tokens that stood before it in that prompt
   CREATE INDEX chunks_by_class ON chunks (kind, class, use_order, use_offset DESC) WHERE NOT pinned;`,
  `CREATE TABLE sketches (
     id  INTEGER PRIMARY KEY,
     key TEXT    NOT NULL UNIQUE REFERENCES chunks (key) ON DELETE CASCADE
   ) STRICT;
   CREATE TABLE fingerprints (                    -- of runs of a chunk's tokens: similar.ts
     hash   INTEGER NOT NULL,
     sketch INTEGER NOT NULL REFERENCES sketches (id) ON DELETE CASCADE,
     PRIMARY KEY (hash, sketch)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX fingerprints_of_sketch ON fingerprints (sketch);`,
  `UPDATE chunks SET class = CASE WHEN hits > 0 THEN 'other 1' ELSE 'precompute' END;
   CREATE TABLE workload (
     id    INTEGER PRIMARY KEY CHECK (id = 0),
     state TEXT    NOT NULL                       -- JSON: what was learned of classes; without it, it is learned again
   ) STRICT;`,
  `CREATE INDEX chunks_by_kind ON chunks (kind, fingerprint, use_order);`,
  // Fingerprints are clustered by hash: deleting those of one chunk would touch a page for each. They stay, and are
  // swept later.
  `CREATE TABLE sketches_6 (
     id  INTEGER PRIMARY KEY AUTOINCREMENT,       -- never given again: fingerprints outlive it
     key TEXT    NOT NULL UNIQUE REFERENCES chunks (key) ON DELETE CASCADE
   ) STRICT;
   INSERT INTO sketches_6 SELECT id, key FROM sketches;
   CREATE TABLE fingerprints_6 (
     hash   INTEGER NOT NULL,
     sketch INTEGER NOT NULL,                     -- one that is gone says nothing
     PRIMARY KEY (hash, sketch)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO fingerprints_6 SELECT hash, sketch FROM fingerprints ORDER BY hash, sketch;
   DROP TABLE fingerprints;
   DROP TABLE sketches;
   ALTER TABLE sketches_6 RENAME TO sketches;
   ALTER TABLE fingerprints_6 RENAME TO fingerprints;
   CREATE TABLE sweep (
     id   INTEGER PRIMARY KEY CHECK (id = 0),
     gone INTEGER NOT NULL                        -- sketches that went since fingerprints were last swept
   ) STRICT;
   INSERT INTO sweep VALUES (0, 0);
   CREATE TRIGGER sketch_goes AFTER DELETE ON sketches BEGIN UPDATE sweep SET gone = gone + 1; END;`,
  // Entries of other models leave first: candidates are read by model and number format.
  `DROP INDEX chunks_by_class;
   CREATE INDEX chunks_by_group ON chunks (kind, fingerprint, dtype, class, use_order, use_offset DESC) WHERE NOT pinned;`,
  `ALTER TABLE chunks ADD COLUMN folder TEXT NOT NULL DEFAULT ''; -- id of the added folder with the file; '': the store's own
   DROP INDEX chunks_by_group;
   CREATE INDEX chunks_by_group ON chunks (folder, kind, fingerprint, dtype, class, use_order, use_offset DESC) WHERE NOT pinned;
   CREATE TABLE deletions (                       -- of chunks whose folder was not connected: their files are still there
     folder TEXT NOT NULL,
     key    TEXT NOT NULL,
     PRIMARY KEY (folder, key)
   ) STRICT, WITHOUT ROWID;`,
];
