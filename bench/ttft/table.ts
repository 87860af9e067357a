import Table from 'cli-table3';
import { median } from '../lib/machine.ts';
import type { Run } from './ours.ts';

/** One method at one context, over all rounds. */
export interface Row {
  context: number;
  chunks: number;
  method: string;
  ms: number[];
  medianMs: number;
  /** Median over rounds of this method's time divided by llama.cpp's full prefill of the same round. */
  ratio: number;
  recomputed?: number;
  /** Bringing chunks in, and computing beside it: what a perfect pipeline takes the longer of. */
  loadMs?: number;
  computeMs?: number;
  /** Work counted, see work.ts. */
  gflop?: number;
  gbytes?: number;
  gflops?: number;
}

/** Medians of a method's rounds; `base` are the rounds of what it is compared with. */
export function rowOf(
  name: string,
  runs: readonly Run[],
  base: readonly Run[],
  at: { context: number; chunks: number },
): Row {
  const ms = runs.map((run) => run.ms);
  const row: Row = {
    ...at,
    method: name,
    ms,
    medianMs: median(ms),
    ratio: median(ms.map((value, i) => value / (base[i]?.ms ?? NaN))),
  };
  const reports = runs.flatMap(({ report }) => (report ? [report] : []));
  const [first] = reports;
  if (!first) return row;
  const loads = reports.map(({ layers }) =>
    layers.reduce((sum, { loadStart, loadEnd }) => sum + loadEnd - loadStart, 0),
  );
  const waits = reports.map((report) => report.totalMs - report.stages.loadWait);
  return {
    ...row,
    recomputed: first.recomputedTokens,
    ...(first.bytesLoaded > 0 && { loadMs: median(loads), computeMs: median(waits) }),
  };
}

const seconds = (ms: number | undefined): string => (ms === undefined ? '' : (ms / 1000).toFixed(2));

export function printRows(rows: readonly Row[]): void {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const title = `${row.context} tokens, ${row.chunks} chunks`;
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  for (const [title, group] of groups) {
    const table = new Table({
      head: [title, 'median s', '× llama.cpp', 'recomputed', 'load s', 'compute s', 'GFLOP/s'],
      style: { head: [], border: [] },
      colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
    });
    for (const row of group) {
      table.push([
        row.method,
        seconds(row.medianMs),
        row.ratio.toFixed(3),
        String(row.recomputed ?? ''),
        seconds(row.loadMs),
        seconds(row.computeMs),
        row.gflops === undefined ? '' : row.gflops.toFixed(0),
      ]);
    }
    console.log(table.toString());
  }
}
