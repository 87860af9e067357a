import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { sheetOf } from './sheets/parsed-sheet.ts';
import { tableLines, tableRows } from './tables/table.ts';

const LINE_FEED = 10;
const DELIMITERS = [',', ';', '\t', '|'];
/** Rows from which the delimiter is guessed. */
const SAMPLE_ROWS = 50;
const SAMPLE_UNITS = 65_536;
const MAX_RAGGED_NAMED = 5;

/** RFC 4180, and what other programs make of it: other delimiters, `sep=`, comments at the top, rows of any length, stray quotes. */
export const csv: DocumentParser = ({ bytes, name }) => {
  const source = decode(bytes, name);
  const { comments, body, declared } = openingOf(source.text);
  const delimiter = declared ?? guessDelimiter(body);
  const { rows, strayQuotes } = readRows(body, delimiter, widthOf(body, delimiter));
  const all = [...comments.map((line) => [line]), ...rows];
  const lines = Array.from(tableLines(tableRows(all)), ({ text }) => text);
  if (!lines.some((line) => line !== '')) throw noText(name, 'the table is empty');
  return {
    text: lines.join('\n'),
    sheets: () => [sheetOf('', tableLines(tableRows(all)), { start: 0, decimalComma: delimiter === ';' })],
    title: '',
    pages: [],
    warnings: [...source.warnings, ...warningsOf(rows, strayQuotes)],
  };
};

interface Opening {
  comments: string[];
  body: string;
  declared?: string;
}

/** Excel's line for the delimiter, and comment lines. A comment line directly above the rows may name their columns. */
function openingOf(text: string): Opening {
  const sep = /^\s*"?sep=(.)"?[ \t]*(?:\n|$)/i.exec(text);
  const rest = text.slice(sep?.[0].length ?? 0);
  const block = /^(?:[ \t]*(?:#.*)?\n)*/.exec(rest)?.[0] ?? '';
  const comments = block
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  let body = rest.slice(block.length);
  const names = comments.at(-1)?.replace(/^#\s*/, '');
  const next = body.split('\n', 1)[0] ?? '';
  const width = (line: string): number => fieldsOf(line, sep?.[1] ?? guessDelimiter(next)).length;
  if (names !== undefined && width(names) > 1 && width(names) === width(next)) {
    comments.pop();
    body = `${names}\n${body}`;
  }
  return { comments, body, ...(sep?.[1] !== undefined && { declared: sep[1] }) };
}

/** The delimiter that gives most rows the same number of cells; a comma for a table of one column. */
function guessDelimiter(text: string): string {
  const sample = text.slice(0, SAMPLE_UNITS);
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const widths = readRows(sample, delimiter)
      .rows.slice(0, SAMPLE_ROWS)
      .map(({ length }) => length);
    const { width, count } = commonest(widths.filter((length) => length > 1));
    const score = count * Math.min(width, 10);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function widthOf(text: string, delimiter: string): number {
  const { rows } = readRows(text.slice(0, SAMPLE_UNITS), delimiter);
  return commonest(rows.slice(0, SAMPLE_ROWS).map(({ length }) => length)).width;
}

function commonest(widths: readonly number[]): { width: number; count: number } {
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width, count] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [0, 0];
  return { width, count };
}

/**
 * A quote opens a quoted cell only when a closing one is before a delimiter or line end; else it is a mark, as in 3" for inches. With the
 * table's width known, a cell over several lines that would be rows of that width is not one cell either.
 */
function readRows(text: string, delimiter: string, width = 0): { rows: string[][]; strayQuotes: number } {
  const rows: string[][] = [];
  let strayQuotes = 0;
  let row: string[] = [];
  for (let at = 0; at <= text.length; at++) {
    let close = text[at] === '"' ? closingQuote(text, at, delimiter) : -1;
    if (close >= 0 && width > 1 && areRows(text.slice(at, close), row.length, delimiter, width)) close = -1;
    if (text[at] === '"' && close < 0) strayQuotes++;
    const end = close >= 0 ? endOfCell(text, close + 1, delimiter) : endOfCell(text, at, delimiter);
    row.push(close >= 0 ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end));
    at = end;
    if (text[at] === delimiter) continue;
    rows.push(row);
    row = [];
  }
  return { rows, strayQuotes };
}

/** Index of the quote that closes the one at `open`; -1 when none does. */
function closingQuote(text: string, open: number, delimiter: string): number {
  for (let at = open + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return -1;
    if (text[at + 1] === '"') at++;
    else return endOfCell(text, at + 1, delimiter) === at + 1 + blanksAt(text, at + 1) ? at : -1;
  }
}

function blanksAt(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ') end++;
  return end - at;
}

function endOfCell(text: string, from: number, delimiter: string): number {
  const mark = delimiter.charCodeAt(0);
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === mark || code === LINE_FEED) return at;
  }
  return text.length;
}

/** Whether the lines of a cell would be rows of the table, the first behind `before` cells. */
function areRows(cell: string, before: number, delimiter: string, width: number): boolean {
  if (!cell.includes('\n')) return false;
  return cell.split('\n').every((line, i) => {
    const cells = line.split(delimiter).length + (i === 0 ? before : 0);
    // Words after a comma in a sentence are behind a space.
    return cells === width && !line.includes(`${delimiter} `);
  });
}

function fieldsOf(line: string, delimiter: string): string[] {
  return readRows(line, delimiter).rows[0] ?? [];
}

function warningsOf(rows: readonly (readonly string[])[], strayQuotes: number): string[] {
  const width = Math.max(
    commonest(rows.slice(0, SAMPLE_ROWS).map(({ length }) => length)).width,
    rows[0]?.length ?? 0,
  );
  const long = rows.flatMap((row, i) => (row.slice(width).some((cell) => cell.trim() !== '') ? [i + 1] : []));
  const named = `${long.slice(0, MAX_RAGGED_NAMED).join(', ')}${long.length > MAX_RAGGED_NAMED ? ', …' : ''}`;
  return [
    ...(long.length > 0 ? [`Rows with more cells than the others: ${named}.`] : []),
    ...(strayQuotes > 0 ? [`Quotation marks without a partner were read as text: ${strayQuotes}.`] : []),
  ];
}
