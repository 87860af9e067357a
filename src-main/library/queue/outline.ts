import type { Heading } from '../../catalogue/document-table.ts';

/**
 * Where a text may be split, and how well: the text is divided into units (sentences, or lines of code and lists) that cover it without
 * gaps; each unit knows the strength of the boundary before it.
 */

export interface Unit {
  /** UTF-16 range in the text; the next unit starts where this one ends. */
  start: number;
  end: number;
  boundary: Boundary;
  /** Headings above the unit, outermost first. */
  headings: readonly string[];
}

/** The strength of the boundary before a unit: 0 inside a sentence … 3 at a heading. */
export type Boundary = 0 | 1 | 2 | 3;

interface Block {
  start: number;
  end: number;
  boundary: Boundary;
  headings: readonly string[];
  code: boolean;
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
/** Longer headings are truncated; they precede every chunk below them. */
const MAX_HEADING = 300;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line end followed by ordinary text (not a list item, quote or table row) is only a wrapped line. */
const WRAPPED_LINE = /\n(?![ \t]*(?:[-*+>|]|\d+[.)])[ \t|])/g;

/** prose: paragraphs and sentences under headings; lines: code and data, where a # is not a heading and a line is a unit. */
export type TextKind = 'prose' | 'lines';

/**
 * Units in order. A text of white space only yields one unit. `headings` are the heading lines; null: Markdown's marks define them, and its
 * code fences apply.
 */
export function* units(
  text: string,
  kind: TextKind = 'prose',
  headings: readonly Heading[] | null = null,
): Generator<Unit> {
  for (const block of blocks(text, kind, headings)) yield* sentences(text, block);
}

type HeadingAt = (start: number, line: string) => { level: number; title: string } | undefined;

function headingFinder(headings: readonly Heading[] | null): HeadingAt {
  if (headings === null) return (_, line) => markdownHeading(line);
  const byStart = new Map(
    headings.map(([start, level, title]) => [start, { level, title: title.slice(0, MAX_HEADING) }]),
  );
  return (start) => byStart.get(start);
}

function markdownHeading(line: string): { level: number; title: string } | undefined {
  const [, marks, words = ''] = HEADING.exec(line) ?? [];
  return marks === undefined ? undefined : { level: marks.length, title: plain(words) };
}

/**
 * UTF-16 units of a paragraph, or a line, above which it is divided: a table of a million rows or a book without a line end must not be
 * processed as a whole, since nothing else runs meanwhile.
 */
const MAX_BLOCK = 16_384;

/** Paragraphs; a heading is joined to the text after it, so that no chunk ends with an isolated heading. */
function* blocks(text: string, kind: TextKind, headings: readonly Heading[] | null): Generator<Block> {
  const headingAt = headingFinder(headings);
  let open: Block = { start: 0, end: 0, boundary: 3, headings: [], code: kind === 'lines' };
  let stack: { level: number; title: string }[] = [];
  let fence = kind === 'lines' ? kind : ''; // the fence that would end the code; nothing ends a text of lines
  let onlyHeadings = true; // the open block has no text besides headings yet
  let blankBefore = false;
  for (const { start, line } of lines(text)) {
    const heading = fence === '' ? headingAt(start, line) : undefined;
    const blank = line.trim() === '';
    if (start - open.start >= MAX_BLOCK && !blank && !heading && !blankBefore) {
      yield { ...open, end: start };
      open = { start, end: start, boundary: 1, headings: open.headings, code: fence !== '' };
      onlyHeadings = false;
    }
    if (!blank && !onlyHeadings && (heading || blankBefore)) {
      yield { ...open, end: start };
      open = { start, end: start, boundary: heading ? 3 : 2, headings: open.headings, code: fence !== '' };
      onlyHeadings = true;
    }
    if (heading) {
      stack = [...stack.filter((above) => above.level < heading.level), heading];
      open.headings = stack.map((above) => above.title);
    } else if (!blank) {
      onlyHeadings = false;
      const mark = headings === null ? (FENCE.exec(line)?.[1] ?? '') : '';
      if (mark !== '') open.code = true;
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence)) fence = '';
    }
    blankBefore = blank;
  }
  yield { ...open, end: text.length };
}

function* lines(text: string): Generator<{ start: number; line: string }> {
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    let end = newline < 0 ? text.length : newline;
    if (end - start > MAX_BLOCK) end = lastSpace(text, start + MAX_BLOCK / 2, start + MAX_BLOCK);
    yield { start, line: text.slice(start, end) };
    start = end === newline ? end + 1 : end;
  }
}

/** The end of the last white space in (from, to], else `to`, moved off the middle of a character. */
function lastSpace(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return /[\ud800-\udbff]/.test(text.charAt(to - 1)) ? to - 1 : to;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });

function* sentences(text: string, block: Block): Generator<Unit> {
  const source = text.slice(block.start, block.end);
  // Unicode ends a sentence at every line end; wrapped lines are joined first (same length, so ranges stay valid).
  const joined = block.code ? source : source.replace(WRAPPED_LINE, ' ');
  let open: Unit = {
    start: block.start,
    end: block.start,
    boundary: block.boundary,
    headings: block.headings,
  };
  let blank = true;
  for (const { segment, index } of segmenter.segment(joined)) {
    if (!blank && segment.trim() !== '') {
      yield open;
      const start = block.start + index;
      open = { start, end: 0, boundary: isInsideRow(text, start) ? 0 : 1, headings: block.headings };
    }
    blank = blank && segment.trim() === '';
    open.end = block.start + index + segment.length;
    if (segment.trim() !== '') blank = false;
  }
  open.end = block.end;
  yield open;
}

/** Whether a list item, or a row of a table, would be divided here: its parts mean little without each other. */
function isInsideRow(text: string, at: number): boolean {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return start < at && text.startsWith('- ', start);
}

/** A heading's text without Markdown's emphasis, code, link and closing marks. */
function plain(heading: string): string {
  return heading
    .slice(0, MAX_HEADING)
    .toWellFormed()
    .trimEnd()
    .replace(/(?:^|[ \t])#+$/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]+/g, '')
    .trim();
}
