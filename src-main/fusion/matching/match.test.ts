import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../testing/random.ts';
import { MATCHING, match, spansOf, type Match } from './match.ts';

/** A text in which words repeat, as in real ones. */
function text(seed: number, length = 512, vocabulary = 4000): Int32Array {
  const random = randomFrom(seed);
  return Int32Array.from({ length }, () => Math.floor(random() ** 2 * vocabulary));
}

function splice(tokens: Int32Array, at: number, without: number, ...inserted: number[]): Int32Array {
  return Int32Array.of(...tokens.slice(0, at), ...inserted, ...tokens.slice(at + without));
}

/** Invariants of any match: equal token by token, in order, no overlap, spans that cover the text. */
function check(found: Match, tokens: Int32Array, candidates: readonly Int32Array[]): void {
  let from = 0;
  for (const { start, begin, count, candidate } of found.runs) {
    expect(start).toBeGreaterThanOrEqual(from);
    expect(count).toBeGreaterThanOrEqual(MATCHING.minRun);
    expect(candidates[candidate]?.slice(begin, begin + count)).toEqual(tokens.slice(start, start + count));
    from = start + count;
  }
  expect(from).toBeLessThanOrEqual(tokens.length);
  const whole = spansOf(found, tokens.length).flatMap((span) =>
    span.kind === 'compute'
      ? [...tokens.slice(span.start, span.start + span.count)]
      : [...(candidates[span.candidate]?.slice(span.begin, span.begin + span.count) ?? [])],
  );
  expect(whole).toEqual([...tokens]);
}

function matched(tokens: Int32Array, ...candidates: Int32Array[]): Match {
  const found = match(tokens, candidates);
  check(found, tokens, candidates);
  return found;
}

const reused = (found: Match, length: number): number =>
  spansOf(found, length).reduce((sum, span) => sum + (span.kind === 'reuse' ? span.count : 0), 0);

test('an unchanged text is a full match: one run, nothing computed', () => {
  const found = matched(text(1), text(1));
  expect(found).toEqual({ kind: 'full', runs: [{ start: 0, begin: 0, count: 512, candidate: 0 }] });
  expect(spansOf(found, 512)).toEqual([{ kind: 'reuse', start: 0, count: 512, candidate: 0, begin: 0 }]);
});

test('a text that is a part of a longer one is a full match, too', () => {
  const found = matched(text(1).slice(100, 300), text(1));
  expect(found).toMatchObject({ kind: 'full', runs: [{ start: 0, begin: 100, count: 200 }] });
});

test.each([
  ['an insertion', splice(text(1), 250, 0, 9001, 9002, 9003)],
  ['a deletion', splice(text(1), 250, 12)],
  ['a replacement', splice(text(1), 250, 5, 9001, 9002, 9003, 9004)],
])('%s in the middle of a chunk of 512 leaves two runs and more than 95 %% to reuse', (_, tokens) => {
  const found = matched(tokens, text(1));
  expect(found.kind).toBe('partial');
  expect(found.runs).toHaveLength(2);
  expect(reused(found, tokens.length)).toBeGreaterThan(0.95 * tokens.length);
});

test('a few edits, at the ends too, leave the runs between them', () => {
  const ends = splice(splice(text(1), 508, 4, 9001), 0, 3, 9002, 9003);
  const tokens = splice(splice(ends, 150, 1), 380, 0, 9004);
  const found = matched(tokens, text(1));
  expect(found.runs).toHaveLength(3);
  expect(reused(found, tokens.length)).toBeGreaterThan(0.9 * tokens.length);
});

test('other texts, and texts that share too little, do not match', () => {
  for (let seed = 2; seed < 30; seed++)
    expect(matched(text(seed), text(1))).toEqual({ kind: 'none', runs: [] });
  const half = Int32Array.of(...text(1).slice(0, 400), ...text(2).slice(0, 112));
  expect(matched(half, text(1)).kind).toBe('none'); // 400 of 512: 78 %
  expect(match(half, [text(1)], { ...MATCHING, minMatchRatio: 0.75 }).kind).toBe('partial');
  expect(matched(text(1))).toEqual({ kind: 'none', runs: [] });
  expect(matched(new Int32Array(0), text(1)).kind).toBe('none');
});

