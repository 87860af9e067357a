import type { Glyph } from './glyph.ts';
import { readingOrder } from './bidi.ts';
import type { Upright } from './paint.ts';

/** Text on one baseline without a wide gap. */
export interface Segment {
  text: string;
  x: number;
  end: number;
  y: number;
  /** Of most of its letters. */
  size: number;
  /** Width of each letter if all are equally wide, as in code; else 0. */
  letterWidth: number;
}

/** Segments on one baseline, from left to right. */
export type Row = Segment[];

/** Glyphs that follow each other on a baseline, as they were drawn. */
interface Chunk extends Pick<Glyph, 'x' | 'end' | 'y' | 'size'> {
  glyphs: Glyph[];
  /** The baseline of the text that it is raised or lowered from; else its own. */
  base: { y: number; size: number };
}

/**
 * In letter heights: a gap that is a space; one that separates columns or cells; one within a word that is not set apart; the distance
 * between two baselines that are one.
 */
const SPACE = 0.11;
const WIDE_GAP = 0.95;
const TOUCHING = 0.02;
const BASELINE = 0.5;
/** Text smaller than this by factor, and raised or lowered by no more than that in letter heights, belongs to its neighbour's line. */
const SMALLER = 0.85;
const RAISED = 0.65;
const LIFTED = 0.15;
/** Lines of text smaller than this by factor may stand beside an initial or a brace. */
const INITIAL = 0.45;
/** How far a line may be within the box of a letter beside it. */
const CELL_PADDING = 0.1;
/** A letter drawn again within this distance is the same letter, in bold or with a shadow. */
const DOUBLE = 0.25;
/** Chunks to the left among which one drawn again is looked for. */
const NEIGHBOURS = 8;

/** The rows of glyphs of one direction, from top to bottom; `uprights`: lines between cells, which no segment crosses. */
export function rowsOf(glyphs: readonly Glyph[], uprights: readonly Upright[]): Row[] {
  const rows: Chunk[][] = [];
  let top: Chunk['base'] | undefined;
  for (const chunk of chunksOf(glyphs, uprights).sort((a, b) => b.base.y - a.base.y)) {
    const row = rows.at(-1);
    if (row && top && top.y - chunk.base.y <= BASELINE * Math.min(top.size, chunk.base.size)) row.push(chunk);
    else {
      rows.push([chunk]);
      top = chunk.base;
    }
  }
  return rows.map((row) => segmentsOf(row, uprights)).filter((row) => row.length > 0);
}

function chunksOf(glyphs: readonly Glyph[], uprights: readonly Upright[]): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Chunk | undefined;
  for (const glyph of glyphs) {
    if (glyph.text === '') continue;
    const last = open?.glyphs.at(-1);
    if (last && isDouble(last, glyph)) continue;
    if (open && follows(open, glyph) && !isParted(open.end, glyph, uprights)) {
      open.glyphs.push(glyph);
      open.end = Math.max(open.end, glyph.end);
      continue;
    }
    const { x, end, y, size } = glyph;
    const chunk: Chunk = { glyphs: [glyph], x, end, y, size, base: { y, size } };
    if (open) raise(open, chunk);
    open = chunk;
    chunks.push(open);
  }
  const written = chunks.filter((chunk) => chunk.glyphs.some(({ text }) => text.trim() !== ''));
  const usual = median(written.map(({ size }) => size));
  for (const tall of written) if (tall.size * INITIAL >= usual) standBeside(tall, written);
  return written;
}

/** Lines beside something that is several lines high, as an initial or a brace: none is raised, and the first of them begins with the initial. */
function standBeside(tall: Chunk, chunks: readonly Chunk[]): void {
  const isSmall = ({ size }: Chunk): boolean => size < INITIAL * tall.size;
  const lines = chunks
    .filter((chunk) => isSmall(chunk) && Math.abs(chunk.x - tall.end) < WIDE_GAP * chunk.size)
    .filter(({ y, size }) => y > tall.y - BASELINE * size && y < tall.y + tall.size)
    .sort((a, b) => b.y - a.y);
  const [first, ...others] = lines;
  if (!first || others.every(({ y }) => first.y - y < first.size)) return;
  const { base } = tall;
  for (const chunk of chunks)
    if (chunk.base === base && isSmall(chunk)) chunk.base = { y: chunk.y, size: chunk.size };
  const isInitial = tall.glyphs.length === 1 && /^\p{L}$/u.test(tall.glyphs[0]?.text ?? '');
  if (isInitial && lines.some(({ y, size }) => Math.abs(y - tall.y) < BASELINE * size))
    tall.base = first.base;
}

