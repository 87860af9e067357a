import type { Header } from '../tables/header.ts';
import type { TableLine } from '../tables/table.ts';

export interface SheetRow {
  /** Its place in the file, from 1. */
  number: number;
  /** UTF-16 range of its line in the document's text; undefined for a header, whose names every row repeats. */
  line: { start: number; end: number } | undefined;
  /** Texts by column, without empty ones. */
  cells: ReadonlyMap<number, string>;
  /** Index of its table among the sheet's; undefined for titles and headers. */
  table: number | undefined;
}

/** A sheet as rows, with the headers that its text uses. */
export interface ParsedSheet {
  name: string;
  /** Number of columns. */
  width: number;
  rows: SheetRow[];
  /** The names of the columns of each table in it; none for a table without a header. */
  tables: ReadonlyMap<number, string>[];
  /** Whether its numbers are more likely to have a decimal comma where both readings are possible. */
  decimalComma: boolean;
}

/** `start`: UTF-16 offset of the first line in the document's text. The first header is not among the rows. */
export function sheetOf(
  name: string,
  lines: Iterable<TableLine>,
  { start, decimalComma = false }: { start: number; decimalComma?: boolean },
): ParsedSheet {
  const rows: SheetRow[] = [];
  const tables: ReadonlyMap<number, string>[] = [];
  const indices = new Map<Header | undefined, number>();
  let width = 0;
  let at = start;
  for (const { text, row, header } of lines) {
    const line = { start: at, end: at + text.length };
    at = line.end + 1;
    if (!row) continue;
    const number = row.number ?? rows.length + 1;
    if (header && !indices.has(header) && tables.length > 0)
      rows.push({ number: number - 1, line: undefined, cells: header.names, table: undefined });
    const isTitle = row.title === true || !text.startsWith('- ');
    if (!isTitle && !indices.has(header)) indices.set(header, tables.push(header?.names ?? new Map()) - 1);
    rows.push({ number, line, cells: row.cells, table: isTitle ? undefined : indices.get(header) });
    for (const column of [...row.cells.keys(), ...(header?.names.keys() ?? [])])
      width = Math.max(width, column + 1);
  }
  return { name, width, rows, tables, decimalComma };
}
