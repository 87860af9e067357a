import { KvasirError } from '../../../src-shared/errors.ts';
import { CHUNK_SEPARATOR, type TextChunk } from '../../catalogue/chunk-table.ts';
import type { Heading } from '../../catalogue/document-table.ts';
import { units, type Boundary, type Unit, type TextKind } from './outline.ts';

type Tokenizer = (text: string) => Int32Array;

/** No usable vocabulary has longer tokens on average; keeps trial tokenisations of endless lines short. */
const MAX_CHARS_PER_TOKEN = 64;

/** A chunk ends at a paragraph only when it is at least half full by then, at a heading when a quarter. */
const LEAST_FILL: Record<Boundary, number> = { 0: 0.75, 1: 0.5, 2: 0.5, 3: 0.25 };

interface CutOptions {
  kind?: TextKind | undefined;
  /** Heading lines; null: use Markdown's headings. */
  headings?: readonly Heading[] | null | undefined;
  /** Chunks of an earlier version of the text that still occur in it: start → end. */
  kept?: ReadonlyMap<number, number> | undefined;
}

/** A chunk before a kept one may be this small; splitting further on would move all later boundaries. */
const LEAST_FILL_BEFORE_KEPT = 0.1;

/**
 * Splits a text into chunks of at most `limit` tokens: at headings, else paragraphs, else sentences, and inside a sentence only when it
 * alone is longer than a chunk. Never splits a character. A text of white space has no chunks. Kept chunks come out unchanged where
 * possible: an edit then changes only the chunks it touches.
 * A generator, so that the caller can let other work run between chunks of a large document. BAD_ARGUMENT when a single character takes
 * more than `limit` tokens.
 */
export function* chunkText(
  text: string,
  tokenize: Tokenizer,
  limit: number,
  { kind = 'prose', headings = null, kept = new Map() }: CutOptions = {},
): Generator<TextChunk> {
  if (!Number.isInteger(limit) || limit < 1) throw new TypeError('limit must be a positive integer');
  const ids = remembering((start, end) => tokenize(text.slice(start, end).trim() + CHUNK_SEPARATOR));
  const source = fittingUnits({ text, ids, limit, kind, headings, kept });
  const window: SizedUnit[] = [];
  let total = 0;
  let exhausted = false;
  let before: readonly string[] = []; // the headings at the end of the previous chunk
  for (;;) {
    const keptEnd = kept.get(window[0]?.start ?? 0) ?? 0;
    while (!exhausted && (total <= limit || (window.at(-1)?.end ?? 0) < keptEnd)) {
      const next = source.next();
      if (next.done) exhausted = true;
      else {
        window.push(next.value);
        total += next.value.size;
      }
    }
    if (window.length === 0) return;
    const { count, tokens } = cutKept(window, kept, ids, limit) ?? cut(window, ids, limit, exhausted);
    const taken = window.splice(0, count);
    total = window.reduce((sum, unit) => sum + unit.size, 0);
    const start = taken[0]?.start ?? 0;
    const end = taken.at(-1)?.end ?? start;
    const trimmed = text.slice(start, end).trim();
    const headings = taken[0]?.headings ?? [];
    if (trimmed !== '')
      yield { start, end, text: trimmed, tokens, headings, above: shared(before, headings) };
    before = taken.at(-1)?.headings ?? [];
  }
}

/** The common prefix of two lists of headings: a heading that only the second has is in its text. */
function shared(one: readonly string[], other: readonly string[]): readonly string[] {
  const differs = other.findIndex((heading, i) => heading !== one[i]);
  return differs < 0 ? other : other.slice(0, differs);
}

/** A unit with its token count; counts of joined units differ slightly, so a chunk is counted again as a whole. */
interface SizedUnit extends Unit {
  size: number;
}

/** A chunk that ends where a kept one ends, or where the first kept one begins. */
function cutKept(
  window: readonly SizedUnit[],
  kept: ReadonlyMap<number, number>,
  ids: Ids,
  limit: number,
): { count: number; tokens: Int32Array } | undefined {
  if (kept.size === 0) return undefined;
  const start = window[0]?.start ?? 0;
  const keptEnd = kept.get(start);
  let sum = window[0]?.size ?? 0;
  for (let count = 1; count <= window.length; sum += window[count++]?.size ?? 0) {
    const end = window[count - 1]?.end ?? start;
    const next = keptEnd === undefined && sum >= limit * LEAST_FILL_BEFORE_KEPT && kept.has(end);
    if (end !== keptEnd && !next) continue;
    const tokens = ids(start, end);
    return tokens.length <= limit ? { count, tokens } : undefined;
  }
  return undefined;
}