test('runs shorter than the least are not used', () => {
  const crumbs = text(1);
  for (let at = 10; at < 512; at += 15) crumbs[at] = 9000 + at;
  expect(matched(crumbs, text(1)).kind).toBe('none');
});

describe('several candidates', () => {
  test('the one that has most of it is taken, and no other when it is enough', () => {
    const tokens = splice(text(1), 250, 5, 9001);
    const worse = splice(text(1), 100, 60);
    expect(matched(tokens, worse, text(1)).runs.map(({ candidate }) => candidate)).toEqual([1, 1]);
  });

  test('a text across the boundary of two chunks is put together from both', () => {
    const tokens = Int32Array.of(...text(1).slice(200), ...text(2).slice(0, 200));
    const found = matched(tokens, text(3), text(2), text(1));
    expect(found).toMatchObject({
      kind: 'partial',
      runs: [
        { start: 0, begin: 200, count: 312, candidate: 2 },
        { start: 312, begin: 0, count: 200, candidate: 1 },
      ],
    });
  });
});

describe('seams', () => {
  const kinds = (found: Match, length: number, recomputeBoundary: number): [string, number, number][] =>
    spansOf(found, length, { ...MATCHING, recomputeBoundary }).map(({ kind, start, count }) => [
      kind,
      start,
      count,
    ]);

  test('tokens at both sides of each are computed, but not at the ends of the text', () => {
    const tokens = splice(text(1), 250, 5, 9001);
    const found = matched(tokens, text(1));
    expect(kinds(found, 508, 2)).toEqual([
      ['reuse', 0, 248],
      ['compute', 248, 5],
      ['reuse', 253, 255],
    ]);
    expect(kinds(found, 508, 0)).toEqual([
      ['reuse', 0, 250],
      ['compute', 250, 1],
      ['reuse', 251, 257],
    ]);
  });

  test('where something was deleted nothing but the seam is computed', () => {
    const tokens = splice(text(1), 250, 12);
    expect(kinds(matched(tokens, text(1)), 500, 2)).toEqual([
      ['reuse', 0, 248],
      ['compute', 248, 4],
      ['reuse', 252, 248],
    ]);
  });
});

test('whatever is edited, runs are equal, in order and apart (seeded)', () => {
  const kinds = { full: 0, partial: 0, none: 0 };
  for (let seed = 0; seed < 300; seed++) {
    const random = randomFrom(seed);
    const below = (n: number): number => Math.floor(random() * n);
    const other = text(seed, 50 + below(600), 2 + below(seed % 3 === 0 ? 5 : 3000));
    let tokens = other;
    for (let edits = below(6); edits > 0; edits--) {
      const inserted = Array.from({ length: below(20) }, () => below(3000));
      tokens = splice(tokens, below(tokens.length), below(20), ...inserted);
    }
    if (seed % 7 === 0) tokens = Int32Array.of(...tokens.slice(90), ...tokens.slice(0, 90)); // moved
    const found = matched(tokens, other, text(seed + 1000));
    kinds[found.kind]++;
    if (found.kind !== 'none') expect(reused(found, tokens.length)).toBeGreaterThan(0.6 * tokens.length);
  }
  expect(Math.min(kinds.full, kinds.none)).toBeGreaterThan(20);
  expect(kinds.partial).toBeGreaterThan(100);
});

test('what repeats itself is no harder than other text', () => {
  const same = new Int32Array(4000).fill(7);
  expect(matched(same, same).kind).toBe('full');
  expect(matched(splice(same, 2000, 3, 9001), same)).toMatchObject({ kind: 'partial', runs: [{}, {}] });
  const period = Int32Array.from({ length: 4000 }, (_, i) => i % 10);
  expect(matched(splice(period, 2000, 3, 9001), period).kind).toBe('partial');
  // Nothing is unique in either, so there are no anchors: no match, and found quickly.
  const edits = splice(splice(splice(same, 1000, 0, 1), 2000, 0, 2), 3000, 0, 3);
  expect(match(edits, [same]).kind).toBe('none');
});
