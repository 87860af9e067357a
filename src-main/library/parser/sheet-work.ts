import { createHash } from 'node:crypto';
import type { Range } from '../../../src-shared/contract/common.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { tooLarge } from '../formats/errors.ts';
import { parserOf } from '../formats/formats.ts';
import type { ParsedSheet, SheetRow } from '../formats/sheets/parsed-sheet.ts';
import { queryTables } from '../formats/sheets/query-tables.ts';
import type { FileRequest, SheetRequest, TablesRequest, Works } from './protocol.ts';

/** Cells of tables that can be queried. */
const MAX_CELLS = 1_000_000;
/** Columns of a grid; nobody looks at more. */
const MAX_COLUMNS = 256;
/** Longer texts are read in the text view. */
const MAX_CELL_UNITS = 2000;

/** The sheets read last: a grid asks for one window after another. The process ends when it is idle. */
let last: { sha256: string; format: string; sheets: ParsedSheet[] } | undefined;

async function sheetsOf({ name, format }: FileRequest, bytes: Buffer): Promise<NonNullable<typeof last>> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (last?.sha256 === sha256 && last.format === format) return last;
  last = undefined;
  const { sheets } = await (await parserOf(format))({ name, bytes });
  if (!sheets)
    throw new KvasirError(
      'DOCUMENT_UNSUPPORTED',
      `${name} has no sheets.`,
      'Its text can be read in the text view.',
    );
  last = { sha256, format, sheets: sheets() };
  return last;
}

export async function readSheet(request: SheetRequest, bytes: Buffer): Promise<Works['sheet']['result']> {
  const { sheets } = await sheetsOf(request, bytes);
  const { offset, limit, passage, name } = request;
  const index = request.sheet ?? indexFor(sheets, passage);
  const sheet = sheets[index];
  if (!sheet) throw new KvasirError('NOT_FOUND', `${name} does not have so many sheets.`);
  const columns = Math.min(sheet.width, MAX_COLUMNS);
  const textsOf = (cells: ReadonlyMap<number, string>): string[] =>
    Array.from({ length: columns }, (_, column) => (cells.get(column) ?? '').slice(0, MAX_CELL_UNITS));
  const first = passage ? sheet.rows.findIndex((row) => touches(row, passage)) : -1;
  return {
    sheet: index,
    sheets: sheets.map(({ name: label, rows, width }) => ({
      name: label,
      rows: rows.length,
      columns: width,
    })),
    header: textsOf(sheet.tables.find(({ size }) => size > 0) ?? new Map()),
    rows: sheet.rows.slice(offset, offset + limit).map((row) => ({
      number: row.number,
      cells: textsOf(row.cells),
      marked: passage !== undefined && touches(row, passage),
    })),
    firstMarked: first < 0 ? null : first,
  };
}

function indexFor(sheets: readonly ParsedSheet[], passage: Range | undefined): number {
  const ofPassage = passage ? sheets.findIndex(({ rows }) => rows.some((row) => touches(row, passage))) : -1;
  return ofPassage >= 0
    ? ofPassage
    : Math.max(
        0,
        sheets.findIndex(({ rows }) => rows.length > 0),
      );
}

function touches({ line }: SheetRow, { start, end }: Range): boolean {
  return line !== undefined && line.start < end && line.end > start;
}

/** `send`: takes the rows as text. */
export async function readTables(
  request: TablesRequest,
  bytes: Buffer,
  send: (text: string) => void,
): Promise<Works['tables']['result']> {
  const { sha256, sheets } = await sheetsOf(request, bytes);
  const cells = sheets.reduce((sum, { rows }) => sum + rows.length * usedColumns(rows), 0);
  if (cells > MAX_CELLS)
    throw tooLarge(request.name, 'tables of more than a million cells cannot be queried');
  const tables = queryTables(sheets);
  if (request.withRows) send(JSON.stringify(tables.map(({ rows }) => rows)));
  return { sha256, tables: tables.map(({ info }) => info) };
}

/** A stray cell far to the right does not make a sheet wide. */
function usedColumns(rows: readonly SheetRow[]): number {
  const columns = new Set<number>();
  for (const { cells } of rows) for (const column of cells.keys()) columns.add(column);
  return columns.size;
}
