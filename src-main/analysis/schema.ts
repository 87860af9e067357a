/** Migrations of analyses.sqlite; see docs/formats/analyses.md. Ids are never reused. */
export const MIGRATIONS = [
  `
  CREATE TABLE analysis (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('document', 'questions')),
    title TEXT NOT NULL,
    created_ms REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'stopped', 'failed')),
    failure TEXT,              -- JSON
    request TEXT NOT NULL,     -- JSON
    version TEXT NOT NULL,     -- of the document's chunks that the windows were cut from; '' for questions
    model TEXT NOT NULL,
    work_ms REAL NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE step (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    analysis_id INTEGER NOT NULL REFERENCES analysis(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('window', 'combine', 'question')),
    first INTEGER NOT NULL,    -- of the chunks, or steps, that it reads; "last" is not included
    last INTEGER NOT NULL,
    question TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
    text TEXT NOT NULL DEFAULT '',
    failure TEXT,              -- JSON
    sources TEXT NOT NULL DEFAULT '[]',
    notices TEXT NOT NULL DEFAULT '[]',
    encoded TEXT,              -- JSON
    stats TEXT                 -- JSON
  ) STRICT;
  CREATE INDEX step_analysis ON step(analysis_id);
  `,
];
