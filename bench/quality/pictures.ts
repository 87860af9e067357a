import { chart, type Series } from '../lib/chart.ts';
import { LENGTHS, PASSAGES } from './matrix.ts';
import type { Row } from './rows.ts';
import type { ScoreName } from './scores.ts';

type Runs = Readonly<Record<string, readonly Row[]>>;

/** By file name: the score by ratio, by number of passages and by passage length, for the runs that exist. */
export function pictures(runs: Runs, score: ScoreName): [string, string][] {
  const y = { label: score };
  const share = { label: 'computed share of the passages\u2019 tokens' };
  const times = { label: 'time to first token relative to full prefill', log: true };
  const byRatio = runs['ratios'] ?? [];
  return [
    [
      'ratios',
      chart(
        'Quality by recomputed share',
        { x: share, y },
        byName(byRatio, score, (row) => row.computed),
      ),
    ],
    [
      'times',
      chart(
        'Quality by time',
        { x: times, y },
        byName(byRatio, score, (row) => row.ofFull),
      ),
    ],
    [
      'passages',
      chart(
        'Quality by number of passages',
        { x: { label: 'passages', log: true, ticks: PASSAGES }, y },
        across(runs, 'passages', PASSAGES, score),
      ),
    ],
    [
      'lengths',
      chart(
        'Quality by passage length',
        { x: { label: 'tokens per passage', log: true, ticks: LENGTHS }, y },
        across(runs, 'length', LENGTHS, score),
      ),
    ],
  ];
}

/** One line per method with several ratios, and the full prefill. */
function byName(rows: readonly Row[], score: ScoreName, x: (row: Row) => number): Series[] {
  const named = Map.groupBy(rows, ({ method, ratio }) =>
    ratio === null ? method : method.replace(/ [\d.]+ %$/, ''),
  );
  return [...named].map(([name, own]) => ({
    name,
    points: own.map((row) => ({ x: x(row), ...valueOf(row, score) })).sort((a, b) => a.x - b.x),
  }));
}

/** One line per method through the runs of one kind. */
function across(runs: Runs, kind: string, at: readonly number[], score: ScoreName): Series[] {
  const found = at.flatMap((x) => (runs[`${kind} ${x}`] ?? []).map((row) => ({ x, row })));
  const named = Map.groupBy(found, ({ row }) => row.method);
  return [...named].map(([name, own]) => ({
    name,
    points: own.map(({ x, row }) => ({ x, ...valueOf(row, score) })),
  }));
}

function valueOf(
  { scores }: Row,
  score: ScoreName,
): { y: number; low: number | undefined; high: number | undefined } {
  const { mean = NaN, low, high } = scores[score] ?? {};
  return { y: mean, low, high };
}
