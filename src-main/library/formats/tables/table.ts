import { findHeader, shapeOf, type Header, type Shape, type TableRow } from './header.ts';

interface TableOptions {
  /** Whether the first row is a header if neither its cells nor those below tell. */
  assumeHeader?: boolean;
  hiddenColumns?: ReadonlySet<number>;
}

export interface TableLine {
  text: string;
  /** The row that it shows; none for an empty line and for a note on a header. */
  row?: TableRow;
  /** That of the table that the row belongs to; none for a title. */
  header?: Header | undefined;
}

/** Rows as text, one per line. */
export function tableText(rows: readonly (readonly string[])[], options?: TableOptions): string {
  return Array.from(tableLines(tableRows(rows), options), ({ text }) => text).join('\n');
}

/** A longer text is a remark over several columns, not the value of each. */
const MAX_REPEATED_UNITS = 60;

/** Whether a cell is repeated in all columns that it spans. `cells`: how many its row has. */
export function isRepeated(text: string, cells: number): boolean {
  return cells > 1 && text.length <= MAX_REPEATED_UNITS;
}

export function rowOf(texts: readonly string[]): TableRow {
  const cells = new Map<number, string>();
  for (const [column, text] of texts.entries()) if (text.trim() !== '') cells.set(column, text);
  return { cells };
}

export function* tableRows(rows: readonly (readonly string[])[]): Generator<TableRow> {
  for (const [i, texts] of rows.entries()) yield { ...rowOf(texts), number: i + 1 };
}

/** Rows of a block that are kept to find its header; the others are only passed on. */
const HEAD_ROWS = 250;
/** Blocks of more lines are text, not the title of the table below. */
const MAX_TITLE_ROWS = 3;

/**
 * The lines of all tables among the rows; empty rows divide them. With a header, every row repeats the names of its columns, since a chunk
 * from the middle of a table is meaningless without them. Titles above a header are lines without a dash.
 */
export function* tableLines(rows: Iterable<TableRow>, options: TableOptions = {}): Generator<TableLine> {
  const source = rows[Symbol.iterator]();
  let last: Table | undefined;
  let titles: TableRow[] = [];
  let isFirst = true;
  for (let block = nextBlock(source); block.head.length > 0; block = nextBlock(source)) {
    if (block.isWhole && isTitle(block.head)) {
      titles.push(...block.head);
      continue;
    }
    const table = tableOf(block.head, last, options);
    if (!isFirst && !(table.header && table.header === last?.header && titles.length === 0)) yield EMPTY;
    isFirst = false;
    yield* titles.map((row) => ({ text: table.header ? titleLine(row) : plainRow(row), row }));
    if (titles.length > 0) yield EMPTY;
    titles = [];
    yield* linesOf(block.head, table, options.hiddenColumns);
    if (block.isWhole) yield* emptyColumns(block.head, table);
    else yield* restOf(source, table, options.hiddenColumns);
    last = table;
  }
  if (!isFirst && titles.length > 0) yield EMPTY;
  yield* titles.map((row) => ({ text: plainRow(row), row }));
}

const EMPTY: TableLine = { text: '' };

interface Block {
  /** Its first rows. */
  head: TableRow[];
  isWhole: boolean;
}

function nextBlock(source: Iterator<TableRow>): Block {
  const head: TableRow[] = [];
  while (head.length < HEAD_ROWS) {
    const next = source.next();
    if (next.done === true) return { head, isWhole: true };
    if (!isEmpty(next.value)) head.push(next.value);
    else if (head.length > 0) return { head, isWhole: true };
  }
  return { head, isWhole: false };
}

/** The rows of a block behind its head. */
function* restOf(
  source: Iterator<TableRow>,
  table: Table,
  hidden?: ReadonlySet<number>,
): Generator<TableLine> {
  const names = namesOf(table, hidden);
  for (;;) {
    const next = source.next();
    if (next.done === true || isEmpty(next.value)) return;
    yield { text: rowLine(names, next.value), row: next.value, header: table.header };
  }
}

function isEmpty(row: TableRow): boolean {
  return row.cells.size === 0 && row.notes === undefined;
}

function isTitle(rows: readonly TableRow[]): boolean {
  return rows.length <= MAX_TITLE_ROWS && rows.every(({ cells }) => cells.size === 1);
}

