import type { Range } from '../../../../src-shared/contract/common.ts';

export interface TextPart {
  text: string;
  /** Label of the page that starts here. */
  page: string | undefined;
  /** Whether it belongs to the requested passage. */
  marked: boolean;
  /** Number of its first line, and whether that begins here; undefined: lines have no numbers. */
  line: { number: number; begins: boolean } | undefined;
}

/**
 * A segment of a document as rendered: split at page starts and at the passage's boundaries. `start` is the offset of
 * `text` in the document; pages and passage are ranges in the document. `line`: number of the line that `text` begins with, if lines have
 * numbers.
 */
export function textParts(
  text: string,
  start: number,
  pages: readonly (Range & { label: string })[],
  passage: Range | undefined,
  line?: number,
): TextPart[] {
  const end = start + text.length;
  const beginning = pages.filter((page) => page.start >= start && page.start < end);
  const cuts = new Set([start, ...beginning.map((page) => page.start)]);
  for (const cut of passage ? [passage.start, passage.end] : []) {
    if (cut > start && cut < end) cuts.add(cut);
  }
  const places = [...cuts].sort((a, b) => a - b);
  return places.map((from, index) => {
    const to = places[index + 1] ?? end;
    return {
      text: text.slice(from - start, to - start),
      page: beginning.find((page) => page.start === from)?.label,
      line: line === undefined ? undefined : lineOf(text.slice(0, from - start), line),
      marked: passage !== undefined && from >= passage.start && to <= passage.end,
    };
  });
}

function lineOf(before: string, first: number): { number: number; begins: boolean } {
  return {
    number: first + before.split('\n').length - 1,
    begins: before === '' || before.endsWith('\n'),
  };
}

/** The passage in a page's address, e.g. "start=120&end=480". */
export function passageOf(query: string): Range | undefined {
  const parameters = new URLSearchParams(query);
  const [start, end] = ['start', 'end'].map((name) => Number.parseInt(parameters.get(name) ?? '', 10));
  if (start === undefined || end === undefined || !(start >= 0 && end > start)) return undefined;
  return { start, end };
}

/** Index of the range that contains `position`, among `total` ordered ranges that are fetched one at a time. */
export async function findRange(
  total: number,
  at: (index: number) => Promise<Range | undefined>,
  position: number,
): Promise<number> {
  let low = 0;
  let high = total - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const range = await at(middle);
    if (range !== undefined && range.end <= position) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low);
}
