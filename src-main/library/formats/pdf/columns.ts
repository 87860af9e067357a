import type { Line } from './layout.ts';
import type { Rule } from './paint.ts';
import { crossingRules, tableLines } from './tables.ts';
import type { Row, Segment } from './segments.ts';

type Interval = readonly [from: number, to: number];

/** Rows that have the same gaps in them. */
interface Band {
  rows: Row[];
  gutters: Interval[];
}

/** In letter heights: the width of a gutter, and of one that is no accident; a gap between rows that ends columns; rows that overlap although their baselines differ. */
const MIN_GUTTER = 0.6;
const SURE_GUTTER = 1.5;
const END_GAP = 2.5;
const OVERLAP = 0.85;
/** Baselines nearer than this, in letter heights, are the same. */
const LEVEL = 0.1;
/** Columns of prose have lines of at least this many characters on average; cells of a table have fewer. */
const PROSE_CHARACTERS = 20;
const NARROW_CHARACTERS = 8;
/** Share of lines that go on with a small letter by which prose is told from cells. */
const FLOW = 0.3;
/** Columns within columns. */
const MAX_DEPTH = 4;

/** The lines of rows in the order in which they are read: column by column, tables row by row. */
export function linesOf(rows: readonly Row[], rules: readonly Rule[], depth = 0): Line[] {
  return bandsOf(rows).flatMap((band) => {
    if (band.gutters.length === 0 || isCode(band)) return band.rows.map(lineOf);
    const columns = columnsOf(band);
    const cells = band.rows.map((row) => cellsOf(row, band.gutters));
    const crossing = crossingRules(rules, band.rows, band.gutters);
    if (depth < MAX_DEPTH && !isCut(band, crossing) && areColumns(band, columns))
      return columns.flatMap((column) => linesOf(column, rules, depth + 1));
    return tableLines(cells, crossing, lineOf) ?? band.rows.map(lineOf);
  });
}

/** Code and the output of programs are aligned by spaces, which stay. */
function isCode({ rows }: Band): boolean {
  return rows.every((row) => row.every(({ letterWidth }) => letterWidth > 0));
}

/** Whether a line is drawn across the gutters between the rows: it belongs to a table. */
function isCut({ rows }: Band, crossing: readonly number[]): boolean {
  return crossing.some((y) => y < (rows[0]?.[0]?.y ?? 0) && y > (rows.at(-1)?.[0]?.y ?? 0));
}

/** Divides rows where their gaps change; a band without gutters is one of plain lines. */
function bandsOf(rows: readonly Row[]): Band[] {
  const bands: Band[] = [];
  let open: Band = { rows: [], gutters: [] };
  const close = (): void => {
    if (open.rows.length > 0) bands.push(...settled(open));
    open = { rows: [], gutters: [] };
  };
  rows.forEach((row, i) => {
    const gaps = gapsOf(row, rows[i + 1]);
    if (open.gutters.length === 0) {
      if (gaps.length > 0) {
        close();
        open.gutters = gaps;
      }
    } else {
      const kept = open.gutters.flatMap((gutter) => without(gutter, row));
      const before = open.rows.at(-1)?.[0];
      const isFar = row.length === 1 && before && before.y - (row[0]?.y ?? 0) > 2 * END_GAP * before.size;
      if (kept.length === 0 || isFar) {
        close();
        open.gutters = gaps;
      } else open.gutters = kept;
    }
    open.rows.push(row);
  });
  close();
  return bands;
}

/** Cuts off the rows below columns that belong to none of them; gaps in a single row are no gutters. */
function settled({ rows, gutters }: Band): Band[] {
  const last = rows.findLastIndex((row, i) => gapsOf(row, rows[i + 1]).length > 0);
  let end = last + 1;
  const gap = (i: number): number =>
    ((rows[i - 1]?.[0]?.y ?? 0) - (rows[i]?.[0]?.y ?? 0)) / (rows[i]?.[0]?.size || 1);
  while (end < rows.length && gap(end) < END_GAP) end++;
  const segments = rows.slice(0, end).flat();
  const used = gutters.filter(
    ([from, to]) => segments.some((each) => each.end <= from + 1) && segments.some(({ x }) => x >= to - 1),
  );
  const bands = [
    { rows: rows.slice(0, end), gutters: end > 1 ? used : [] },
    { rows: rows.slice(end), gutters: [] },
  ];
  return bands.filter((band) => band.rows.length > 0);
}