/** How many units at the start of the window form the next chunk. */
function cut(
  window: readonly SizedUnit[],
  ids: Ids,
  limit: number,
  exhausted: boolean,
): { count: number; tokens: Int32Array } {
  const start = window[0]?.start ?? 0;
  let count = 0;
  for (let sum = 0; count < window.length; count++) {
    sum += window[count]?.size ?? 0;
    if (sum > limit && count > 0) break;
  }
  const whole = exhausted && count === window.length;
  let tokens = ids(start, window[count - 1]?.end ?? start);
  while (tokens.length > limit && count > 1) tokens = ids(start, window[--count - 1]?.end ?? start);
  if (whole && count === window.length) return { count, tokens };

  const better = bestBoundary(window, count, limit);
  if (better === count) return { count, tokens };
  const shorter = ids(start, window[better - 1]?.end ?? start);
  return shorter.length <= limit ? { count: better, tokens: shorter } : { count, tokens };
}

/** The last of the strongest boundaries among those that leave the chunk full enough. */
function bestBoundary(window: readonly SizedUnit[], count: number, limit: number): number {
  let best = count;
  let strength = window[count]?.boundary ?? 3;
  let filled = window.slice(0, count).reduce((sum, unit) => sum + unit.size, 0);
  for (let at = count - 1; at > 0; at--) {
    const unit = window[at];
    if (!unit) break;
    filled -= unit.size;
    if (unit.boundary > strength && filled >= limit * LEAST_FILL[unit.boundary]) {
      best = at;
      strength = unit.boundary;
    }
  }
  return best;
}

type Ids = (start: number, end: number) => Int32Array;

/** Memoises the last result: a text found to fit is then counted, and a split text is then used. */
function remembering(ids: Ids): Ids {
  let last: { start: number; end: number; tokens: Int32Array } | undefined;
  return (start, end) => {
    if (last?.start !== start || last.end !== end) last = { start, end, tokens: ids(start, end) };
    return last.tokens;
  };
}

interface ChunkerState extends Required<CutOptions> {
  text: string;
  ids: Ids;
  limit: number;
  kind: TextKind;
  headings: readonly Heading[] | null;
  kept: ReadonlyMap<number, number>;
}

/** The outline's units, split where a kept chunk begins or ends. */
function* unitsAtKept({ text, kind, headings, kept }: ChunkerState): Generator<Unit> {
  const cuts = [...new Set([...kept].flat())].sort((a, b) => a - b);
  let next = 0;
  for (const unit of units(text, kind, headings)) {
    let { start, boundary } = unit;
    for (; (cuts[next] ?? Infinity) < unit.end; next++) {
      const at = cuts[next] ?? 0;
      if (at <= start) continue;
      yield { ...unit, start, end: at, boundary };
      start = at;
      boundary = 0;
    }
    yield { ...unit, start, boundary };
  }
}

/** The outline's units, those longer than a chunk split into parts; white space goes to the preceding unit. */
function* fittingUnits(cutting: ChunkerState): Generator<SizedUnit> {
  const { text, ids, limit } = cutting;
  let open: SizedUnit | undefined;
  for (const unit of unitsAtKept(cutting)) {
    for (const part of split(text, unit, ids, limit)) {
      if (open && text.slice(part.start, part.end).trim() === '') {
        open.end = part.end;
        continue;
      }
      if (open) yield open;
      open = part;
    }
  }
  if (open) yield open;
}

function* split(text: string, unit: Unit, ids: Ids, limit: number): Generator<SizedUnit> {
  const separator = ids(0, 0).length;
  let { start } = unit;
  let boundary = unit.boundary;
  while (start < unit.end) {
    const end = longestFit(text, start, unit.end, ids, limit);
    yield {
      start,
      end,
      boundary,
      headings: unit.headings,
      size: Math.max(1, ids(start, end).length - separator),
    };
    start = end;
    boundary = 0;
  }
}

/** The largest end up to `end` whose text fits a chunk, moved back to the last space where that costs little. */
function longestFit(text: string, start: number, end: number, ids: Ids, limit: number): number {
  const fits = (to: number): boolean => ids(start, to).length <= limit;
  if (end - start <= limit * MAX_CHARS_PER_TOKEN && fits(end)) return end;
  let low = wholeCharacter(text, start + 1);
  if (!fits(low)) {
    throw new KvasirError(
      'BAD_ARGUMENT',
      `A chunk of ${limit} tokens cannot hold a single character.`,
      'Choose a larger chunk size.',
    );
  }
  let high = wholeCharacter(text, Math.min(end, start + limit));
  while (high < end && fits(high)) {
    low = high;
    high = wholeCharacter(text, Math.min(end, start + 2 * (high - start)));
  }
  if (high === end && fits(end)) return end;
  while (high - low > 1) {
    const middle = wholeCharacter(text, low + Math.floor((high - low) / 2));
    if (middle >= high) break;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  const space = lastSpace(text, start + Math.floor(((low - start) * 3) / 4), low);
  return space > start && fits(space) ? space : low;
}

/** `at`, or one further when it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff && at < text.length ? at + 1 : at;
}

/** The end of the last white space in [from, to), or -1. */
function lastSpace(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return -1;
}
