/** A row of a table: its texts by column, without empty ones. */
export interface TableRow {
  cells: ReadonlyMap<number, string>;
  /** Its place in the file, from 1. */
  number?: number;
  /** The document shows it as a header: bold, filtered, or declared. */
  header?: boolean;
  /** Its one cell spans the table: a title within. */
  title?: boolean;
  /** Added to its line, e.g. that it is hidden. */
  mark?: string;
  /** Comments on its cells, by column. */
  notes?: ReadonlyMap<number, string>;
}

/** The names of a table's columns. */
export interface Header {
  names: ReadonlyMap<number, string>;
  /** Its first row; rows before it are titles. */
  start: number;
  /** The first row below it. */
  end: number;
}

/** What a cell's text looks like. `code`: words with digits or marks, e.g. an article number or a mail address. */
export type Shape = 'number' | 'date' | 'code' | 'lower' | 'upper';

const MAX_NAME_UNITS = 120;
/** Rows examined below a possible header. */
const SAMPLE_ROWS = 200;
/** Rows in which a row that looks like a header is searched. */
const MAX_TITLE_ROWS = 12;

const NUMBER =
  /^[-−+(]?\s*(?:\p{Sc}|[A-Z]{3})?\s*[-−+]?\d[\d.,'’ \u00a0\u202f]*(?:[eE][-+]?\d+)?\s*(?:%|‰|\p{Sc}|[A-Z]{3})?\)?$/u;
const DATE = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d.*)?$|^\d{1,2}:\d{2}(?::\d{2})?$/;

export function shapeOf(text: string): Shape {
  const value = text.trim();
  if (DATE.test(value)) return 'date';
  if (NUMBER.test(value)) return 'number';
  if (/[\d@]|:\/\//.test(value)) return 'code';
  return /^\p{Ll}/u.test(value) ? 'lower' : 'upper';
}

/** The header of a block of rows without empty rows; undefined when its rows show none. `assume`: if nothing speaks for or against one. */
export function findHeader(rows: readonly TableRow[], assume: boolean): Header | undefined {
  const declared = rows
    .slice(0, MAX_TITLE_ROWS)
    .findIndex(
      ({ header, cells }, i) => header === true && cells.size > 1 && rows[i + 1] && !isHeaderRow(rows, i + 1),
    );
  const start = declared >= 0 ? declared : behindTitles(rows);
  const first = rows[start]?.cells;
  if (!first || start + 1 >= rows.length || !areNames(first)) return undefined;
  if (first.size < 2 && !first.has(secondOfTwo(rows) ?? -1)) return undefined;
  const second = rows[start + 1]?.cells;
  if (second && start + 2 < rows.length && isGrouped(first) && areNames(second) && !hasNumber(second))
    return { names: tidy(joined(first, second)), start, end: start + 2 };
  const vote = declared >= 0 ? 1 : votes(first, rows.slice(start + 1, start + 1 + SAMPLE_ROWS));
  return vote > 0 || (vote === 0 && assume) ? { names: tidy(first), start, end: start + 1 } : undefined;
}

function isHeaderRow(rows: readonly TableRow[], i: number): boolean {
  return rows[i]?.header === true && rows[i + 1] !== undefined;
}

/** Index of the first row with more than half as many cells as most rows have. */
function behindTitles(rows: readonly TableRow[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of rows.slice(0, SAMPLE_ROWS))
    counts.set(cells.size, (counts.get(cells.size) ?? 0) + 1);
  const [width] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [0];
  const second = secondOfTwo(rows);
  const at = rows.findIndex(({ cells }) =>
    cells.size > 1 ? cells.size > width / 2 : second !== undefined && cells.has(second),
  );
  return Math.max(at, 0);
}

/** Of rows with two columns, the second: its name may stand alone above the names of the rows. */
function secondOfTwo(rows: readonly TableRow[]): number | undefined {
  const columns = new Set<number>();
  for (const { cells } of rows.slice(0, SAMPLE_ROWS))
    for (const column of cells.keys()) if (columns.add(column).size > 2) return undefined;
  return columns.size === 2 ? Math.max(...columns) : undefined;
}

function areNames(cells: ReadonlyMap<number, string>): boolean {
  return [...cells.values()].every((name) => name.trim().length <= MAX_NAME_UNITS);
}

function hasNumber(cells: ReadonlyMap<number, string>): boolean {
  return [...cells.values()].some((text) => shapeOf(text) === 'number' && !isYear(text));
}

/** Whether a name spans neighbouring columns, as in the upper row of two. */
function isGrouped(cells: ReadonlyMap<number, string>): boolean {
  return [...cells].some(([column, text]) => cells.get(column + 1) === text);
}

function joined(upper: ReadonlyMap<number, string>, lower: ReadonlyMap<number, string>): Map<number, string> {
  const names = new Map(upper);
  for (const [column, name] of lower) {
    const above = upper.get(column);
    names.set(column, above === undefined || above === name ? name : `${above} ${name}`);
  }
  return names;
}

function tidy(names: ReadonlyMap<number, string>): Map<number, string> {
  return new Map(
    [...names].map(([column, name]) => [column, name.replace(/\s+/g, ' ').trim().replace(/:$/, '')]),
  );
}

/** Above 0: the first row names its columns; below: it is a row like the others. */
function votes(first: ReadonlyMap<number, string>, rows: readonly TableRow[]): number {
  const numbers = [...first].filter(([, text]) => shapeOf(text) === 'number');
  let sum = numbers.length > 0 ? numberVotes(numbers, rows) : 0;
  if (sum < 0) return sum;
  for (const [column, name] of first) {
    const values = rows.map(({ cells }) => cells.get(column)).filter((text) => text !== undefined);
    if (shapeOf(name) !== 'number' && values.length > 0) sum += columnVotes(name, values, rows.length);
  }
  return sum;
}

/** A number is a name only as a year, or as one of a series. */
function numberVotes(numbers: readonly (readonly [number, string])[], rows: readonly TableRow[]): number {
  const values = numbers.map(([, text]) => Number(text));
  const step = (values[1] ?? 0) - (values[0] ?? 0);
  const isSeries = step !== 0 && values.every((value, i) => i === 0 || value - (values[i - 1] ?? 0) === step);
  const areYears = numbers.every(([, text]) => isYear(text));
  const below = numbers.flatMap(([column]) => rows.map(({ cells }) => cells.get(column) ?? ''));
  if (areYears && (numbers.length === 1 || isSeries))
    return below.some(isYear) && numbers.length === 1 ? -1 : 1;
  return isSeries && numbers.length > 2 && step === 1 && (values[0] ?? 2) <= 1 && !isRow(values, rows)
    ? 1
    : -1;
}

/** Whether the second row has a series too. */
function isRow(values: readonly number[], rows: readonly TableRow[]): boolean {
  const next = [...(rows[0]?.cells.values() ?? [])].map(Number).filter((value) => !Number.isNaN(value));
  return (
    next.length >= values.length && next.every((value, i) => i === 0 || value - (next[i - 1] ?? 0) === 1)
  );
}

function isYear(text: string): boolean {
  return /^(?:1[5-9]|20|21)\d\d$/.test(text.trim());
}

function columnVotes(name: string, values: readonly string[], rowCount: number): number {
  const own = shapeOf(name);
  const count = new Map<Shape, number>();
  for (const value of values) count.set(shapeOf(value), (count.get(shapeOf(value)) ?? 0) + 1);
  const [shape, share] = [...count].sort((a, b) => b[1] - a[1])[0] ?? [own, 0];
  const distinct = new Set(values);
  if (distinct.has(name) && rowCount > 1) return -2;
  // Names of values beside them: a form, not a table.
  if (name.trim().endsWith(':') && values.every((value) => value.trim().endsWith(':'))) return -4;
  const isClear = share >= values.length * 0.7;
  const isWord = own === 'lower' || own === 'upper';
  if (isClear && shape === own && !isWord) return -1;
  // One word in lower case below one in upper case says nothing.
  const isChance = values.length < 2 && (shape === 'lower' || shape === 'upper');
  if (isClear && !isChance && shape !== own && (isWord || shape === 'number')) return 1;
  // One word over values of several, as in a column of names.
  const several = values.filter((value) => /\S\s+\S/.test(value)).length;
  if (isWord && !/\s/.test(name.trim()) && several >= values.length * 0.7) return 1;
  // Few values that recur, and the first is not among them.
  return isWord && values.length >= 4 && distinct.size <= values.length / 2 ? 1 : 0;
}
