/**
 * Time to the first token of a fresh start's first questions; each run is a process and a data folder of its own, and each
 * question a conversation of its own.
 *
 *   npm run bench:first-question -- [--runs 5] [--questions 2] [--out FILE.json]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command, Option } from 'commander';
import type { AnswerStats } from '../src-shared/contract/chat.ts';
import { ask, converse, withApp } from './lib/app.ts';
import { peakRssMiB } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';

interface Row {
  start: string;
  number: number;
  stats: AnswerStats;
  /** Of the process up to then. */
  peakRssMiB: number;
}

const program = new Command('bench:first-question')
  .addOption(new Option('--runs <n>', 'fresh starts').default('5'))
  .addOption(new Option('--questions <n>', 'questions a run').default('2'))
  .addOption(new Option('--out <file>', 'where the JSON goes').default('bench/results/first-question.json'))
  .addOption(new Option('--data <folder>', 'ask once, in an app with this data folder').hideHelp())
  .parse();
const options = program.opts<{ runs: string; questions: string; out: string; data?: string }>();

if (options.data === undefined) {
  const rows = await askInProcesses();
  print(rows);
  writeResult('first-question', options.out, {
    rows,
    peakRssMiB: Math.max(...rows.map((row) => row.peakRssMiB)),
  });
} else process.send?.(await askFresh(options.data));

async function askInProcesses(): Promise<Row[]> {
  const rows: Row[] = [];
  for (let run = 0; run < Number(options.runs); run++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'kvasir-first-'));
    // The second start finds everything precomputed, the first one what it has just made.
    for (const start of ['fresh', 'again']) {
      const child = fork(import.meta.filename, ['--data', dataDir, '--questions', options.questions]);
      const [asked] = (await once(child, 'message')) as [Row[]];
      rows.push(...asked.map((row) => ({ ...row, start })));
      await once(child, 'exit');
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
  return rows;
}

async function askFresh(dataDir: string): Promise<Row[]> {
  return withApp(dataDir, async (app) => {
    const asked: Row[] = [];
    const questions = app.chat.suggestions().slice(0, Number(options.questions));
    for (const [i, question] of questions.entries()) {
      const stats = await ask(app, converse(app), question);
      asked.push({ start: '', number: i + 1, stats, peakRssMiB: peakRssMiB() });
    }
    return asked;
  });
}

function print(all: readonly Row[]): void {
  const parts = Object.keys(all[0]?.stats.ttftMs ?? {}) as (keyof AnswerStats['ttftMs'])[];
  const table = new Table({
    head: ['start', 'question', ...parts, 'full prefill', 'ram/disk/computed', 'peak RSS MiB'],
  });
  for (const { start, number, stats, peakRssMiB: peak } of all) {
    const { ram, disk, computed } = stats.chunkHits;
    table.push([
      start,
      number,
      ...parts.map((part) => stats.ttftMs[part].toFixed(1)),
      stats.fullPrefillMs?.toFixed(0) ?? '',
      `${ram}/${disk}/${computed}`,
      peak,
    ]);
  }
  console.log(table.toString());
}
