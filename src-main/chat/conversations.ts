import {
  ConversationOptionsSchema,
  type ConversationOptions,
  type ConversationSummary,
} from '../../src-shared/contract/chat.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../platform/database.ts';
import { idText, notFound } from '../platform/ids.ts';
import { parseOr } from '../platform/parse-or.ts';
import { MessageStore } from './messages.ts';
import { ProjectStore } from './projects.ts';
import { MIGRATIONS } from './schema.ts';
import { indexedWords, matchesIn, snippetOf, wordsQuery } from './words.ts';

export interface ConversationRecord {
  id: number;
  title: string;
  createdMs: number;
  updatedMs: number;
  options: ConversationOptions;
  leafId: number | null;
  pinned: boolean;
  projectId: number | null;
}

type RawConversation = Omit<ConversationRecord, 'options' | 'pinned'> & { options: string; pinned: 0 | 1 };

type ListedRow = Pick<ConversationSummary, 'title' | 'updatedMs' | 'messages'> & {
  id: number;
  lastText: string | null;
  thoughts: 0 | 1;
  pinned: 0 | 1;
  projectId: number | null;
};

/** null: only the title matches. */
type FoundMessage = { id: number; text: string } | null;

/** Time in milliseconds in which a deletion can be undone. */
const KEPT_AFTER_DELETION_MS = 3600 * 1000;
const TITLE_LENGTH = 80;

const COLUMNS = `id, title, created_ms AS createdMs, updated_ms AS updatedMs, options, leaf_id AS leafId, pinned,
  project_id AS projectId`;

/** Conversations on disk: one SQLite file, owned by one process. */
export class ConversationStore {
  readonly messages: MessageStore;
  readonly projects: ProjectStore;
  readonly #database: Database;
  readonly #clock: Clock;

