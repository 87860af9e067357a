import { bisectRight } from 'd3-array';

/** A run of the prompt in the map: a heading, then its tokens on a new line. */
export interface MapPart {
  /** Index of the first token, among the given texts. */
  first: number;
  count: number;
}

/** Sizes in CSS pixels. `measure` returns a text's width. */
export interface TokenMetrics {
  measure: (text: string) => number;
  lineHeight: number;
  headingHeight: number;
  /** Space above a heading. */
  partGap: number;
  /** Left of the text. */
  gutter: number;
  rightPadding: number;
}

/** A line of the map. y counts from the top of the whole text ("text space"), not from the visible part. */
export interface Row {
  kind: 'heading' | 'tokens';
  part: number;
  y: number;
  height: number;
  /** Tokens [first, end); none in a heading. */
  first: number;
  end: number;
}

export interface TokenLayout {
  width: number;
  height: number;
  rows: Row[];
  /** By token: x in text space. */
  x: Float32Array;
  widths: Float32Array;
  row: Int32Array;
  /** The text drawn for each token: line breaks and tabs as symbols. */
  shown: string[];
}

const EMPTY_WIDTH = 5;

export function layoutTokens(
  tokens: readonly string[],
  parts: readonly MapPart[],
  width: number,
  metrics: TokenMetrics,
): TokenLayout {
  const layout: TokenLayout = {
    width,
    height: 0,
    rows: [],
    x: new Float32Array(tokens.length),
    widths: new Float32Array(tokens.length),
    row: new Int32Array(tokens.length),
    shown: tokens.map(visible),
  };
  let y = 0;
  for (const [part, { first, count }] of parts.entries()) {
    y += part === 0 ? 0 : metrics.partGap;
    layout.rows.push({ kind: 'heading', part, y, height: metrics.headingHeight, first, end: first });
    y = breakLines(layout, tokens, part, first, first + count, y + metrics.headingHeight, metrics);
  }
  layout.height = y + metrics.partGap;
  return layout;
}

/** Places the tokens [first, end) from `top` on; returns the y below them. */
function breakLines(
  layout: TokenLayout,
  tokens: readonly string[],
  part: number,
  first: number,
  end: number,
  top: number,
  { measure, lineHeight: height, gutter, rightPadding }: TokenMetrics,
): number {
  const right = Math.max(gutter + EMPTY_WIDTH, layout.width - rightPadding);
  let row: Row | undefined;
  let x = gutter;
  let y = top;
  let word = first;
  for (let token = first; token < end; token++) {
    const width = Math.min(Math.max(EMPTY_WIDTH, measure(layout.shown[token] ?? '')), right - gutter);
    if (startsWord(tokens, token)) word = token;
    if (row && x + width > right && word > row.first && word < token) {
      // The word wraps as a whole.
      row.end = word;
      row = undefined;
      token = word - 1;
      continue;
    }
    if (!row || x + width > right) {
      row = { kind: 'tokens', part, y, height, first: token, end: token };
      layout.rows.push(row);
      // The space before a word does not indent the line.
      x = gutter - (/^ \S/.test(tokens[token] ?? '') ? measure(' ') : 0);
      y += height;
    }
    layout.x[token] = x;
    layout.widths[token] = width;
    layout.row[token] = layout.rows.length - 1;
    row.end = token + 1;
    x += width;
    if (tokens[token]?.includes('\n') === true) row = undefined;
  }
  return y;
}

/** Whether a line may start with this token: not within a word split into several tokens. */
function startsWord(tokens: readonly string[], token: number): boolean {
  const [before = '', text = ''] = [tokens[token - 1], tokens[token]];
  return /^[\s\u2e80-\uffff]/u.test(text) || /(?:^|[\s\u2e80-\uffff-])$/u.test(before);
}

/** Invisible characters are drawn as symbols. */
export function visible(token: string): string {
  return token
    .replaceAll('\r\n', '\n')
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥ ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\ufeff]/gu, '·'); // eslint-disable-line no-control-regex
}

/** The rows that are at least partly in [top, bottom), as [first, end). */
export function rowsWithin({ rows }: TokenLayout, top: number, bottom: number): [number, number] {
  const first = Math.max(0, bisectRow(rows, top));
  let end = first;
  while (end < rows.length && (rows[end]?.y ?? Infinity) < bottom) end++;
  return [first, end];
}

/** The token at a point in text space. */
export function tokenAt(layout: TokenLayout, x: number, y: number): number | null {
  const row = layout.rows[bisectRow(layout.rows, y)];
  if (row?.kind !== 'tokens' || y >= row.y + row.height) return null;
  const token = bisectRight(layout.x, x, row.first, row.end) - 1;
  if (token < row.first || x >= (layout.x[token] ?? 0) + (layout.widths[token] ?? 0)) return null;
  return token;
}

/** The token nearest to a point: for dragging over the margins and between lines. */
export function nearestToken(layout: TokenLayout, x: number, y: number): number | null {
  const { rows } = layout;
  let index = Math.max(0, bisectRow(rows, y));
  while (index < rows.length && rows[index]?.kind === 'heading') index++;
  const row = rows[Math.min(index, rows.length - 1)];
  if (row?.kind !== 'tokens') return null;
  return Math.max(row.first, bisectRight(layout.x, x, row.first, row.end) - 1);
}

/** The token above (−1) or below (+1) another: the one under its centre; itself at the edge. */
export function tokenBeyond(layout: TokenLayout, token: number, direction: -1 | 1): number {
  const middle = (layout.x[token] ?? 0) + (layout.widths[token] ?? 0) / 2;
  let index = (layout.row[token] ?? 0) + direction;
  while (layout.rows[index]?.kind === 'heading') index += direction;
  const row = layout.rows[index];
  if (!row) return token;
  return Math.max(row.first, bisectRight(layout.x, middle, row.first, row.end) - 1);
}

/** Index of the last row that starts at or above y; −1 above all. */
function bisectRow(rows: readonly Row[], y: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.y ?? Infinity) <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