/** The wide gaps of a row, and those between it and the next row where the two overlap in height but not in width. */
function gapsOf(row: Row, next: Row | undefined): Interval[] {
  const [first] = row;
  const below = next?.[0];
  const overlaps = first && below && first.y - below.y < OVERLAP * Math.min(first.size, below.size);
  const all =
    overlaps && !next.some((a) => row.some((b) => a.x < b.end && b.x < a.end)) ? [...row, ...next] : row;
  const sorted = all.toSorted((a, b) => a.x - b.x);
  return sorted.slice(1).map(({ x }, i) => [sorted[i]?.end ?? x, x] as const);
}

/** What a row leaves of a gutter. */
function without(gutter: Interval, row: Row): Interval[] {
  let [from, to] = gutter;
  let size = 0;
  for (const segment of row) {
    size = Math.max(size, segment.size);
    if (segment.end <= from || segment.x >= to) continue;
    if (segment.x > from && segment.end < to) return [];
    if (segment.x <= from) from = segment.end;
    else to = segment.x;
  }
  return to - from >= MIN_GUTTER * size ? [[from, to]] : [];
}

/** A row's segments by column. */
function cellsOf(row: Row, gutters: readonly Interval[]): Row[] {
  const cells: Row[] = Array.from({ length: gutters.length + 1 }, () => []);
  for (const segment of row) {
    const middle = (segment.x + segment.end) / 2;
    cells[gutters.filter(([from, to]) => middle > (from + to) / 2).length]?.push(segment);
  }
  return cells;
}

function columnsOf({ rows, gutters }: Band): Row[][] {
  const cells = rows.map((row) => cellsOf(row, gutters));
  return Array.from({ length: gutters.length + 1 }, (_, i) =>
    cells.flatMap((row) => (row[i]?.length ? [row[i]] : [])),
  );
}

/** Whether each column is read on its own: as prose has it, or since its lines are not level with the others'. */
function areColumns({ rows, gutters }: Band, columns: readonly Row[][]): boolean {
  const narrowest = Math.min(...gutters.map(([from, to]) => to - from)) / (rows[0]?.[0]?.size ?? 1);
  const least = narrowest < SURE_GUTTER ? 3 : 2;
  if (columns.some((column) => column.length < least)) return false;
  const texts = columns.map((column) => column.map((row) => row.map(({ text }) => text).join(' ')));
  const shortest = Math.min(...columns.map(({ length }) => length));
  const level = rows.filter((row) => row.length > 1 && isLevel(row)).length;
  return level < shortest / 2 || texts.every((column) => isProse(column) || flows(column));
}

function isLevel(row: Row): boolean {
  return row.every(({ y, size }) => Math.abs(y - (row[0]?.y ?? y)) < LEVEL * size);
}

function isProse(texts: readonly string[]): boolean {
  return meanLength(texts) >= PROSE_CHARACTERS;
}

/** Whether short lines, as of a narrow box, go on from one to the next. */
function flows(texts: readonly string[]): boolean {
  const small = texts.slice(1).filter((text) => /^\p{Ll}/u.test(text)).length;
  return small >= (texts.length - 1) * FLOW && meanLength(texts) >= NARROW_CHARACTERS;
}

function meanLength(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
}

function lineOf(row: Row): Line {
  const main = row.reduce((a, b) => (b.text.length > a.text.length ? b : a));
  const fixed = row.every(({ letterWidth }) => letterWidth > 0);
  return {
    text: row
      .map((segment, i) => `${i > 0 ? gapText(row[i - 1], segment, fixed) : ''}${segment.text}`)
      .join(''),
    y: main.y,
    height: main.size,
    left: row[0]?.x ?? 0,
    right: row.at(-1)?.end ?? 0,
    letterWidth: fixed ? main.letterWidth : 0,
  };
}

function gapText(before: Segment | undefined, segment: Segment, fixed: boolean): string {
  if (!fixed || !before) return ' ';
  return ' '.repeat(Math.max(1, Math.round((segment.x - before.end) / segment.letterWidth)));
}
