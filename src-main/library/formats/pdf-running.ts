import type { Line } from './pdf-layout.ts';

/** Lines at the top and bottom of a page that are examined for running headers and footers. */
const EDGE_LINES = 2;
const MIN_PAGES = 3;
/** Share of the lines at one height that must repeat to count as headers. */
const MIN_SHARE = 0.6;

/**
 * The lines of all pages without running headers and footers: lines at the edge of several pages, at the same height, that repeat except
 * for a number that counts the pages. If they contain words, the first one stays, so that a form's title is not lost. No page loses all its
 * lines.
 */
export function withoutRunning(pages: readonly (readonly Line[])[]): (readonly Line[])[] {
  const running = new Set<Line>();
  const edges = pages.flatMap((lines, page) => edgeLines(lines).map((line) => ({ line, page })));
  for (const level of Map.groupBy(edges, ({ line }) => Math.round(line.y)).values()) {
    const groups = groupsOf(level).filter(({ length }) => length > 1);
    const repeated = new Set(groups.flat());
    if (level.length < MIN_PAGES || repeated.size < level.length * MIN_SHARE) continue;
    for (const group of groups)
      for (const line of group.slice(/\p{L}/u.test(group[0]?.text ?? '') ? 1 : 0)) running.add(line);
  }
  // A page's only lines are not headers, however they repeat.
  return pages.map((lines) =>
    lines.every((line) => running.has(line)) ? lines : lines.filter((line) => !running.has(line)),
  );
}

function edgeLines(lines: readonly Line[]): Line[] {
  const byHeight = lines.toSorted((a, b) => b.y - a.y);
  return [...new Set([...byHeight.slice(0, EDGE_LINES), ...byHeight.slice(-EDGE_LINES)])];
}

/**
 * Lines with the same text, or with the same text except for one number that differs from its page's number by the same amount in all of
 * them.
 */
function groupsOf(level: readonly { line: Line; page: number }[]): Line[][] {
  const groups = new Map<string, Line[]>();
  for (const { line, page } of level) {
    const { text } = line;
    const numbers = [...text.matchAll(/\d{1,5}/g)].map(({ 0: digits, index }) => {
      const rest = `${text.slice(0, index)}#${text.slice(index + digits.length)}`;
      return `${Number(digits) - page} ${rest}`;
    });
    for (const key of [text, ...numbers]) groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}
