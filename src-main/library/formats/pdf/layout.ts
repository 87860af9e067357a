import type { PlainWords } from './hyphens.ts';
import { isDivided } from './hyphens.ts';

/** A line on the page, in the page's units; y upwards. */
export interface Line {
  text: string;
  y: number;
  /** Of its letters. */
  height: number;
  /** The left edge of its first letter, and its right end. */
  left: number;
  right: number;
  /** Width of each letter if all are equally wide, as in code; else 0. */
  letterWidth: number;
  /** A row of a table: its neighbours are on lines of their own, without paragraphs between them. */
  row?: boolean;
  /** Begins a paragraph wherever it stands: text that is turned, a note. */
  apart?: boolean;
  /** Written in another direction than most of the page: a watermark, or a label at its edge. `y` is no height on the page then. */
  turned?: boolean;
}

/** A line in its page's text. */
export interface PlacedLine extends Pick<Line, 'text' | 'height'> {
  /** UTF-16 offset. */
  start: number;
}

/** A page's text: its lines begin at the offsets in `lines`, except for hyphenated words that were joined across two lines. */
export interface PageText {
  text: string;
  lines: PlacedLine[];
}

/** Distance of two lines, in line heights, above which they belong to different paragraphs. */
const PARAGRAPH_GAP = 1.75;
/** A line in letters this much larger than the next one's is a heading, not the beginning of its paragraph. */
const HEADING_SIZE = 1.15;

/** Leader dots between a heading and its page number. */
const LEADERS = /(?: ?\.){5,} ?/g;

/** Lines with their leader dots shortened. */
export function withoutLeaders(lines: readonly Line[]): Line[] {
  return lines
    .map((line) => ({ ...line, text: line.text.replace(LEADERS, ' … ').trim() }))
    .filter(({ text }) => text !== '');
}

/** The text of a page: lines joined to paragraphs separated by blank lines; code keeps its indentation. */
export function pageText(lines: readonly Line[], words: PlainWords): PageText {
  const page: PageText = { text: '', lines: [] };
  const indents = indentsOf(lines);
  lines.forEach((line, i) => {
    const before = lines[i - 1];
    const goesOn = before !== undefined && isParagraphOf(before, line);
    if (goesOn && line.letterWidth === 0 && isDivided(before.text, line.text)) {
      page.text = words.keepsHyphen(before.text, line.text)
        ? page.text + line.text
        : page.text.slice(0, -1) + line.text;
      return;
    }
    if (before) page.text += goesOn ? '\n' : '\n\n';
    page.text += ' '.repeat(indents[i] ?? 0);
    page.lines.push({ start: page.text.length, text: line.text, height: line.row ? 0 : line.height });
    page.text += line.text;
  });
  return page;
}

/** Upwards means the next column: the paragraph continues there, as it does across a wrapped line. */
function isParagraphOf(before: Line, line: Line): boolean {
  if (line.apart) return false;
  if (before.row || line.row) return before.row === line.row;
  // The next column, where another article or a box at the side may stand.
  if (line.y > before.y + line.height && /[.!?:…”"»)]$/.test(before.text)) return false;
  const gap = (before.y - line.y) / Math.max(1, Math.min(before.height, line.height));
  return gap <= PARAGRAPH_GAP && before.height <= line.height * HEADING_SIZE;
}

/** How many letters each line of code is indented, relative to the leftmost of its neighbours. */
function indentsOf(lines: readonly Line[]): number[] {
  const indents: number[] = [];
  for (let from = 0; from < lines.length;) {
    let to = from + 1;
    const isCode = (i: number): boolean => (lines[i]?.letterWidth ?? 0) > 0;
    if (isCode(from)) while (isCode(to)) to++;
    const block = lines.slice(from, to);
    const left = Math.min(...block.map((line) => line.left));
    for (const line of block)
      indents.push(line.letterWidth > 0 ? Math.round((line.left - left) / line.letterWidth) : 0);
    from = to;
  }
  return indents;
}
