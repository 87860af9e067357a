import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { ParsedHeading } from '../format.ts';
import type { PageText, PlacedLine } from './layout.ts';

type Outline = Awaited<ReturnType<PDFDocumentProxy['getOutline']>>;

interface Bookmark {
  title: string;
  /** 1 for the outermost. */
  level: number;
  /** From 0. */
  page: number;
}

/** Bookmarks deeper than this, or more than these, are useless as headings. */
const MAX_LEVEL = 6;
const MAX_BOOKMARKS = 20_000;
/** Text is a heading if its letters are larger than most of the document's by this factor. */
const HEADING_SIZE = 1.15;
/** Maximum length of a heading, and the number of largest letter sizes that headings may have. */
const MAX_HEADING = 120;
const MAX_SIZES = 4;

/** Headings of each page: where bookmarks point, else lines in larger letters. */
export async function pdfHeadings(
  document: PDFDocumentProxy,
  pages: readonly PageText[],
): Promise<ParsedHeading[][]> {
  const bookmarks = await bookmarksOf(document).catch(() => []);
  const byBookmark = pages.map((page, i) =>
    headingsAt(
      page,
      bookmarks.filter((bookmark) => bookmark.page === i),
    ),
  );
  return byBookmark.some((headings) => headings.length > 0) ? byBookmark : headingsBySize(pages);
}

async function bookmarksOf(document: PDFDocumentProxy): Promise<Bookmark[]> {
  const found: Bookmark[] = [];
  const walk = async (items: Outline, level: number): Promise<void> => {
    for (const { title, dest, items: below } of items) {
      if (found.length >= MAX_BOOKMARKS) return;
      const page = await pageOf(document, dest).catch(() => undefined);
      if (page !== undefined) found.push({ title, level, page });
      if (level < MAX_LEVEL) await walk(below as Outline, level + 1);
    }
  };
  await walk(await document.getOutline(), 1);
  return found;
}

async function pageOf(
  document: PDFDocumentProxy,
  dest: Outline[number]['dest'],
): Promise<number | undefined> {
  const target = typeof dest === 'string' ? await document.getDestination(dest) : dest;
  const page = target?.[0] as { num: number; gen: number } | number | undefined;
  return typeof page === 'object' ? document.getPageIndex(page) : page;
}

/** The lines that bookmarks name, in order; a bookmark whose line is not found on its page is skipped. */
function headingsAt({ lines }: PageText, bookmarks: readonly Bookmark[]): ParsedHeading[] {
  const headings: ParsedHeading[] = [];
  let from = 0;
  for (const { title, level } of bookmarks) {
    const at = lines.findIndex((line, i) => i >= from && names(line.text, title));
    if (at < 0) continue;
    headings.push({ start: lines[at]?.start ?? 0, level, title: title.trim() });
    from = at + 1;
  }
  return headings;
}

/** Whether a line is a bookmark's heading, or the first line of it; only one of them may contain numbers. */
function names(line: string, title: string): boolean {
  const a = wordsOf(line);
  const b = wordsOf(title);
  return a.length > 3 ? b.startsWith(a) || a === b : a !== '' && a === b;
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[\s\d.:§]+|^(?:chapter|appendix|part|section)\s+[\dA-Z.]+[:.]?/iu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function headingsBySize(pages: readonly PageText[]): ParsedHeading[][] {
  const body = mostCommonSize(pages);
  const isHeading = ({ text, height }: PlacedLine): boolean =>
    sizeOf(height) >= body * HEADING_SIZE && text.length <= MAX_HEADING && /\p{L}{2}/u.test(text);
  const large = pages.flatMap(({ lines }) => lines.filter(isHeading)).map(({ height }) => sizeOf(height));
  const sizes = [...new Set(large)].sort((a, b) => b - a).slice(0, MAX_SIZES);
  return pages.map(({ text, lines }) => {
    const headings: ParsedHeading[] = [];
    let end = 0;
    for (const line of lines.filter((each) => isHeading(each) && sizes.includes(sizeOf(each.height)))) {
      const level = sizes.indexOf(sizeOf(line.height)) + 1;
      const last = headings.at(-1);
      if (last?.level === level && wraps(last.title, text.slice(end, line.start), line.text))
        last.title += ` ${line.text}`;
      else headings.push({ start: line.start, level, title: line.text });
      end = line.start + line.text.length;
    }
    return headings;
  });
}

/** Whether a line continues the heading above it: nothing is between them, and it has no number. */
function wraps(title: string, between: string, line: string): boolean {
  if (/\S|\n\s*\n/.test(between) || title.length + line.length > MAX_HEADING) return false;
  return !/^(?:\d+[.)]|\d+(?:\.\d+)+|chapter|appendix|part|section)(?:\s|$)/iu.test(line);
}

/** The size of most characters. */
function mostCommonSize(pages: readonly PageText[]): number {
  const characters = new Map<number, number>();
  for (const { lines } of pages)
    for (const { text, height } of lines)
      characters.set(sizeOf(height), (characters.get(sizeOf(height)) ?? 0) + text.length);
  return [...characters].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0])[0];
}

/** Rounded to half a unit: letters of one font differ slightly. */
function sizeOf(height: number): number {
  return Math.round(height * 2) / 2;
}
