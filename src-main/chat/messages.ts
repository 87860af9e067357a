import type { AnswerStats, Citation } from '../../src-shared/contract/chat.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import { FusionReportSchema } from '../../src-shared/fusion-report.ts';
import { ComparisonSchema, type Comparison } from '../../src-shared/comparison.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { notFound } from '../platform/ids.ts';
import {
  endedCall,
  MESSAGE_COLUMNS,
  pack,
  toMessage,
  unpack,
  unpackContext,
  type MessageRecord,
  type RawMessage,
  type StoredState,
  type TurnContext,
} from './records.ts';
import { indexedWords } from './words.ts';

/** Reports are meant for recent answers; older ones are deleted. */
const KEPT_REPORTS = 500;
const KEPT_COMPARISONS = 50;

export interface AnswerEnd extends Pick<
  MessageRecord,
  'text' | 'thinking' | 'failure' | 'citations' | 'notices' | 'stats'
> {
  state: Exclude<StoredState, 'waiting'>;
  context: TurnContext | undefined;
}

/** Of a long conversation; about 100 kB each. */
const KEPT_CONTEXTS = 100;

/** The messages of conversations: a tree that branches where an answer was made again or a question changed. */
export class MessageStore {
  readonly #database: Database;
  readonly #clock: Clock;
  /** Contexts of the most recently requested turns, in that order: each question of a conversation requests all earlier ones. */
  readonly #contexts = new Map<number, TurnContext | undefined>();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Answers that were being written when the process ended keep their text so far. */
  recover(): void {
    const waiting = `SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.state = 'waiting'`;
    for (const { id, text, calls } of this.#database.all<RawMessage>(waiting).map(toMessage)) {
      const ended = JSON.stringify(calls.map(endedCall));
      this.#database.run("UPDATE message SET state = 'stopped', calls = ? WHERE id = ?", ended, id);
      this.#index(id, text);
    }
  }

  add(conversationId: number, parentId: number | null, role: MessageRecord['role'], text: string): number {
    const sql = `INSERT INTO message (conversation_id, parent_id, role, text, created_ms, state)
      VALUES (?, ?, ?, ?, ?, ?) RETURNING id`;
    const state: StoredState = role === 'user' ? 'done' : 'waiting';
    const values = [conversationId, parentId, role, text, this.#clock.wall(), state];
    const id = this.#database.value<number>(sql, ...values) as number;
    if (role === 'user') this.#index(id, text);
    return id;
  }

  /** NOT_FOUND unless it belongs to the conversation. */
  require(id: number, conversationId?: number): MessageRecord {
    const query = `SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.id = ?`;
    const raw = this.#database.get<RawMessage>(query, id);
    if (!raw) throw notFound('message');
    const message = toMessage(raw);
    if (conversationId !== undefined && message.conversationId !== conversationId) throw notFound('message');
    return message;
  }

  /** Parents before children. */
  all(conversationId: number): MessageRecord[] {
    const query = `SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.conversation_id = ? ORDER BY m.id`;
    return this.#database.all<RawMessage>(query, conversationId).map(toMessage);
  }

  /** From a conversation's first message to this one. */
  branch(id: number): MessageRecord[] {
    const query = `WITH RECURSIVE up(id, parent_id) AS (
        SELECT id, parent_id FROM message WHERE id = ?
        UNION ALL SELECT p.id, p.parent_id FROM message p JOIN up ON p.id = up.parent_id)
      SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.id IN (SELECT id FROM up) ORDER BY m.id`;
    return this.#database.all<RawMessage>(query, id).map(toMessage);
  }

  /** The end of the branch below a message, following its newest children. */
  newestLeaf(id: number): number {
    const newestChild = 'SELECT max(id) FROM message WHERE parent_id = ?';
    for (let leaf = id; ;) {
      const next = this.#database.value<number | null>(newestChild, leaf);
      if (!next) return leaf;
      leaf = next;
    }
  }

  context(answerId: number): TurnContext | undefined {
    const query = 'SELECT context FROM message WHERE id = ?';
    const context = this.#contexts.has(answerId)
      ? this.#contexts.get(answerId)
      : unpackContext(this.#database.value<Buffer | null>(query, answerId));
    this.#contexts.delete(answerId);
    this.#contexts.set(answerId, context);
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= KEPT_CONTEXTS) break;
      this.#contexts.delete(oldest);
    }
    return context;
  }

