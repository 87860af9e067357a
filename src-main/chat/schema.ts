/** Migrations of conversations.sqlite. Ids are never reused, so that an old link cannot open something else. */
export const MIGRATIONS = [
  `
  CREATE TABLE conversation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,       -- '' until the first question
    created_ms REAL NOT NULL,
    updated_ms REAL NOT NULL,
    options TEXT NOT NULL,     -- JSON
    leaf_id INTEGER REFERENCES message(id) ON DELETE SET NULL,
    deleted_ms REAL            -- NULL: not deleted; removed for good an hour later
  ) STRICT;
  CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES message(id), -- no cascade: a long branch would exceed its depth
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL,
    created_ms REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'stopped', 'failed')),
    failure TEXT,              -- JSON
    citations TEXT NOT NULL DEFAULT '[]',
    notices TEXT NOT NULL DEFAULT '[]',
    stats TEXT,                -- JSON
    context BLOB               -- gzip JSON: the token ids that this turn brought into the model's context
  ) STRICT;
  CREATE INDEX message_conversation ON message(conversation_id);
  CREATE INDEX message_parent ON message(parent_id);
  CREATE INDEX message_waiting ON message(id) WHERE state = 'waiting';
  CREATE TABLE report (        -- what the engine reported of an answer's prompt
    answer_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
    body BLOB NOT NULL         -- gzip JSON
  ) STRICT;
  -- Words of titles and messages; rowids are those of conversation and message.
  CREATE VIRTUAL TABLE title_words USING fts5(words, content='', contentless_delete=1,
    tokenize='unicode61 remove_diacritics 2');
  CREATE VIRTUAL TABLE message_words USING fts5(words, content='', contentless_delete=1,
    tokenize='unicode61 remove_diacritics 2');
  `,
  `
  CREATE TABLE comparison (    -- ways to make an answer's prompt, side by side
    answer_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
    made_ms REAL NOT NULL,
    body BLOB NOT NULL         -- gzip JSON
  ) STRICT;
  `,
  `
  ALTER TABLE message ADD COLUMN thinking TEXT; -- JSON: what the model thought before it answered
  `,
  `
  ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0; -- 1: listed before the others
  CREATE TABLE draft (         -- a question that was typed and not sent
    conversation_id INTEGER UNIQUE REFERENCES conversation(id) ON DELETE CASCADE, -- NULL: a new conversation
    text TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    instructions TEXT NOT NULL,
    model_id TEXT,             -- NULL: any
    options TEXT NOT NULL      -- JSON, as those of a conversation
  ) STRICT;
  ALTER TABLE conversation ADD COLUMN project_id INTEGER REFERENCES project(id) ON DELETE SET NULL;
  `,
  `
  ALTER TABLE message ADD COLUMN calls TEXT NOT NULL DEFAULT '[]'; -- JSON: of tools, in the order of the answer
  `,
];
