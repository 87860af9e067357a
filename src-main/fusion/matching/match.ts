import { commonRuns, type CommonRun } from './runs.ts';

interface MatchingOptions {
  /** Share of a text that must be found for any of it to be used. */
  minMatchRatio: number;
  /** Tokens at each side of a seam that are computed although they match. */
  recomputeBoundary: number;
  /** Shorter runs are not worth two seams. */
  minRun: number;
}

export const MATCHING: MatchingOptions = { minMatchRatio: 0.8, recomputeBoundary: 2, minRun: 16 };

/** A run found in a candidate, by its index. */
interface Run extends CommonRun {
  candidate: number;
}

/** Runs in the order of the text, without overlap. */
export interface Match {
  /** full: all of the text in one run; partial: enough of it; none: computing it costs little more than the check. */
  kind: 'full' | 'partial' | 'none';
  runs: Run[];
}

/**
 * Finds a text's runs in stored chunks. The candidate with the most tokens comes first; others fill the gaps only while less than
 * `minMatchRatio` is found, since each is one more chunk to load.
 */
export function match(
  tokens: Int32Array,
  candidates: readonly Int32Array[],
  { minMatchRatio, minRun }: MatchingOptions = MATCHING,
): Match {
  const found = candidates
    .map((other, candidate) => commonRuns(tokens, other, minRun).map((run) => ({ ...run, candidate })))
    .sort((a, b) => covered(b) - covered(a));
  const needed = Math.max(1, minMatchRatio * tokens.length);
  let runs = found[0] ?? [];
  for (const { candidate } of found.slice(1).flatMap((others) => others.slice(0, 1))) {
    if (covered(runs) >= needed) break;
    runs = filled(tokens, runs, candidates[candidate] ?? new Int32Array(0), candidate, minRun);
  }
  if (covered(runs) < needed) return { kind: 'none', runs: [] };
  return { kind: runs[0]?.count === tokens.length ? 'full' : 'partial', runs };
}

/** The runs, and those of another candidate in the gaps between them. */
function filled(
  tokens: Int32Array,
  runs: readonly Run[],
  other: Int32Array,
  candidate: number,
  minRun: number,
): Run[] {
  const all: Run[] = [];
  let from = 0;
  for (const run of [...runs, undefined]) {
    const gap = tokens.subarray(from, run?.start);
    for (const found of commonRuns(gap, other, minRun))
      all.push({ ...found, start: from + found.start, candidate });
    if (run) all.push(run);
    from = run ? run.start + run.count : from;
  }
  return all;
}

function covered(runs: readonly Run[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** A span of a matched text: taken from a candidate from its token `begin` on, or computed. */
export type Span = { start: number; count: number } & (
  | { kind: 'reuse'; candidate: number; begin: number }
  | { kind: 'compute' }
);

/**
 * A matched text as spans that cover it. At a seam, where a run begins or ends within the text, `recomputeBoundary` tokens of the run are
 * computed: in the stored KV, the tokens after a seam have the old text as their nearest neighbours.
 */
export function spansOf(
  { runs }: Match,
  length: number,
  { recomputeBoundary }: MatchingOptions = MATCHING,
): Span[] {
  const spans: Span[] = [];
  let from = 0;
  const computeTo = (to: number): void => {
    if (to > from) spans.push({ kind: 'compute', start: from, count: to - from });
  };
  for (const { start, begin, count, candidate } of runs) {
    const behind = start > 0 ? recomputeBoundary : 0;
    const before = start + count < length ? recomputeBoundary : 0;
    const kept = count - behind - before;
    if (kept <= 0) continue;
    computeTo(start + behind);
    spans.push({ kind: 'reuse', start: start + behind, count: kept, candidate, begin: begin + behind });
    from = start + behind + kept;
  }
  computeTo(length);
  return spans;
}
