import { z } from 'zod';
import {
  AnalysisSchema,
  EncodedChunksSchema,
  StepSourceSchema,
  type Analysis,
  type AnalysisSummary,
  type Step,
} from '../../src-shared/contract/analysis.ts';
import { AnswerStatsSchema } from '../../src-shared/contract/chat.ts';
import { FailureSchema, type Failure } from '../../src-shared/contract/common.ts';
import { NoticeSchema } from '../../src-shared/answer.ts';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../platform/database.ts';
import { parseOr } from '../platform/parse-or.ts';
import { MIGRATIONS } from './schema.ts';

type NewStep = Pick<Step, 'kind' | 'from' | 'to' | 'question'>;

export type StepResult = Pick<Step, 'text' | 'sources' | 'notices' | 'encoded' | 'stats'>;

export interface AnalysisRow extends Pick<
  Analysis,
  'kind' | 'title' | 'state' | 'createdMs' | 'failure' | 'model' | 'workMs'
> {
  id: number;
  request: Analysis['request'];
  version: string;
}

export type NewAnalysis = Pick<AnalysisRow, 'kind' | 'title' | 'createdMs' | 'request' | 'version' | 'model'>;

type RawFields<T, K extends keyof T> = Omit<T, K> & Record<K, string | null>;
type RawRow = RawFields<AnalysisRow, 'failure' | 'request'>;
type RawStep = RawFields<Omit<Step, 'id'>, 'failure' | 'sources' | 'notices' | 'encoded' | 'stats'> & {
  id: number;
};

const COLUMNS = `id, kind, title, created_ms AS createdMs, state, failure, request, version, model, work_ms AS workMs`;
const STEP_COLUMNS = `id, kind, first AS "from", last AS "to", question, state, text, failure, sources, notices, encoded, stats`;

