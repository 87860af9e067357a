import type { TableInfo } from '../../../../src-shared/tables.ts';
import { typeColumn, type CellValue } from '../tables/column-values.ts';
import { columnName } from '../../../../src-shared/sheets.ts';
import type { ParsedSheet, SheetRow } from './parsed-sheet.ts';

/** A table as SQLite gets it. */
interface QueryTable {
  info: TableInfo;
  /** Values by column, in the order of its columns. */
  rows: CellValue[][];
}

/** Columns with at most this many different texts are described with all of them. */
const MAX_LISTED = 20;
const MAX_LISTED_UNITS = 60;
const EXAMPLES = 3;
const MAX_COLUMNS = 500;
/** The first cell of a row that repeats the table's sums, which would be counted twice. */
const TOTAL =
  /^(?:(?:grand |sub)?totals?|sums?|subtotal|gesamt(?:summe|betrag)?|(?:zwischen|end)?summe|insgesamt|合计|总计|总和|小计)\s*:?$/i;

/** The tables of sheets, each with the types of its columns. */
export function queryTables(sheets: readonly ParsedSheet[]): QueryTable[] {
  const names = new Names();
  return sheets.flatMap((sheet) => {
    const named = sheet.tables.some(({ size }) => size > 0);
    return sheet.tables.flatMap((header, index) => {
      const rows = sheet.rows.filter(({ table }) => table === index);
      // Beside tables with a header, rows without one are remarks.
      if (rows.length === 0 || (named && header.size === 0)) return [];
      return [tableOf(names.unique(sheet.name || 'Table'), sheet, header, rows)];
    });
  });
}

function tableOf(
  name: string,
  sheet: ParsedSheet,
  header: ReadonlyMap<number, string>,
  all: readonly SheetRow[],
): QueryTable {
  const rows = all.filter(({ cells }) => !isTotal(cells));
  const used = new Set([...header.keys(), ...rows.flatMap(({ cells }) => [...cells.keys()])]);
  const names = new Names();
  const columns = [...used]
    .sort((a, b) => a - b)
    .slice(0, MAX_COLUMNS)
    .map((column) => {
      const typed = typeColumn(
        rows.map(({ cells }) => cells.get(column)),
        sheet.decimalComma,
      );
      return { ...typed, name: names.unique(header.get(column) || `Column ${columnName(column)}`) };
    });
  return {
    info: {
      name,
      sheet: sheet.name,
      rows: rows.length,
      totalsLeftOut: all.length - rows.length,
      columns: columns.map(({ name: column, type, unit, values, unread }) => {
        return { name: column, type, unit: unit ?? null, unread, ...sampleOf(values, type === 'text') };
      }),
    },
    rows: rows.map((_, i) => columns.map(({ values }) => values[i] ?? null)),
  };
}

/** Whether a row is named as the sum of others and has numbers. */
function isTotal(cells: ReadonlyMap<number, string>): boolean {
  const [first = '', ...others] = cells.values();
  return TOTAL.test(first.trim()) && others.some((text) => /\d/.test(text));
}

function sampleOf(
  values: readonly CellValue[],
  isText: boolean,
): Pick<TableInfo['columns'][number], 'examples' | 'isComplete'> {
  const distinct = new Set<string>();
  for (const value of values) {
    if (value !== null) distinct.add(String(value));
    if (distinct.size > MAX_LISTED) break;
  }
  const texts = [...distinct];
  const isComplete =
    isText && texts.length <= MAX_LISTED && texts.every(({ length }) => length <= MAX_LISTED_UNITS);
  const examples = isComplete
    ? texts
    : texts.slice(0, EXAMPLES).map((text) => text.slice(0, MAX_LISTED_UNITS));
  return { examples, isComplete };
}

/** Names that differ for SQLite, which ignores the case of letters. */
class Names {
  readonly #taken = new Set<string>();

  unique(name: string): string {
    const words =
      name
        .replace(/["\0\s]+/g, ' ')
        .trim()
        .slice(0, 120) || '_';
    let unique = words;
    for (let i = 2; this.#taken.has(unique.toLowerCase()); i++) unique = `${words} ${i}`;
    this.#taken.add(unique.toLowerCase());
    return unique;
  }
}
