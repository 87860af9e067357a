import { rollingHashes } from '../../platform/rolling-hash.ts';

/** Tokens [start, start + count) of a text that are tokens [begin, begin + count) of another. */
export interface CommonRun {
  start: number;
  begin: number;
  count: number;
}

/** Tokens of an anchor: in a chunk, few phrases of this length occur twice. */
const ANCHOR = 8;

/**
 * The runs that two texts have in common, in order in both and without overlap: their common prefix and suffix, and between these the
 * longest chain of anchors, each extended as far as the texts agree. An anchor is a window whose hash occurs once in either text, so
 * repeated text costs nothing. Runs shorter than `minRun` are left out. O(n log n).
 */
export function commonRuns(text: Int32Array, other: Int32Array, minRun: number): CommonRun[] {
  const most = Math.min(text.length, other.length);
  let head = 0;
  while (head < most && text[head] === other[head]) head++;
  let tail = 0;
  while (tail < most - head && text.at(-1 - tail) === other.at(-1 - tail)) tail++;
  const middle = anchoredRuns(
    text.subarray(head, text.length - tail),
    other.subarray(head, other.length - tail),
  ).map(({ start, begin, count }) => ({ start: start + head, begin: begin + head, count }));
  const runs = [
    { start: 0, begin: 0, count: head },
    ...middle,
    { start: text.length - tail, begin: other.length - tail, count: tail },
  ];
  return runs.filter(({ count }) => count > 0 && count >= minRun);
}

function anchoredRuns(text: Int32Array, other: Int32Array): CommonRun[] {
  const runs: CommonRun[] = [];
  let [from, otherFrom] = [0, 0]; // after the last run
  for (const { start, begin } of longestChain(anchors(text, other))) {
    if (start < from || begin < otherFrom) continue; // within the last run, or it grew over this one
    let back = 0;
    while (
      start - back > from &&
      begin - back > otherFrom &&
      text[start - back - 1] === other[begin - back - 1]
    )
      back++;
    let ahead = 0;
    while (
      start + ahead < text.length &&
      begin + ahead < other.length &&
      text[start + ahead] === other[begin + ahead]
    )
      ahead++;
    if (ahead < ANCHOR) continue; // equal hashes of unequal tokens
    runs.push({ start: start - back, begin: begin - back, count: back + ahead });
    [from, otherFrom] = [start + ahead, begin + ahead];
  }
  return runs;
}

type Anchor = Omit<CommonRun, 'count'>;

/** Windows that occur once in each text, in the order of the first. */
function anchors(text: Int32Array, other: Int32Array): Anchor[] {
  const places = onlyPlaces(other);
  return [...onlyPlaces(text)].flatMap(([hash, start]) => {
    const begin = places.get(hash);
    return begin === undefined ? [] : [{ start, begin }];
  });
}

/** Hash of a window → its position; only unique ones, in order. */
function onlyPlaces(tokens: Int32Array): Map<number, number> {
  const places = new Map<number, number>();
  const repeated = new Set<number>();
  rollingHashes(tokens, ANCHOR).forEach((hash, at) => {
    if (places.has(hash)) repeated.add(hash);
    else places.set(hash, at);
  });
  for (const hash of repeated) places.delete(hash);
  return places;
}

/** The largest set of anchors in order in both texts: the longest increasing subsequence of `begin` (patience sorting). */
function longestChain(all: readonly Anchor[]): Anchor[] {
  /** [length − 1] → the anchor with the smallest `begin` that ends a chain of that length. */
  const ends: number[] = [];
  const before: number[] = [];
  all.forEach(({ begin }, i) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const half = (low + high) >> 1;
      if (beginOf(all, ends[half]) < begin) low = half + 1;
      else high = half;
    }
    before.push(low > 0 ? (ends[low - 1] ?? -1) : -1);
    ends[low] = i;
  });
  const chain: Anchor[] = [];
  for (let i = ends.at(-1) ?? -1; i >= 0; i = before[i] ?? -1) {
    const anchor = all[i];
    if (anchor) chain.push(anchor);
  }
  return chain.reverse();
}

function beginOf(all: readonly Anchor[], index = -1): number {
  return all[index]?.begin ?? -1;
}