/** Analyses and their steps on disk: one SQLite file, owned by one process. */
export class AnalysisTable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * A file that cannot be read is set aside and replaced by an empty one. Analyses that were running when the process ended become stopped.
   * STORE_READ_ONLY, STORE_VERSION, DISK_FULL.
   */
  static open(path: string, onSetAside?: (what: QuarantinedDatabase) => void): AnalysisTable {
    const recovered = (database: Database): AnalysisTable => {
      database.run("UPDATE analysis SET state = 'stopped' WHERE state IN ('waiting', 'running')");
      return new AnalysisTable(database);
    };
    return openOrSetAside(path, MIGRATIONS, recovered, onSetAside);
  }

  close(): void {
    this.#database.close();
  }

  add(analysis: NewAnalysis, steps: readonly NewStep[]): number {
    const sql = `INSERT INTO analysis (kind, title, created_ms, state, request, version, model)
      VALUES (@kind, @title, @createdMs, 'waiting', @request, @version, @model) RETURNING id`;
    return this.#database.transaction(() => {
      const row = { ...analysis, request: JSON.stringify(analysis.request) };
      const id = this.#database.value<number>(sql, row) as number;
      for (const step of steps) this.addStep(id, step);
      return id;
    });
  }

  addStep(analysisId: number, { kind, from, to, question }: NewStep): number {
    const sql = `INSERT INTO step (analysis_id, kind, first, last, question, state)
      VALUES (?, ?, ?, ?, ?, 'waiting') RETURNING id`;
    return this.#database.value<number>(sql, analysisId, kind, from, to, question) as number;
  }

  get(id: number): AnalysisRow | undefined {
    const raw = this.#database.get<RawRow>(`SELECT ${COLUMNS} FROM analysis WHERE id = ?`, id);
    return raw && toRow(raw);
  }

  /** In insertion order. */
  steps(analysisId: number): Step[] {
    const sql = `SELECT ${STEP_COLUMNS} FROM step WHERE analysis_id = ? ORDER BY id`;
    return this.#database.all<RawStep>(sql, analysisId).map(toStep);
  }

  /** Newest first. */
  list(): AnalysisSummary[] {
    const counts = (state: string): string => `(SELECT count(*) FROM step WHERE analysis_id = a.id ${state})`;
    const sql = `SELECT ${COLUMNS}, ${counts('')} AS steps, ${counts("AND state = 'done'")} AS stepsDone,
      ${counts("AND state = 'failed'")} AS stepsFailed FROM analysis a ORDER BY id DESC`;
    type RawSummary = RawRow & Pick<AnalysisSummary, 'steps' | 'stepsDone' | 'stepsFailed'>;
    return this.#database.all<RawSummary>(sql).map((raw) => {
      const { id, kind, title, state, failure, createdMs, request } = toRow(raw);
      const { steps, stepsDone, stepsFailed } = raw;
      const instruction = 'instruction' in request ? request.instruction : '';
      const counted = { steps, stepsDone, stepsFailed };
      return { id: String(id), kind, title, instruction, state, failure, createdMs, ...counted };
    });
  }

  setState(id: number, state: Analysis['state'], failure: Failure | null = null): void {
    const sql = 'UPDATE analysis SET state = ?, failure = ? WHERE id = ?';
    this.#database.run(sql, state, failure && JSON.stringify(failure), id);
  }

  setModel(id: number, model: string): void {
    this.#database.run('UPDATE analysis SET model = ? WHERE id = ?', model, id);
  }

  finishStep(id: number, { text, sources, notices, encoded, stats }: StepResult, ms: number): void {
    this.#database.transaction(() => {
      const json = [sources, notices, encoded, stats].map((value) => value && JSON.stringify(value));
      const sql = `UPDATE step SET state = 'done', text = ?, sources = ?, notices = ?, encoded = ?, stats = ?, failure = NULL WHERE id = ?`;
      this.#database.run(sql, text, ...json, id);
      const work = `UPDATE analysis SET work_ms = work_ms + ? WHERE id = (SELECT analysis_id FROM step WHERE id = ?)`;
      this.#database.run(work, ms, id);
    });
  }

  failStep(id: number, failure: Failure): void {
    const sql = "UPDATE step SET state = 'failed', failure = ? WHERE id = ?";
    this.#database.run(sql, JSON.stringify(failure), id);
  }

  /** Marks a step to be run again. */
  resetStep(id: number): void {
    const sql = `UPDATE step SET state = 'waiting', text = '', failure = NULL, sources = '[]', notices = '[]', encoded = NULL,
      stats = NULL WHERE id = ?`;
    this.#database.run(sql, id);
  }

  /** Marks a step to be continued from its text. */
  reopenStep(id: number): void {
    this.#database.run("UPDATE step SET state = 'waiting', failure = NULL WHERE id = ?", id);
  }

  /** `after`: the id of a step before them. */
  removeCombining(analysisId: number, after = 0): void {
    const sql = "DELETE FROM step WHERE analysis_id = ? AND kind = 'combine' AND id > ?";
    this.#database.run(sql, analysisId, after);
  }

  remove(id: number): void {
    this.#database.run('DELETE FROM analysis WHERE id = ?', id);
    this.#database.forget();
  }
}

function toRow(raw: RawRow): AnalysisRow {
  return {
    ...raw,
    failure: parseOr(FailureSchema.nullable(), raw.failure, null),
    request: AnalysisSchema.shape.request.parse(JSON.parse(raw.request ?? '')),
  };
}

/** Fields that another version wrote differently appear as absent; the text is never lost because of them. */
function toStep(raw: RawStep): Step {
  return {
    ...raw,
    id: String(raw.id),
    failure: parseOr(FailureSchema.nullable(), raw.failure, null),
    sources: parseOr(z.array(StepSourceSchema), raw.sources, []),
    notices: parseOr(z.array(NoticeSchema), raw.notices, []),
    encoded: parseOr(EncodedChunksSchema.nullable(), raw.encoded, null),
    stats: parseOr(AnswerStatsSchema.nullable(), raw.stats, null),
  };
}
