import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { tablesIn, type TableInfo } from '../../../src-shared/tables.ts';
import type { McpCore } from './core.ts';
import { DocumentIdSchema } from './document-text.ts';
import { addTool } from './tool.ts';

const MOST_SQL = 10_000;
/** Columns of all tables told; more would fill a model's context. */
const MOST_COLUMNS = 500;

const TableSchema = z.object({
  name: z.string(),
  sheet: z.string().describe('Empty where the file is one table'),
  rows: z.int(),
  totals_left_out: z.int().describe('Rows with sums of others, which are not rows of the table'),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.enum(['number', 'date', 'text']).describe('Numbers are without units, dates as 2026-03-19'),
      unit: z.string().nullable(),
      unread: z.int().describe('Filled cells that are not of the type: they are NULL'),
      examples: z.array(z.string()),
    }),
  ),
});

const changed = z.boolean().describe('Whether the file has changed since search and ask read it');

const ListSchema = z.object({
  document: z.string(),
  tables: z.array(TableSchema),
  left_out: z.int().describe('Tables that are not told'),
  changed,
});

const ResultSchema = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
  truncated: z.boolean().describe('Whether there are more rows, or longer texts'),
  computed_from: z.array(z.object({ table: z.string(), rows: z.int() })),
  changed,
});

/** Tables of workbooks and CSV files, and statements over them. */
export function addTableTools(server: McpServer, { libraries, tables, log }: McpCore): void {
  addTool(server, log, 'list_tables', {
    title: 'List tables',
    description:
      'The tables of a workbook or a CSV file, with the names and types of their columns, for query_table.',
    input: z.object({ document_id: DocumentIdSchema }),
    output: ListSchema,
    work: async ({ document_id: id }, { signal }) => {
      const { path } = libraries.documents.get(id);
      const { tables: all, changed: isChanged } = await tables.list(id, signal);
      const told = withinColumns(all);
      return {
        document: path,
        tables: told.map(tableOf),
        left_out: all.length - told.length,
        changed: isChanged,
      };
    },
  });
  addTool(server, log, 'query_table', {
    title: 'Query tables',
    description:
      'Runs one SELECT statement of SQLite over the tables of a document, for counts, sums, averages, extremes and selections of rows. At most 200 rows are told.',
    input: z.object({
      document_id: DocumentIdSchema,
      sql: z.string().min(1).max(MOST_SQL).describe('Names of tables and columns in double quotes'),
    }),
    output: ResultSchema,
    work: async ({ document_id: id, sql }, { signal }) => {
      const {
        columns,
        rows,
        truncated,
        tables: all,
        changed: isChanged,
      } = await tables.query(id, sql, signal);
      return {
        ...{ columns, rows, truncated },
        computed_from: tablesIn(sql, all).map(({ name, rows: count }) => ({ table: name, rows: count })),
        changed: isChanged,
      };
    },
  });
}

function withinColumns(tables: readonly TableInfo[]): TableInfo[] {
  let room = MOST_COLUMNS;
  const end = tables.findIndex(({ columns }, i) => (room -= columns.length) < 0 && i > 0);
  return end < 0 ? [...tables] : tables.slice(0, end);
}

function tableOf({ name, sheet, rows, totalsLeftOut, columns }: TableInfo): z.infer<typeof TableSchema> {
  const described = columns.map(({ name: column, type, unit, unread, examples }) => {
    return { name: column, type, unit, unread, examples };
  });
  return { name, sheet, rows, totals_left_out: totalsLeftOut, columns: described };
}