function follows(open: Chunk, glyph: Glyph): boolean {
  const gap = glyph.x - open.end;
  const isLevel = Math.abs(glyph.y - open.y) < 0.1 * open.size && Math.abs(glyph.size - open.size) < 0.5;
  return isLevel && gap > -DOUBLE * open.size && gap < WIDE_GAP * open.size;
}

/** Whether a line of more than a row is drawn between the end of a letter and the next letter. */
function isParted(
  end: number,
  { x, y, size }: Pick<Glyph, 'x' | 'y' | 'size'>,
  uprights: readonly Upright[],
): boolean {
  const isBetween = (line: Upright): boolean =>
    line.x >= end - CELL_PADDING * size && line.x <= x + CELL_PADDING * size;
  return (
    x > end &&
    uprights.some((line) => isBetween(line) && line.y0 <= y && line.y1 >= y && line.y1 - line.y0 > 2 * size)
  );
}

/** Gives superscripts and subscripts the baseline of the text that they are drawn next to. */
function raise(before: Chunk, chunk: Chunk): void {
  const size = Math.max(before.base.size, chunk.size);
  const gap = chunk.x - before.end;
  if (gap < -0.5 * size || gap > WIDE_GAP * size || Math.abs(chunk.y - before.base.y) > RAISED * size) return;
  if (chunk.size < before.base.size * SMALLER) chunk.base = before.base;
  else if (before.size < chunk.size * SMALLER && before.base.y === before.y) before.base = chunk.base;
}

function isDouble(a: Glyph, b: Glyph): boolean {
  const near = DOUBLE * Math.min(a.size, Math.max(a.end - a.x, 0.1) * 2);
  return (
    a.text === b.text &&
    a.text.trim() !== '' &&
    Math.abs(a.x - b.x) < near &&
    Math.abs(a.y - b.y) < DOUBLE * a.size
  );
}

function segmentsOf(chunks: readonly Chunk[], uprights: readonly Upright[]): Row {
  const row: Segment[] = [];
  let open: Chunk[] = [];
  let end = -Infinity;
  const close = (): void => {
    if (open.length > 0) row.push(segmentOf(open));
    open = [];
  };
  for (const chunk of chunks.toSorted((a, b) => a.x - b.x)) {
    if (open.slice(-NEIGHBOURS).some((other) => isSameChunk(other, chunk))) continue;
    const isFar = chunk.x - end > WIDE_GAP * Math.max(chunk.size, open.at(-1)?.size ?? 0);
    if ((isFar && !isSetApart(open, chunk)) || isParted(end, chunk, uprights)) close();
    open.push(chunk);
    end = open.length === 1 ? chunk.end : Math.max(end, chunk.end);
  }
  close();
  return row.filter(({ text }) => text !== '');
}

/** Whether a letter is no farther away than a space between letters that are set apart. */
function isSetApart(open: readonly Chunk[], chunk: Chunk): boolean {
  const [before, last] = open
    .slice(-2)
    .flatMap(({ glyphs }) => glyphs.slice(-2))
    .slice(-2);
  if (!before || !last || last.x - before.end < SPACE * last.size) return false;
  return chunk.x - last.x <= 2.5 * (last.x - before.x);
}

function isSameChunk(a: Chunk, b: Chunk): boolean {
  const near = DOUBLE * a.size;
  if (Math.abs(a.x - b.x) > near || Math.abs(a.y - b.y) > near || a.glyphs.length !== b.glyphs.length)
    return false;
  return a.glyphs.every(({ text }, i) => text === b.glyphs[i]?.text);
}

function segmentOf(chunks: readonly Chunk[]): Segment {
  const main = chunks.reduce((a, b) => (b.glyphs.length * b.size > a.glyphs.length * a.size ? b : a));
  const glyphs = chunks.flatMap((chunk) => (isRaised(chunk) ? chunk.glyphs.map(superscript) : chunk.glyphs));
  const letters = glyphs.filter(({ text }) => text.trim() !== '');
  const fixed = letters.every((glyph) => glyph.fixed);
  const letterWidth = fixed
    ? ((letters[0]?.end ?? 0) - (letters[0]?.x ?? 0)) / (letters[0]?.text.length || 1)
    : 0;
  return {
    text: joined(glyphs, letterWidth),
    x: letters[0]?.x ?? 0,
    end: chunks.reduce((most, { end }) => Math.max(most, end), -Infinity),
    y: main.y,
    size: main.size,
    letterWidth,
  };
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from('⁰¹²³⁴⁵⁶⁷⁸⁹', (sign, digit) => [String(digit), sign])),
  '+': '⁺',
  '-': '⁻',
  '−': '⁻',
};

