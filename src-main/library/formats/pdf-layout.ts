/** A run of characters as pdf.js gives it. */
export interface TextRun {
  str: string;
  /** Matrix of the text: [a, b, c, d, x, y], y upwards. */
  transform: number[];
  width: number;
  height: number;
  hasEOL: boolean;
}

interface Line {
  text: string;
  y: number;
  /** Of its letters, in the page's units. */
  height: number;
  /** Where the line ends, in the page's units. */
  right: number;
}

/** A line as it stands in its page's text. */
export interface PlacedLine extends Pick<Line, 'text' | 'height'> {
  /** UTF-16 offset. */
  start: number;
}

/** A page's text: its lines begin where `lines` says, but for words that were put together again across two. */
export interface PageText {
  text: string;
  lines: PlacedLine[];
}

/** Distance of two lines, in line heights, above which a paragraph ends between them. */
const PARAGRAPH_GAP = 1.75;
/** A line in letters this much larger than the next one's is a heading, not the beginning of its paragraph. */
const HEADING_SIZE = 1.15;

/** Dots that lead the eye from a heading to its page number. */
const LEADERS = /(?: ?\.){5,} ?/g;

/** The text of a page: runs joined to lines, lines to paragraphs with a blank line between them. */
export function pageText(runs: readonly TextRun[]): PageText {
  const page: PageText = { text: '', lines: [] };
  let before: Line | undefined;
  for (const line of lines(runs)) {
    const text = line.text.replace(LEADERS, ' … ').trim();
    if (text === '') continue;
    append(page, before, { ...line, text });
    before = line;
  }
  return page;
}

function append(page: PageText, before: Line | undefined, line: Line): void {
  const { text } = page;
  if (before && isParagraphOf(before, line) && /\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line.text)) {
    page.text = text.slice(0, -1) + line.text;
    return;
  }
  if (before) page.text += isParagraphOf(before, line) ? '\n' : '\n\n';
  page.lines.push({ start: page.text.length, text: line.text, height: line.height });
  page.text += line.text;
}

/** Upwards is the next column: the paragraph goes on there, as it does across a wrapped line. */
function isParagraphOf(before: Line, line: Line): boolean {
  const gap = (before.y - line.y) / Math.max(1, Math.min(before.height, line.height));
  return gap <= PARAGRAPH_GAP && before.height <= line.height * HEADING_SIZE;
}

function lines(runs: readonly TextRun[]): Line[] {
  const result: Line[] = [];
  let open: Line | undefined;
  for (const run of runs) {
    const [x = 0, y = 0] = run.transform.slice(4);
    if (run.str !== '') {
      open ??= { text: '', y, height: run.height, right: x };
      // Programs that place each word by itself leave no spaces between them.
      const apart = x - open.right > run.height * 0.2 && !/\s$/.test(open.text) && !/^\s/.test(run.str);
      open.text += apart && open.text !== '' ? ` ${run.str}` : run.str;
      open.height = Math.max(open.height, run.height);
      open.right = x + run.width;
    }
    if (!run.hasEOL || !open) continue;
    result.push(open);
    open = undefined;
  }
  return open ? [...result, open] : result;
}
