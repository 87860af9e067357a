import Table from 'cli-table3';
import type { ProcessFigures } from '../lib/process.ts';
import { percentiles } from '../serve/summary.ts';
import { ACTIONS, type Action } from './schedule.ts';

/** After a tenth, with nothing left to do. */
export interface LifeTenth extends ProcessFigures {
  diskMiB: number;
  /** Of each action in it, until its effects are complete. */
  ms: Record<Action, number[]>;
}

/** Allocators keep some memory: what is within this factor has not grown. */
const RSS_FACTOR = 1.02;

/** What the process holds more of after the last tenth than after the first, as sentences. */
export function growth(rows: readonly LifeTenth[]): string[] {
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (!first || !last) return [];
  const [before, after] = [first, last].map(({ rssMiB }) => rssMiB.toFixed(1));
  return [
    ...(last.rssMiB > first.rssMiB * RSS_FACTOR ? [`resident memory: ${before} → ${after} MiB`] : []),
    ...(['descriptors', 'threads'] as const).flatMap((name) =>
      last[name] > first[name] ? [`${name}: ${first[name]} → ${last[name]}`] : [],
    ),
  ];
}

export function printLife(rows: readonly LifeTenth[]): void {
  const table = new Table({
    head: [
      ...['tenth', 'RSS MiB', 'descriptors', 'threads', 'disk MiB'],
      ...ACTIONS.flatMap((action) => [`${action} p50 ms`, 'p95']),
    ],
    style: { head: [], border: [] },
  });
  rows.forEach(({ rssMiB, descriptors, threads, diskMiB, ms }, tenth) => {
    const times = ACTIONS.flatMap((action) => {
      const { p50, p95 } = percentiles(ms[action]);
      return [p50, p95].map((time) => (Number.isNaN(time) ? '–' : time.toFixed(0)));
    });
    table.push([tenth + 1, rssMiB.toFixed(1), descriptors, threads, diskMiB.toFixed(1), ...times]);
  });
  console.log(table.toString());
}
