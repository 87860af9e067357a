import { KvasirError } from '../../src-shared/errors.ts';

/** A range of a document's chunks: `from` inclusive, `to` exclusive. */
export interface Span {
  from: number;
  to: number;
}

interface WindowShape {
  /** Tokens of chunks that fit one prompt. */
  room: number;
  /** Chunks per window at most; absent: as many as fit. */
  size?: number | undefined;
  /** Chunks that a window shares with the previous one; absent: a sixth of its size, at least one. */
  overlap?: number | undefined;
}

/** Windows overlap by one chunk per this many. */
const CHUNKS_PER_OVERLAP = 6;

/**
 * Splits a document's chunks (`lengths` in tokens) into windows in reading order. Every chunk is in at least one, each window reaches
 * further than the previous one, and none exceeds the room. The overlap shrinks where a long chunk would not fit beside it.
 * CONTEXT_OVERFLOW when a single chunk exceeds the room.
 */
export function planWindows(lengths: readonly number[], { room, size, overlap }: WindowShape): Span[] {
  if (size !== undefined && size < 1) throw new TypeError('size must be at least 1');
  if (overlap !== undefined && overlap < 0) throw new TypeError('overlap must be at least 0');
  const windows: Span[] = [];
  let from = 0;
  while (from < lengths.length) {
    const to = endOf(lengths, from, room, size);
    windows.push({ from, to });
    if (to === lengths.length) break;
    from = nextStart(lengths, { from, to }, { room, size, overlap });
  }
  return windows;
}

/** Chunks of the largest window, and the largest overlap of two windows. */
export function shapeOf(windows: readonly Span[]): { size: number; overlap: number } {
  const size = Math.max(0, ...windows.map(({ from, to }) => to - from));
  const overlaps = windows.slice(1).map(({ from }, i) => (windows[i]?.to ?? from) - from);
  return { size, overlap: Math.max(0, ...overlaps) };
}

/**
 * Groups notes (`lengths` in tokens) for combining: neighbours share a prompt while they fit. With more than one note every group has at
 * least two, so that each round leaves fewer, even where two do not fit as they are.
 */
export function planCombining(lengths: readonly number[], room: number): Span[] {
  const groups: Span[] = [];
  for (let from = 0; from < lengths.length; from = groups.at(-1)?.to ?? from) {
    const fitting = Math.min(lengths.length, Math.max(from + 2, endWithin(lengths, from, room)));
    const alone = lengths.length - fitting === 1;
    // The last one would be alone: it takes a note from a group that can spare one.
    const to = !alone ? fitting : fitting - from > 2 ? fitting - 1 : lengths.length;
    groups.push({ from, to });
  }
  return groups;
}

function endOf(
  lengths: readonly number[],
  from: number,
  room: number,
  size = Number.POSITIVE_INFINITY,
): number {
  const fitting = endWithin(lengths, from, room);
  if (fitting === from) throw tooLarge(lengths[from] ?? 0, room);
  return Math.min(fitting, from + size);
}

function endWithin(lengths: readonly number[], from: number, room: number): number {
  let tokens = 0;
  let to = from;
  while (to < lengths.length && tokens + (lengths[to] ?? 0) <= room) tokens += lengths[to++] ?? 0;
  return to;
}

/** As far back as the overlap asks, if the chunk after the previous window still fits then. */
function nextStart(
  lengths: readonly number[],
  { from, to }: Span,
  { room, size, overlap }: WindowShape,
): number {
  const chunks = to - from;
  const wanted = overlap ?? (chunks > 1 ? Math.max(1, Math.floor(chunks / CHUNKS_PER_OVERLAP)) : 0);
  const earliest = Math.max(from + 1, to - Math.min(wanted, chunks - 1));
  for (let start = earliest; start < to; start++) if (endOf(lengths, start, room, size) > to) return start;
  return to;
}

function tooLarge(tokens: number, room: number): KvasirError {
  const message = `A chunk of the document has ${tokens} tokens, but a prompt has room for ${Math.max(0, room)} besides the instruction and the answer.`;
  const advice = 'Shorten the instruction, or set a larger context or smaller chunks in Settings.';
  return new KvasirError('CONTEXT_OVERFLOW', message, advice);
}
