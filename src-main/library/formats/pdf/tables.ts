import { isDivided } from './hyphens.ts';
import type { Line } from './layout.ts';
import type { Rule } from './paint.ts';
import type { Row } from './segments.ts';
import { tableText } from '../tables/table.ts';

/** Without lines drawn between them, this many rows and columns are a table. */
const MIN_ROWS = 3;
const MIN_COLUMNS = 3;
/** Share of the rows that must have more than one cell. */
const MIN_FILLED = 0.6;

/** The heights of lines drawn across a gutter of these rows, from top to bottom. */
export function crossingRules(
  rules: readonly Rule[],
  rows: readonly Row[],
  gutters: readonly (readonly [number, number])[],
): number[] {
  const top = rows[0]?.[0];
  const bottom = rows.at(-1)?.[0];
  if (!top || !bottom) return [];
  const crossing = rules.filter(
    ({ x0, x1, y }) =>
      y < top.y + 2 * top.size &&
      y > bottom.y - 2 * bottom.size &&
      gutters.some(([from, to]) => x0 <= from + 1 && x1 >= to - 1),
  );
  const heights = crossing.map(({ y }) => y).sort((a, b) => b - a);
  return heights.filter((y, i) => i === 0 || (heights[i - 1] ?? 0) - y > top.size / 2);
}

/** Rows of cells as lines of a table, with the lines above and below it; undefined if they are none. */
export function tableLines(
  rows: readonly Row[][],
  rules: readonly number[],
  lineOf: (row: Row) => Line,
): Line[] | undefined {
  const isFilled = (row: readonly Row[]): boolean => row.filter(({ length }) => length > 0).length > 1;
  const filled = rows.filter(isFilled).length;
  const isRuled = rules.length >= 2 && filled >= 2;
  const isAligned = (rows[0]?.length ?? 0) >= MIN_COLUMNS && filled >= MIN_ROWS;
  if ((!isRuled && !isAligned) || filled < rows.length * MIN_FILLED) return undefined;
  const from = rows.findIndex(isFilled);
  const to = rows.findLastIndex(isFilled) + 1;
  const plain = (some: readonly Row[][]): Line[] => some.map((row) => lineOf(row.flat()));
  return [...plain(rows.slice(0, from)), ...rowLines(rows.slice(from, to), rules), ...plain(rows.slice(to))];
}

function rowLines(rows: readonly Row[][], rules: readonly number[]): Line[] {
  const merged = mergedRows(rows, rules);
  const texts = merged.map((row) => row.map((cell) => cellText(cell)));
  const hasHeader = isHeader(merged, texts, rules);
  const lines = hasHeader ? tableText(texts).split('\n') : texts.map((row) => tableText([row]));
  const segments = merged.slice(merged.length - lines.length).map((row) => row.flat());
  return lines.map((text, i) => {
    const [first] = segments[i] ?? [];
    const right = segments[i]?.at(-1)?.end ?? 0;
    return {
      text,
      y: first?.y ?? 0,
      height: first?.size ?? 0,
      left: first?.x ?? 0,
      right,
      letterWidth: 0,
      row: true,
    };
  });
}

/** A word divided at the end of a line of the cell is one again. */
function cellText(cell: Row): string {
  return cell.reduce((text, part) => {
    if (isDivided(text, part.text)) return text.slice(0, -1) + part.text;
    return text === '' ? part.text : `${text} ${part.text}`;
  }, '');
}

/** The first row names the columns if a line is drawn below it, or if numbers stand below its words. */
function isHeader(rows: readonly Row[][], texts: readonly string[][], rules: readonly number[]): boolean {
  const [first, second] = rows.map((row) => row.flat()[0]?.y ?? 0);
  const below = rules.filter((rule) => rule < (first ?? 0) && rule > (second ?? 0)).length;
  if (below > 0 && rules.length < rows.length) return true;
  const names = texts[0] ?? [];
  return names.some((name, i) => {
    const values = texts.slice(1).map((row) => row[i] ?? '');
    return (
      name !== '' &&
      !/\d/.test(name) &&
      values.filter((value) => /^\P{L}*\d/u.test(value)).length > values.length / 2
    );
  });
}

/** Joins the lines of cells that wrap: those between two drawn lines, else those that have nothing in the first column. */
function mergedRows(rows: readonly Row[][], rules: readonly number[]): Row[][] {
  const first = rows.filter((row) => (row[0]?.length ?? 0) > 0).length;
  const byRule = rules.length > first;
  const merged: Row[][] = [];
  let band = -1;
  for (const row of rows) {
    const y = row.flat()[0]?.y ?? 0;
    const own = rules.filter((rule) => rule > y).length;
    const last = merged.at(-1);
    const goesOn = byRule ? own === band : (row[0]?.length ?? 0) === 0;
    if (last && goesOn) last.forEach((cell, i) => cell.push(...(row[i] ?? [])));
    else merged.push(row.map((cell) => [...cell]));
    band = own;
  }
  return merged;
}