  private constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.messages = new MessageStore(database, clock);
    this.projects = new ProjectStore(database);
  }

  /** A file that cannot be read is set aside and replaced by an empty one. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  static open(
    path: string,
    clock: Clock = systemClock,
    onSetAside?: (what: QuarantinedDatabase) => void,
  ): ConversationStore {
    const recovered = (database: Database): ConversationStore => {
      const store = new ConversationStore(database, clock);
      store.transaction(() => store.messages.recover());
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

  /** Likewise, and a power cut does not undo it. */
  durable<T>(work: () => T): T {
    return this.#database.durable(work);
  }

  create(options: ConversationOptions, projectId: number | null): number {
    const now = this.#clock.wall();
    const sql = `INSERT INTO conversation (title, created_ms, updated_ms, options, project_id)
      VALUES ('', ?, ?, ?, ?) RETURNING id`;
    return this.#database.value<number>(sql, now, now, JSON.stringify(options), projectId) as number;
  }

  /** NOT_FOUND. */
  require(id: number): ConversationRecord {
    const query = `SELECT ${COLUMNS} FROM conversation WHERE id = ? AND deleted_ms IS NULL`;
    const raw = this.#database.get<RawConversation>(query, id);
    if (!raw) throw notFound('conversation');
    return {
      ...raw,
      pinned: raw.pinned === 1,
      options: parseOr(ConversationOptionsSchema, raw.options, ConversationOptionsSchema.parse({})),
    };
  }

  /** Pinned ones first, then the latest; only those that contain every search word, in the title or in a single message. */
  list(search: string, busy: (id: number) => boolean): ConversationSummary[] {
    const query = wordsQuery(search);
    if (search.trim() !== '' && query === '') return [];
    const found = query === '' ? undefined : this.#search(query);
    return this.#rows()
      .filter(({ id }) => !found || found.has(id))
      .map(({ id, lastText, thoughts, pinned, projectId, ...row }) => {
        const message = found?.get(id) ?? null;
        const snippet = snippetOf(message?.text ?? lastText ?? '', search);
        const match = found
          ? {
              messageId: message && String(message.id),
              title: matchesIn(row.title, search),
              snippet: matchesIn(snippet, search),
            }
          : null;
        const flags = { thoughts: thoughts === 1, pinned: pinned === 1, busy: busy(id) };
        return { ...row, id: String(id), projectId: idText(projectId), snippet, match, ...flags };
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

  setPinned(id: number, pinned: boolean): void {
    this.#database.run('UPDATE conversation SET pinned = ? WHERE id = ?', pinned ? 1 : 0, id);
  }

  move(id: number, projectId: number | null): void {
    this.#database.run('UPDATE conversation SET project_id = ? WHERE id = ?', projectId, id);
  }

  /** Texts by conversation; null: the new one. */
  drafts(): { conversationId: number | null; text: string }[] {
    const query = `SELECT d.conversation_id AS conversationId, d.text FROM draft d
      LEFT JOIN conversation c ON c.id = d.conversation_id WHERE c.deleted_ms IS NULL`;
    return this.#database.all(query);
  }

  setDraft(conversationId: number | null, text: string): void {
    this.#database.run('DELETE FROM draft WHERE conversation_id IS ?', conversationId);
    if (text !== '') this.#database.run('INSERT INTO draft VALUES (?, ?)', conversationId, text);
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
    const sql = 'UPDATE conversation SET deleted_ms = NULL WHERE id = ? AND deleted_ms >= ?';
    if (this.#database.run(sql, id, this.#forgottenBefore) === 0) throw notFound('conversation');
  }

  /**
   * Removes conversations whose deletion can no longer be undone, with their words. `step` is awaited after every few milliseconds of work. The
   * rows go last: after a kill, or if `step` throws, the next call begins again.
   */
  async removeDeleted(step: () => Promise<void>): Promise<void> {
    const before = this.#forgottenBefore;
    const old = 'SELECT id FROM conversation WHERE deleted_ms < @before';
    if (this.#database.value(old, { before }) === undefined) return;
    this.transaction(() => {
      this.#database.run(`DELETE FROM title_words WHERE rowid IN (${old})`, { before });
      const messages = `SELECT id FROM message WHERE conversation_id IN (${old})`;
      this.#database.run(`DELETE FROM message_words WHERE rowid IN (${messages})`, { before });
    });
    for (const table of ['title_words', 'message_words'])
      for (const _ of this.#database.purgeWords(table)) await step();
    this.#database.run('DELETE FROM conversation WHERE deleted_ms < @before', { before });
    this.#database.forget();
  }

  get #forgottenBefore(): number {
    return this.#clock.wall() - KEPT_AFTER_DELETION_MS;
  }

  #rows(): ListedRow[] {
    const query = `SELECT c.id, c.title, c.updated_ms AS updatedMs, c.pinned,
        c.project_id AS projectId, substr(last.text, 1, 500) AS lastText,
        (SELECT count(*) FROM message m WHERE m.conversation_id = c.id) AS messages,
        EXISTS (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND m.thinking IS NOT NULL) AS thoughts
      FROM conversation c LEFT JOIN message last ON last.id = c.leaf_id
      WHERE c.deleted_ms IS NULL ORDER BY c.pinned DESC, c.updated_ms DESC, c.id DESC`;
    return this.#database.all<ListedRow>(query);
  }

  /** Conversation → its best match. A message is preferred to a title. */
  #search(query: string): Map<number, FoundMessage> {
    const titles = 'SELECT rowid AS id FROM title_words WHERE title_words MATCH ?';
    const messages = `SELECT m.conversation_id AS conversationId, m.id, m.text FROM message_words w JOIN message m ON m.id = w.rowid
      WHERE message_words MATCH ? ORDER BY rank DESC`;
    const found = new Map<number, FoundMessage>();
    for (const id of this.#database.column<number>(titles, query)) found.set(id, null);
    type Row = { conversationId: number; id: number; text: string };
    for (const { conversationId, ...message } of this.#database.all<Row>(messages, query))
      found.set(conversationId, message);
    return found;
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