  /** It is being written again: its text so far is kept if the process ends. */
  reopen(answerId: number): void {
    this.#database.run("UPDATE message SET state = 'waiting' WHERE id = ?", answerId);
  }

  save(answerId: number, written: Pick<MessageRecord, 'text' | 'thinking' | 'calls'>): void {
    const { text, thinking, calls } = written;
    const sql = 'UPDATE message SET text = ?, thinking = ?, calls = ? WHERE id = ?';
    this.#database.run(sql, text, thinking && JSON.stringify(thinking), JSON.stringify(calls), answerId);
  }

  savePlaced(answerId: number, citations: readonly Citation[], context: TurnContext): void {
    this.#contexts.delete(answerId);
    const sql = 'UPDATE message SET citations = ?, context = ? WHERE id = ?';
    this.#database.run(sql, JSON.stringify(citations), pack(context), answerId);
  }

  finish(answerId: number, end: AnswerEnd & Pick<MessageRecord, 'calls'>): void {
    this.#contexts.delete(answerId);
    const sql = `UPDATE message SET text = ?, thinking = ?, state = ?, failure = ?, citations = ?, notices = ?, calls = ?, stats = ?,
      context = coalesce(?, context) WHERE id = ?`;
    this.#database.durable(() => {
      const changed = this.#database.run(
        sql,
        end.text,
        end.thinking && JSON.stringify(end.thinking),
        end.state,
        end.failure && JSON.stringify(end.failure),
        JSON.stringify(end.citations),
        JSON.stringify(end.notices),
        JSON.stringify(end.calls),
        end.stats && JSON.stringify(end.stats),
        end.context ? pack(end.context) : null,
        answerId,
      );
      if (changed > 0) this.#index(answerId, end.text); // it may have been deleted meanwhile
    });
  }

  saveStats(answerId: number, stats: AnswerStats): void {
    this.#database.run('UPDATE message SET stats = ? WHERE id = ?', JSON.stringify(stats), answerId);
  }

  saveReport(answerId: number, report: FusionReport): void {
    const sql = 'INSERT OR REPLACE INTO report (answer_id, body) VALUES (?, ?)';
    this.#database.run(sql, answerId, pack(report));
    const oldest = `DELETE FROM report WHERE answer_id NOT IN (SELECT answer_id FROM report ORDER BY answer_id DESC LIMIT ?)`;
    this.#database.run(oldest, KEPT_REPORTS);
  }

  report(answerId: number): FusionReport | null {
    const body = this.#database.value<Buffer>('SELECT body FROM report WHERE answer_id = ?', answerId);
    return body ? (FusionReportSchema.safeParse(unpack(body)).data ?? null) : null;
  }

  /** Replaces an earlier one. */
  saveComparison(answerId: number, comparison: Comparison): void {
    const sql = 'INSERT OR REPLACE INTO comparison (answer_id, made_ms, body) VALUES (?, ?, ?)';
    this.#database.run(sql, answerId, comparison.madeMs, pack(comparison));
    const oldest = `DELETE FROM comparison WHERE answer_id NOT IN
      (SELECT answer_id FROM comparison ORDER BY made_ms DESC LIMIT ?)`;
    this.#database.run(oldest, KEPT_COMPARISONS);
  }

  comparison(answerId: number): Comparison | null {
    const body = this.#database.value<Buffer>('SELECT body FROM comparison WHERE answer_id = ?', answerId);
    return body ? (ComparisonSchema.safeParse(unpack(body)).data ?? null) : null;
  }

  #index(id: number, text: string): void {
    this.#database.run('DELETE FROM message_words WHERE rowid = ?', id);
    this.#database.run('INSERT INTO message_words (rowid, words) VALUES (?, ?)', id, indexedWords(text));
  }
}
