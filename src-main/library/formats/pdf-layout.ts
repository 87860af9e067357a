import type { PlainWords } from './pdf-hyphens.ts';
import { isDivided } from './pdf-hyphens.ts';

/** A run of characters from pdf.js. */
export interface TextRun {
  str: string;
  /** Text matrix [a, b, c, d, x, y], y upwards. */
  transform: number[];
  width: number;
  height: number;
  fontName: string;
  hasEOL: boolean;
}

/** pdf.js's data on a page's fonts, by the names used in runs. */
export type FontStyles = Readonly<Record<string, { fontFamily: string }>>;

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

/** The lines of a page: joined runs, trimmed. */
export function pageLines(runs: readonly TextRun[], styles: FontStyles): Line[] {
  const result: Line[] = [];
  let open: Line | undefined;
  for (const run of runs) {
    const [x = 0, y = 0] = run.transform.slice(4);
    if (run.str !== '') {
      open ??= { text: '', y, height: run.height, left: x, right: x, letterWidth: 0 };
      append(open, run, x, styles);
    }
    if (!run.hasEOL || !open) continue;
    result.push(open);
    open = undefined;
  }
  if (open) result.push(open);
  return result
    .map((line) => ({ ...line, text: line.text.replace(LEADERS, ' … ').trim() }))
    .filter(({ text }) => text !== '');
}

function append(line: Line, run: TextRun, x: number, styles: FontStyles): void {
  const { str, width, height } = run;
  if (str.trim() !== '') {
    const isFirst = line.text.trim() === '';
    const isFixed = styles[run.fontName]?.fontFamily === 'monospace';
    if (!isFixed) line.letterWidth = 0;
    else if (isFirst) line.letterWidth = width / str.length;
    if (isFirst) line.left = x + (str.length - str.trimStart().length) * line.letterWidth;
  }
  // Programs that place each word separately leave no spaces between them.
  const apart = x - line.right > height * 0.2 && !/\s$/.test(line.text) && !/^\s/.test(str);
  line.text += apart && line.text !== '' ? ` ${str}` : str;
  line.height = Math.max(line.height, height);
  line.right = x + width;
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
    page.lines.push({ start: page.text.length, text: line.text, height: line.height });
    page.text += line.text;
  });
  return page;
}

/** Upwards means the next column: the paragraph continues there, as it does across a wrapped line. */
function isParagraphOf(before: Line, line: Line): boolean {
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
