import { z } from 'zod';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';
import type { Tables } from '../../answering/tables/computed-passage.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { CallableTool } from '../tool.ts';
import { documentNamed } from './document-named.ts';
import { ownTool } from './own-tool.ts';

const MOST_SQL = 10_000;
const MOST_TABLES = 10;
const MOST_COLUMNS = 60;
const MOST_ROWS = 50;

const InputSchema = z.object({
  document: z.string().min(1).max(1000).describe('Path, file name or title of a workbook or CSV file'),
  sql: z
    .string()
    .max(MOST_SQL)
    .optional()
    .describe('One SELECT statement of SQLite; leave it out to get the names of tables and columns first'),
});

/** SELECT statements over the rows of a document's tables. */
export function queryTableTool(catalogue: Catalogue, tables: Tables): CallableTool {
  return ownTool({
    name: 'query_table',
    title: 'Query tables',
    description:
      'Counts, sums, averages and selects rows of a workbook or CSV file with SQL. Names are in double quotes.',
    input: InputSchema,
    run: async ({ document, sql = '' }, { scope, signal }) => {
      const id = String(documentNamed(catalogue, document, scope).id);
      if (sql.trim() !== '') return resultText(await tables.query(id, sql, signal));
      const { tables: all } = await tables.list(id, signal);
      const more = all.length > MOST_TABLES ? [`${all.length - MOST_TABLES} more tables`] : [];
      return [...all.slice(0, MOST_TABLES).map(tableText), ...more].join('\n');
    },
  });
}

function tableText({ name, rows, columns }: TableInfo): string {
  const shown = columns.slice(0, MOST_COLUMNS).map(({ name: column, type, unit, examples }) => {
    const example = examples[0] === undefined ? '' : `, such as ${examples[0]}`;
    return `"${column}" (${type}${unit === null ? '' : ` in ${unit}`}${example})`;
  });
  const more = columns.length > MOST_COLUMNS ? `; ${columns.length - MOST_COLUMNS} more columns` : '';
  return `Table "${name}", ${rows} rows, columns: ${shown.join('; ')}${more}`;
}

function resultText({ columns, rows, truncated }: QueryResult): string {
  const lines = rows.slice(0, MOST_ROWS).map((row) => row.map((cell) => cell ?? 'NULL').join(' | '));
  const more = truncated || rows.length > MOST_ROWS ? ['There are more rows.'] : [];
  return [columns.join(' | '), ...(rows.length === 0 ? ['No rows.'] : lines), ...more].join('\n');
}
