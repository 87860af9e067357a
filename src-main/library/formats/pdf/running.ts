import type { Line } from './layout.ts';

/** Lines at the top and bottom of a page that are examined for running headers and footers. */
const EDGE_LINES = 2;
const MIN_PAGES = 3;
/** Share of the pages with a line at that height that must repeat it. */
const MIN_SHARE = 0.6;
/** In letter heights: running lines are set apart from the text by at least this much more than its lines are from each other. */
const APART = 0.5;
/** A label with its value, as in "Result: passed" or "Total 0": data, which may be the same on many pages. */
const LABELLED = /^(?:\S+\s+){0,3}\S*\p{L}\s*[:=]\s*\S+(?:\s+\S+){0,2}$/u;
const VALUE = /\p{L}\s+(?:\p{Sc}\s*)?(?!(?:19|20)\d\d$)\d[\d.,]*\s*(?:%|\p{Sc})?$/u;
/** Labels of what belongs to the page or the document instead. */
const PAGING =
  /^\W*(?:page|p\.|seite|página|pagina|strona|stránka|страница|stran|sida|side|sivu|oldal|第|chapter|appendix|section|part|version|rev|edition|volume)(?:\P{L}|$)/iu;

interface EdgeLine {
  line: Line;
  page: number;
  /** Whether it is set apart from the text of its page. */
  apart: boolean;
}

/** Lines that repeat. */
interface Group {
  lines: EdgeLine[];
  /** Whether a number in them counts the pages. */
  counts: boolean;
}

/**
 * The lines of all pages without running headers and footers: lines at the edge of several pages, at the same height, that repeat except
 * for a number that counts the pages. Lines that may be data stay: what follows a label, unless it counts the pages, and what is not set
 * apart from the text. If the lines contain words, the first one stays, so that a form's title is not lost; so does the first of watermarks.
 * No page loses all its lines.
 */
export function withoutRunning(pages: readonly (readonly Line[])[]): (readonly Line[])[] {
  const running = new Set<Line>();
  const edges = pages.flatMap((lines, page) => edgeLines(lines, page));
  for (const level of Map.groupBy(edges, ({ line }) => Math.round(line.y)).values()) {
    const groups = groupsOf(level).filter(isRepeated);
    const repeated = new Set(groups.flatMap(({ lines }) => lines.map(({ line }) => line)));
    if (level.length < MIN_PAGES || repeated.size < level.length * MIN_SHARE) continue;
    for (const { lines, counts } of groups) {
      if (lines.some(({ line }) => isData(line.text, counts))) continue;
      if (!counts && lines.filter(({ apart }) => apart).length <= lines.length / 2) continue;
      addAllButFirst(
        running,
        lines.map(({ line }) => line),
      );
    }
  }
  for (const lines of turnedGroups(pages)) addAllButFirst(running, lines);
  // A page's only lines are not headers, however they repeat.
  return pages.map((lines) =>
    lines.every((line) => running.has(line)) ? lines : lines.filter((line) => !running.has(line)),
  );
}

/** Two pages in a row may count by accident: the last page of chapter 1 and the first of chapter 2. */
function isRepeated({ lines, counts }: Group): boolean {
  const [first, second] = lines;
  if (!first || !second) return false;
  return !counts || lines.length > 2 || second.page - first.page > 1;
}

function isData(text: string, counts: boolean): boolean {
  return !PAGING.test(text) && (LABELLED.test(text) || (!counts && VALUE.test(text)));
}

function addAllButFirst(running: Set<Line>, lines: readonly Line[]): void {
  for (const line of lines.slice(/\p{L}/u.test(lines[0]?.text ?? '') ? 1 : 0)) running.add(line);
}

function edgeLines(all: readonly Line[], page: number): EdgeLine[] {
  const lines = all.filter(({ turned, row }) => !turned && !row).toSorted((a, b) => b.y - a.y);
  const gaps = lines.slice(1).map((line, i) => (lines[i]?.y ?? 0) - line.y);
  const usual = gaps.filter((gap) => gap > 1).toSorted((a, b) => a - b)[Math.floor(gaps.length / 3)] ?? 0;
  const isWide = (gap: number, i: number): boolean => gap > usual + APART * (lines[i]?.height ?? 0);
  // Up to the innermost wide gap among the outermost lines.
  const top = gaps.slice(0, EDGE_LINES).findLastIndex(isWide);
  const bottom = lines.length - EDGE_LINES - 1;
  const below = gaps.findIndex((gap, i) => i >= bottom && isWide(gap, i));
  return lines.flatMap((line, i) => {
    if (i >= EDGE_LINES && i < lines.length - EDGE_LINES) return [];
    return [{ line, page, apart: lines.length === 1 || i <= top || (below >= 0 && i > below) }];
  });
}

/** Watermarks and labels along the edge that are the same on several pages. */
function turnedGroups(pages: readonly (readonly Line[])[]): Line[][] {
  const turned = pages.flatMap((lines) => lines.filter((line) => line.turned));
  return [...Map.groupBy(turned, ({ text }) => text).values()].filter(({ length }) => length >= MIN_PAGES);
}

/**
 * Lines with the same text, or with the same text except for one number that differs from its page's number by the same amount in all of
 * them: that number counts the pages.
 */
function groupsOf(level: readonly EdgeLine[]): Group[] {
  const groups = new Map<string, Group>();
  for (const edge of level) {
    const { text } = edge.line;
    const numbers = [...text.matchAll(/\d{1,5}/g)].map(({ 0: digits, index }) => {
      const rest = `${text.slice(0, index)}#${text.slice(index + digits.length)}`;
      return `${Number(digits) - edge.page} ${rest}`;
    });
    for (const key of [text, ...numbers]) {
      const group = groups.get(key) ?? { lines: [], counts: key !== text };
      group.lines.push(edge);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}
