import type { Range } from './contract/common.ts';

/** A piece of a page's text that is not divided, such as a text node. */
export interface TextPiece {
  text: string;
  /** Whether a line or a block begins with it: words do not go on from the piece before. */
  begins: boolean;
}

interface Word {
  /** Without case and width. */
  key: string;
  /** UTF-16 range in the joined text. */
  start: number;
  end: number;
}

/** Signs of scripts without spaces are words; so is every other run of letters or digits. */
const WORD =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]|[[\p{L}\p{M}\p{N}\u00ad]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]]+/gv;
/**
 * Lengths of the runs of words that are looked for, the share of them that must be in one place, and what a word of the place that begins
 * none of them counts against it.
 */
const RUNS = [
  { words: 3, share: 0.4, cost: 0.25 },
  { words: 1, share: 0.6, cost: 1 },
] as const;
/** A place may have this many times the passage's words: a page has captions, numbers and headings that the text leaves out. */
const SLACK = 1.5;

/**
 * Finds a passage of the text that Kvasir read in a page made by somebody else, by its words: the text has marks that the page does not
 * show, names its columns in every row of a table, and leaves out what repeats. The range in each piece that belongs to it; none: it is
 * not there. `near` (0 to 1): its place in the page, which decides between equal ones.
 */
export function findPassage(
  pieces: readonly TextPiece[],
  passage: string,
  near: number,
): (Range | undefined)[] {
  const { text, starts } = join(pieces);
  const place = placeOf(wordsOf(text), wordsOf(passage), near);
  if (!place) return [];
  return pieces.map((piece, i) => {
    const start = Math.max(0, place.start - (starts[i] ?? 0));
    const end = Math.min(piece.text.length, place.end - (starts[i] ?? 0));
    return start < end && piece.text.slice(start, end).trim() !== '' ? { start, end } : undefined;
  });
}

function join(pieces: readonly TextPiece[]): { text: string; starts: number[] } {
  const parts: string[] = [];
  const starts: number[] = [];
  let length = 0;
  for (const { text, begins } of pieces) {
    if (begins) {
      parts.push('\n');
      length++;
    }
    starts.push(length);
    parts.push(text);
    length += text.length;
  }
  return { text: parts.join(''), starts };
}

function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({
    key: word.replaceAll('\u00ad', '').normalize('NFKC').toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

function placeOf(page: readonly Word[], passage: readonly Word[], near: number): Range | undefined {
  for (const { words, share, cost } of RUNS) {
    const wanted = new Set(runsOf(passage, words));
    const hits = runsOf(page, words).flatMap((run, at) => (wanted.has(run) ? [{ run, at }] : []));
    const best = densest(hits, { length: passage.length * SLACK + words, cost, near: near * page.length });
    if (!best || best.runs < wanted.size * share) continue;
    const [first, last] = [page[best.first], page[best.last + words - 1]];
    if (first && last) return { start: first.start, end: last.end };
  }
  return undefined;
}

/** Every run of so many words that follow each other. */
function runsOf(all: readonly Word[], words: number): string[] {
  return Array.from({ length: Math.max(0, all.length - words + 1) }, (_, i) =>
    all
      .slice(i, i + words)
      .map(({ key }) => key)
      .join(' '),
  );
}

interface Hit {
  run: string;
  /** Index of its first word. */
  at: number;
}

interface Place {
  /** Indexes of words. */
  first: number;
  last: number;
  /** Different runs in it. */
  runs: number;
  /** These, less the costs of other words. */
  score: number;
}

/** The stretch of at most `length` words with the highest score; of equal ones the nearest to `near`. */
function densest(
  hits: readonly Hit[],
  { length, cost, near }: { length: number; cost: number; near: number },
): Place | undefined {
  let best: Place | undefined;
  const counts = new Map<string, number>();
  let from = 0;
  for (const [i, { run, at }] of hits.entries()) {
    const others = at - (hits[from]?.at ?? at) - (i - from);
    if (counts.size < cost * others) {
      // What is in it so far costs more than it is worth.
      counts.clear();
      from = i;
    }
    counts.set(run, (counts.get(run) ?? 0) + 1);
    // What leaves the stretch, or is in it again later.
    for (let first = hits[from]; first; first = hits[++from]) {
      const times = counts.get(first.run) ?? 0;
      if (at - first.at < length && times < 2) break;
      if (times < 2) counts.delete(first.run);
      else counts.set(first.run, times - 1);
    }
    const first = hits[from]?.at ?? at;
    const score = counts.size - cost * (at - first - (i - from));
    const place = { first, last: at, runs: counts.size, score };
    if (!best || isBetter(place, best, near)) best = place;
  }
  return best;
}

function isBetter(a: Place, b: Place, near: number): boolean {
  if (a.score !== b.score) return a.score > b.score;
  return Math.abs(a.first - near) < Math.abs(b.first - near);
}
