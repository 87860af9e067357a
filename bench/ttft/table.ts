import Table from 'cli-table3';
import { median } from '../lib/machine.ts';
import type { Round } from './rounds.ts';

/** One method at one context, over all rounds. */
export interface Row {
  context: number;
  chunks: number;
  method: string;
  ms: number[];
  medianMs: number;
  /** Slowest minus fastest round, relative to the median. */
  spread: number;
  /** Maximum over the rounds, see rounds.ts. */
  machineLoad: number;
  stealPercent: number;
  /** Median over rounds of this method's time divided by the time of llama.cpp's full prefill in the same round. */
  ratio: number;
  /** The same relative to our own full prefill. */
  ofFull: number;
  /** After full prefills: the greedy token. */
  firstToken?: number;
  recomputed?: number;
  /** Times for loading chunks and for computing meanwhile; a perfect pipeline takes the longer. */
  loadMs?: number;
  computeMs?: number;
  /** Counted work, see work.ts. */
  gflop?: number;
  gbytes?: number;
  gflops?: number;
}

/** Medians of a method's rounds; `llama` and `full` are the reference rounds, empty if not run. */
export function rowOf(
  name: string,
  runs: readonly Round[],
  { llama, full }: { llama: readonly Round[]; full: readonly Round[] },
  at: { context: number; chunks: number },
): Row {
  const ms = runs.map((run) => run.ms);
  const medianMs = median(ms);
  const firstToken = runs[0]?.firstToken;
  const against = (base: readonly Round[]): number =>
    median(ms.map((value, i) => value / (base[i]?.ms ?? NaN)));
  const row: Row = {
    ...at,
    method: name,
    ms,
    medianMs,
    spread: (Math.max(...ms) - Math.min(...ms)) / medianMs,
    machineLoad: Math.max(...runs.map(({ machineLoad }) => machineLoad)),
    stealPercent: Math.max(...runs.map(({ stealPercent }) => stealPercent)),
    ...(firstToken !== undefined && { firstToken }),
    ratio: against(llama),
    ofFull: against(full),
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

const HEADS = [
  'median s',
  'spread',
  '× llama.cpp',
  '× our full',
  'recomputed',
  'load s',
  'compute s',
  'GFLOP/s',
  'steal',
  'machine load',
];
const seconds = (ms: number | undefined): string => (ms === undefined ? '' : (ms / 1000).toFixed(2));

const ratioText = (ratio: number): string => (Number.isNaN(ratio) ? '' : ratio.toFixed(3));

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

export function printRows(rows: readonly Row[]): void {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const title = `${row.context} tokens, ${row.chunks} chunks`;
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  for (const [title, group] of groups) {
    const table = new Table({
      head: [title, ...HEADS],
      style: { head: [], border: [], compact: true },
      colAligns: ['left', ...HEADS.map(() => 'right' as const)],
    });
    for (const row of group) {
      table.push([
        row.method,
        seconds(row.medianMs),
        percent(row.spread),
        ratioText(row.ratio),
        ratioText(row.ofFull),
        String(row.recomputed ?? ''),
        seconds(row.loadMs),
        seconds(row.computeMs),
        row.gflops === undefined ? '' : row.gflops.toFixed(0),
        percent(row.stealPercent / 100),
        row.machineLoad.toFixed(1),
      ]);
    }
    console.log(table.toString());
  }
}

/** Compares the first tokens of full prefills by different programs: one line per context. */
export function firstTokensOf(rows: readonly Row[]): string[] {
  const contexts = [...new Set(rows.map(({ context }) => context))];
  return contexts.flatMap((context) => {
    const told = rows.filter((row) => row.context === context && row.firstToken !== undefined);
    if (told.length < 2) return [];
    const tokens = told.map(({ method, firstToken }) => `${method} ${firstToken}`);
    return [`${context} tokens, first token: ${tokens.join(', ')}`];
  });
}

/**
 * The Markdown table of a result: one line per method; for each context its time, and the ratios to llama.cpp's and our own full prefill.
 */
export function markdownOf(rows: readonly Row[]): string {
  const cases = [...new Set(rows.map(({ context, chunks }) => `${context}/${chunks}`))].map((title) => {
    const own = rows.filter(({ context, chunks }) => `${context}/${chunks}` === title);
    return { head: `${own[0]?.context.toLocaleString('en')} tokens, ${own[0]?.chunks} chunks`, own };
  });
  const cell = (row: Row | undefined): string[] =>
    row ? [`${seconds(row.medianMs)} s`, ratioText(row.ratio), ratioText(row.ofFull)] : ['', '', ''];
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
  const methods = [...new Set(rows.map(({ method }) => method))];
  return [
    line(['method', ...cases.flatMap(({ head }) => [head, '× llama.cpp', '× our full'])]),
    line(['---', ...cases.flatMap(() => ['--:', '--:', '--:'])]),
    ...methods.map((method) =>
      line([method, ...cases.flatMap(({ own }) => cell(own.find((row) => row.method === method)))]),
    ),
  ].join('');
}