/** Exponents and the numbers of notes, which would otherwise change the number or the word before them. */
function isRaised({ glyphs, y, base, size }: Chunk): boolean {
  if (size >= base.size * SMALLER || y - base.y < LIFTED * base.size) return false;
  return glyphs.some(({ text }) => /\d/.test(text)) && glyphs.every(({ text }) => /^[\d\s,+−-]*$/.test(text));
}

function superscript(glyph: Glyph): Glyph {
  return { ...glyph, text: Array.from(glyph.text, (sign) => SUPERSCRIPTS[sign] ?? sign).join('') };
}

function joined(glyphs: readonly Glyph[], letterWidth: number): string {
  const isSpace = spacesIn(glyphs);
  const isApart = (last: Glyph, glyph: Glyph): boolean =>
    (isSpace(last, glyph) || isOtherNumber(last, glyph)) && !isInitial(last, glyph);
  const parts: string[] = [];
  let last: Glyph | undefined;
  for (const glyph of glyphs) {
    if (last && last.text.trim() !== '' && glyph.text.trim() !== '' && isApart(last, glyph)) {
      const count = letterWidth > 0 ? Math.round((glyph.x - last.end) / letterWidth) : 1;
      parts.push(' '.repeat(Math.max(1, count)));
    }
    parts.push(glyph.text);
    last = glyph;
  }
  const text = readingOrder(parts);
  const whole = letterWidth > 0 ? text : unspaced(text).replace(/\s+/g, ' ');
  return whole.trim().normalize('NFC');
}

/** Whether a letter belongs to the word after it, whatever the gap. */
function isInitial(last: Glyph, glyph: Glyph): boolean {
  return glyph.size < INITIAL * last.size && /\p{L}/u.test(last.text) && /\p{L}/u.test(glyph.text);
}

/** Whether two digits stand on different baselines, as the labels of bars of a chart do. */
function isOtherNumber(last: Glyph, glyph: Glyph): boolean {
  return (
    Math.abs(last.y - glyph.y) > LIFTED * glyph.size &&
    glyph.size > SMALLER * last.size &&
    /\d$/.test(last.text) &&
    /^\d/.test(glyph.text)
  );
}

/** Whether there is a space between two letters; where all letters are set apart, it takes a wider gap, or a space that is drawn. */
function spacesIn(glyphs: readonly Glyph[]): (last: Glyph, glyph: Glyph) => boolean {
  const letters = glyphs.filter(({ text }) => text.trim() !== '');
  const gaps: number[] = [];
  let before: Glyph | undefined;
  for (const glyph of letters) {
    const isInWord = /[\p{L}\p{N}]/u.test(glyph.text);
    if (isInWord && before) gaps.push((glyph.x - before.end) / glyph.size);
    before = isInWord ? glyph : undefined;
  }
  // Most lines end here, before anything is sorted.
  const wide = gaps.filter((each) => each > SPACE * 0.75).length;
  const isSpaced = gaps.length > 2 && wide * 2 >= gaps.length && !areNumbers(letters, gaps);
  if (!isSpaced || letters.some(({ text }) => text.length > 1))
    return (last, glyph) => glyph.x - last.end > SPACE * Math.max(last.size, glyph.size);
  if (letters.length < glyphs.length) return () => false;
  const gap = median(gaps);
  const steps = letters.slice(1).map((glyph, i) => glyph.x - (letters[i]?.x ?? 0));
  const step = median(steps);
  // Letters at equal distances, however wide each is.
  if (steps.filter((each) => Math.abs(each - step) < step * 0.05).length > steps.length * 0.7)
    return (last, glyph) => glyph.x - last.x > step * 1.4;
  return (last, glyph) => glyph.x - last.end > gap * 1.6 * glyph.size;
}

/** Whether digits stand in groups, as on the axis of a chart. */
function areNumbers(letters: readonly Glyph[], gaps: readonly number[]): boolean {
  return letters.every(({ text }) => /^\d+$/.test(text)) && gaps.some((each) => each < TOUCHING);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** "A N N U A L  R E P O R T" with typed spaces: words are two or more spaces apart. */
function unspaced(text: string): string {
  if (!/^(?:\p{L} +){3,}\p{L}$/u.test(text.trim()) || !/ {2}/.test(text.trim())) return text;
  return text
    .trim()
    .split(/ {2,}/)
    .map((word) => word.replaceAll(' ', ''))
    .join(' ');
}
