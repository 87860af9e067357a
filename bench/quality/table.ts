import Table from 'cli-table3';
import type { Interval } from './intervals.ts';
import type { Row } from './rows.ts';
import type { ScoreName } from './scores.ts';

const NAMES: Record<ScoreName, string> = {
  added: 'F1 added',
  f1: 'F1',
  exact: 'exact',
  rougeL: 'ROUGE-L',
  holds: 'holds it',
  holdsAll: 'holds all',
};

/**
 * One line per method. The first score and its loss have intervals; columns by kind of question give the share of answers with the fact, or
 * the first score if the set has no facts. Result files have all scores.
 */
export function table(rows: readonly Row[], scores: readonly ScoreName[]): string {
  const kinds = Object.keys(rows[0]?.kinds ?? {});
  const out = new Table({
    head: [
      ...[
        'method',
        'computed',
        ...scores.map((name, i) => (i === 0 ? `${NAMES[name]} [95 %]` : NAMES[name])),
      ],
      ...kinds,
      ...[`${NAMES[scores[0] ?? 'f1']} lost`, 'KL [95 %]', 'of blind', 'first', 'agrees', 'TTFT', 'of full'],
    ],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows)
    out.push([
      ...[row.method, percent(row.computed), ...scores.map((name, i) => told(row.scores[name], i === 0))],
      ...kinds.map((kind) => (row.kinds[kind]?.fact ?? row.kinds[kind]?.score.mean ?? NaN).toFixed(2)),
      ...[told(row.loss, true), told(row.kl, true), row.ofBlind?.toFixed(2) ?? '', row.klFirst.toFixed(3)],
      percent(row.agrees.mean),
      ...[`${row.medianMs.toFixed(0)} ms`, row.ofFull.toFixed(2)],
    ]);
  return out.toString();
}

function told(interval: Interval | undefined, whole: boolean): string {
  if (!interval) return '';
  const { mean, low, high } = interval;
  return !whole ? mean.toFixed(3) : `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
