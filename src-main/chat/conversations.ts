import {
  ConversationOptionsSchema,
  type ConversationOptions,
  type ConversationSummary,
} from '../../src-shared/contract/chat.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../platform/database.ts';
import { notFound } from '../platform/ids.ts';
import { parseOr } from '../platform/parse-or.ts';
import { MessageStore } from './messages.ts';
import { MIGRATIONS } from './schema.ts';
import { indexedWords, snippetOf, wordsQuery } from './words.ts';

export interface ConversationRecord {
  id: number;
  title: string;
  createdMs: number;
  updatedMs: number;
  options: ConversationOptions;
  leafId: number | null;
}

type RawConversation = Omit<ConversationRecord, 'options'> & { options: string };

type ListedRow = Pick<ConversationSummary, 'title' | 'updatedMs' | 'messages'> & {
  id: number;
  lastText: string | null;
  thoughts: 0 | 1;
};

const KEPT_AFTER_DELETION_MS = 30 * 24 * 3600 * 1000;
const TITLE_LENGTH = 80;

const COLUMNS = `id, title, created_ms AS createdMs, updated_ms AS updatedMs, options, leaf_id AS leafId`;

/** Conversations on disk: one SQLite file, owned by one process. */
export class ConversationStore {
  readonly messages: MessageStore;
  readonly #database: Database;
  readonly #clock: Clock;

  private constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.messages = new MessageStore(database, clock);
  }

  /** A file that cannot be read is set aside and replaced by an empty one. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  static open(
    path: string,
    clock: Clock = systemClock,
    onSetAside?: (what: QuarantinedDatabase) => void,
  ): ConversationStore {
    const recovered = (database: Database): ConversationStore => {
      const store = new ConversationStore(database, clock);
      store.transaction(() => {
        store.#removeLongDeleted();
        store.messages.recover();
      });
      return store;
    };
    return openOrSetAside(path, MIGRATIONS, recovered, onSetAside);
  }

  close(): void {
    this.#database.close();
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: () => T): T {
    return this.#database.transaction(work);
  }

  create(options: ConversationOptions): number {
    const now = this.#clock.wall();
    const sql =
      "INSERT INTO conversation (title, created_ms, updated_ms, options) VALUES ('', ?, ?, ?) RETURNING id";
    return this.#database.value<number>(sql, now, now, JSON.stringify(options)) as number;
  }

  /** NOT_FOUND. */
  require(id: number): ConversationRecord {
    const query = `SELECT ${COLUMNS} FROM conversation WHERE id = ? AND deleted_ms IS NULL`;
    const raw = this.#database.get<RawConversation>(query, id);
    if (!raw) throw notFound('conversation');
    return {
      ...raw,
      options: parseOr(ConversationOptionsSchema, raw.options, ConversationOptionsSchema.parse({})),
    };
  }

  /** Latest first; only those that contain every search word, in the title or in a single message. */
  list(search: string, busy: (id: number) => boolean): ConversationSummary[] {
    const query = wordsQuery(search);
    if (search.trim() !== '' && query === '') return [];
    const found = query === '' ? undefined : this.#search(query);
    return this.#rows()
      .filter(({ id }) => !found || found.has(id))
      .map(({ id, lastText, thoughts, ...row }) => {
        const snippet = snippetOf(found?.get(id) ?? lastText ?? '', search);
        return { ...row, id: String(id), snippet, thoughts: thoughts === 1, busy: busy(id) };
      });
  }

  rename(id: number, title: string): void {
    this.#database.run('UPDATE conversation SET title = ? WHERE id = ?', title, id);
    this.#database.run('DELETE FROM title_words WHERE rowid = ?', id);
    this.#database.run('INSERT INTO title_words (rowid, words) VALUES (?, ?)', id, indexedWords(title));
  }

  setOptions(id: number, options: ConversationOptions): void {
    this.#database.run('UPDATE conversation SET options = ? WHERE id = ?', JSON.stringify(options), id);
  }

  setLeaf(id: number, leafId: number): void {
    const sql = 'UPDATE conversation SET leaf_id = ?, updated_ms = ? WHERE id = ?';
    this.#database.run(sql, leafId, this.#clock.wall(), id);
  }

  delete(id: number): void {
    this.#database.run('UPDATE conversation SET deleted_ms = ? WHERE id = ?', this.#clock.wall(), id);
  }

  /** NOT_FOUND once it is permanently deleted. */
  restore(id: number): void {
    const changes = this.#database.run('UPDATE conversation SET deleted_ms = NULL WHERE id = ?', id);
    if (changes === 0) throw notFound('conversation');
  }

  #rows(): ListedRow[] {
    const query = `SELECT c.id, c.title, c.updated_ms AS updatedMs, substr(last.text, 1, 500) AS lastText,
        (SELECT count(*) FROM message m WHERE m.conversation_id = c.id) AS messages,
        EXISTS (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND m.thinking IS NOT NULL) AS thoughts
      FROM conversation c LEFT JOIN message last ON last.id = c.leaf_id
      WHERE c.deleted_ms IS NULL ORDER BY c.updated_ms DESC, c.id DESC`;
    return this.#database.all<ListedRow>(query);
  }

  /** Conversation → the text that matched. A message is preferred to a title. */
  #search(query: string): Map<number, string> {
    const titles = 'SELECT rowid AS id FROM title_words WHERE title_words MATCH ?';
    const messages = `SELECT m.conversation_id AS id, m.text FROM message_words w JOIN message m ON m.id = w.rowid
      WHERE message_words MATCH ? ORDER BY rank DESC`;
    const found = new Map<number, string>();
    for (const id of this.#database.column<number>(titles, query)) found.set(id, '');
    for (const { id, text } of this.#database.all<{ id: number; text: string }>(messages, query))
      found.set(id, text);
    return found;
  }

  #removeLongDeleted(): void {
    const before = this.#clock.wall() - KEPT_AFTER_DELETION_MS;
    const old = '(SELECT id FROM conversation WHERE deleted_ms < @before)';
    for (const sql of [
      `DELETE FROM title_words WHERE rowid IN ${old}`,
      `DELETE FROM message_words WHERE rowid IN (SELECT id FROM message WHERE conversation_id IN ${old})`,
      `DELETE FROM conversation WHERE deleted_ms < @before`,
    ])
      this.#database.run(sql, { before });
  }
}

/** The first line of a question, truncated at a word. */
export function titleFrom(question: string): string {
  const line = question.trim().split('\n', 1)[0]?.replace(/\s+/g, ' ') ?? '';
  if (line.length <= TITLE_LENGTH) return line;
  const cut = line.slice(0, TITLE_LENGTH).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${space > TITLE_LENGTH / 2 ? cut.slice(0, space) : cut}…`;
}
