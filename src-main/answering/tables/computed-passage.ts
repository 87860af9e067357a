import { isSheetFile } from '../../../src-shared/sheets.ts';
import { tablesIn, type QueryResult, type TableInfo } from '../../../src-shared/tables.ts';
import { CHUNK_SEPARATOR } from '../../catalogue/chunk-table.ts';
import { isAborted } from '../../platform/abort.ts';
import { isAble } from '../able-model.ts';
import type { NamedModel } from '../named-model.ts';
import type { FoundPassage } from '../passages.ts';
import { asksToCompute } from './question-kind.ts';
import { selectGrammar } from './select-grammar.ts';
import { statementIn, statementPrompt } from './statement.ts';

export interface Tables {
  list(documentId: string, signal?: AbortSignal): Promise<{ tables: TableInfo[]; changed: boolean }>;
  query(documentId: string, sql: string, signal?: AbortSignal): Promise<QueryResult>;
}

interface TableQuestion {
  question: string;
  found: readonly FoundPassage[];
  model: Pick<NamedModel['model'], 'info' | 'tokenize'>;
  signal?: AbortSignal | undefined;
}

interface Parts {
  tables: Tables;
  /** Has the model write an answer that follows the grammar, where it can be held to one. */
  write: (prompt: string, grammar: string) => Promise<string>;
  /** Called with the error that a question is answered without a computation for. */
  onFailed?: ((error: unknown) => void) | undefined;
}

/** More would fill a small model's context. */
const MAX_TABLES = 4;
const MAX_COLUMNS = 60;
const MAX_ROWS = 20;

/**
 * What a statement over a sheet returned, as a passage: for questions that ask for a count, a sum or the like, and whose best passage is of
 * a sheet. undefined where there is nothing to compute, or the model's statement fails or returns nothing: the question is then answered
 * from the passages alone. ABORTED.
 */
export async function computedPassage(
  { question, found, model, signal }: TableQuestion,
  { tables, write, onFailed }: Parts,
): Promise<FoundPassage | undefined> {
  const [best] = found.toSorted((a, b) => b.score - a.score);
  if (!best || !isSheetFile(best.passage.path) || !asksToCompute(question) || !isAble(model))
    return undefined;
  try {
    const id = String(best.passage.documentId);
    const { tables: all, changed } = await tables.list(id, signal);
    const offered = offer(all, best.page);
    if (changed || offered.length === 0) return undefined;
    const sql = statementIn(await write(statementPrompt(question, offered), selectGrammar(offered)));
    const [table] = tablesIn(sql, all);
    if (!table) return undefined;
    const result = await tables.query(id, sql, signal);
    return saysNothing(result) ? undefined : passageOf(best, { sql, table, result }, model);
  } catch (error) {
    if (isAborted(error)) throw error;
    onFailed?.(error);
    return undefined;
  }
}

/** The tables of the passage's sheet first. */
function offer(tables: readonly TableInfo[], page: string | null): TableInfo[] {
  const fitting = tables.filter(({ columns, rows }) => rows > 1 && columns.length <= MAX_COLUMNS);
  return fitting.toSorted((a, b) => Number(b.sheet === page) - Number(a.sheet === page)).slice(0, MAX_TABLES);
}

/** No rows, or a single one of nothing: a condition that fits no row is more likely wrong than the answer. */
function saysNothing({ rows }: QueryResult): boolean {
  return (
    rows.length === 0 || (rows.length === 1 && (rows[0] ?? []).every((cell) => cell === null || cell === 0))
  );
}

interface Computed {
  sql: string;
  table: TableInfo;
  result: QueryResult;
}

/** It leads to the best passage of the sheet; its KV is not kept. */
function passageOf(
  best: FoundPassage,
  { sql, table, result }: Computed,
  model: Pick<NamedModel['model'], 'tokenize'>,
): FoundPassage {
  const text = textOf(best.passage.path, { sql, table, result });
  const tokens = model.tokenize(text + CHUNK_SEPARATOR);
  const lead = new Int32Array();
  const passage = { ...best.passage, text, tokens, lead, standsIn: true } as const;
  return {
    ...best,
    ...{ passage, text, tokens, lead },
    score: best.score + 1,
    reason: `computed ${table.rows}`,
    highlights: [],
  };
}

function textOf(path: string, { sql, table, result: { columns, rows, truncated } }: Computed): string {
  const used = table.columns.filter(({ name }) => sql.includes(name));
  const lines = rows.slice(0, MAX_ROWS).map((row) => {
    return `- ${columns.map((name, i) => `${name.replaceAll('"', '')}: ${row[i] ?? 'none'}`).join('; ')}`;
  });
  return [
    `Computed from ${table.rows.toLocaleString('en-US')} rows of ${path}${table.sheet === '' ? '' : `, sheet “${table.sheet}”`}:`,
    sql,
    'Result:',
    ...lines,
    ...(truncated || rows.length > MAX_ROWS ? ['There are more rows.'] : []),
    ...used.flatMap(({ name, unit }) => (unit === null ? [] : [`${name} is in ${unit}.`])),
    ...used.flatMap(({ name, type, unread }) =>
      unread === 0 ? [] : [`${unread} cells of ${name} without a ${type} were left out.`],
    ),
    ...(table.totalsLeftOut > 0 ? [`Rows of totals were left out: ${table.totalsLeftOut}.`] : []),
  ].join('\n');
}