interface Table {
  header?: Header;
  /** Index of the first row below the header. */
  start: number;
  /** Shapes of the values below the header. */
  shapes: ReadonlyMap<number, Shape>;
}

function tableOf(block: readonly TableRow[], last: Table | undefined, options: TableOptions): Table {
  const header = findHeader(block, options.assumeHeader ?? true);
  const start = header ? header.end : 0;
  const shapes = shapesOf(block.slice(start));
  // Rows below an empty one may go on with the table above it.
  if (!header && last?.header && isAlike(last.shapes, shapes)) return { header: last.header, start, shapes };
  return { ...(header && { header }), start, shapes };
}

function* linesOf(
  block: readonly TableRow[],
  table: Table,
  hidden?: ReadonlySet<number>,
): Generator<TableLine> {
  const { header, start } = table;
  const names = namesOf(table, hidden);
  if (header && start > 0) {
    yield* block.slice(0, header.start).map((row) => ({ text: titleLine(row), row }));
    if (header.start > 0) yield EMPTY;
    for (const row of block.slice(header.start, start))
      for (const [column, note] of row.notes ?? [])
        yield { text: `- ${names.get(column) ?? ''} [note: ${oneLine(note)}]` };
  }
  yield* block.slice(start).map((row) => ({ text: rowLine(names, row), row, header }));
}

/** The names of columns in which no row has a value: in a form, all that there is to ask for. */
function emptyColumns(block: readonly TableRow[], { header, start }: Table): TableLine[] {
  if (!header || start === 0) return [];
  const used = new Set(
    block.slice(start).flatMap(({ cells, notes }) => [...cells.keys(), ...(notes?.keys() ?? [])]),
  );
  const noted = new Set(block.slice(header.start, start).flatMap(({ notes }) => [...(notes?.keys() ?? [])]));
  const names = [...header.names].filter(([column]) => !used.has(column) && !noted.has(column));
  const text = `- Columns without values: ${names.map(([, name]) => name).join('; ')}`;
  return names.length === 0 ? [] : [{ text }];
}

function namesOf({ header }: Table, hidden?: ReadonlySet<number>): Map<number, string> {
  const names = [...(header?.names ?? [])].map(
    ([column, name]) => [column, hidden?.has(column) ? `${name} (hidden column)` : name] as const,
  );
  return new Map(names);
}

function shapesOf(rows: readonly TableRow[]): Map<number, Shape> {
  const shapes = new Map<number, Shape>();
  for (const { cells } of rows.slice(0, 50))
    for (const [column, text] of cells) if (!shapes.has(column)) shapes.set(column, shapeOf(text));
  return shapes;
}

/** Whether columns of values, not only of words, have the same kinds of values. */
function isAlike(above: ReadonlyMap<number, Shape>, below: ReadonlyMap<number, Shape>): boolean {
  const isValue = (shape?: Shape): boolean => shape === 'number' || shape === 'date';
  const columns = [...below.keys()];
  return (
    columns.some((column) => isValue(below.get(column))) &&
    columns.every((column) => above.has(column) && isValue(above.get(column)) === isValue(below.get(column)))
  );
}

function titleLine(row: TableRow): string {
  return withMark(textsOf(row, (_, text) => text).join(' | '), row);
}

function plainRow(row: TableRow): string {
  return `- ${titleLine(row)}`;
}

/** `names`: of its columns; none for a table without a header. */
function rowLine(names: ReadonlyMap<number, string>, row: TableRow): string {
  if (names.size === 0 || row.title) return plainRow(row);
  const texts = textsOf(row, (column, text) => {
    const name = names.get(column);
    return name === undefined ? text : `${name}: ${text}`;
  });
  return `- ${withMark(texts.join('; '), row)}`;
}

function textsOf(row: TableRow, named: (column: number, text: string) => string): string[] {
  const columns = row.notes ? new Set([...row.cells.keys(), ...row.notes.keys()]) : row.cells.keys();
  return [...columns]
    .sort((a, b) => a - b)
    .map((column) => {
      const note = row.notes?.get(column);
      const text = oneLine(row.cells.get(column) ?? '');
      return named(column, note === undefined ? text : `${text} [note: ${oneLine(note)}]`.trimStart());
    });
}

function withMark(line: string, { mark }: TableRow): string {
  return mark === undefined ? line : `${line} (${mark})`;
}

function oneLine(cell: string): string {
  return /\s/.test(cell) ? cell.replace(/\s+/g, ' ').trim() : cell;
}
