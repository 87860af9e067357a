/**
 * The long life of one process: questions, edits of files, changes of the model, deletions of libraries, and sleeps, in random order.
 *
 *   npm run bench:life -- [--scale 1] [--seed 1] [--out FILE.json]
 *
 * At scale 1: 10,000 questions, 2,000 edits, 200 changes of the model, 500 deletions of libraries, 50 sleeps. The real server runs in a
 * separate process with tiny random models and caches at their budgets, and a connection like the window's. After each tenth, when nothing
 * is left to do, it measures resident memory, descriptors, threads and bytes on disk. Exits with an error if an action fails, or if the
 * process holds more after the last tenth than after the first: 2 % more memory, or one more descriptor or thread. Linux only.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../src-main/testing/random.ts';
import { settled } from '../tools/faults/baseline.ts';
import { RunningApp } from '../tools/faults/running-app.ts';
import { processFigures } from './lib/process.ts';
import { Progress } from './lib/progress.ts';
import { writeResult } from './lib/result.ts';
import { percentiles } from './serve/summary.ts';
import { growth, printLife, type LifeTenth } from './life/growth.ts';
import { Life } from './life/life.ts';
import { ACTIONS, schedule } from './life/schedule.ts';

const { values: args } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const scale = Number(args.scale);
if (!(scale > 0)) throw new TypeError('--scale must be a number above 0');
if (process.platform !== 'linux') throw new Error('bench:life reads /proc, which only Linux has.');
/** Helper processes end after a while without work, and memory is given back at the second half-minute of rest. */
const QUIET_MS = 70_000;

const random = randomFrom(Number(args.seed));
const dir = mkdtempSync(join(tmpdir(), 'kvasir-life-'));
const data = join(dir, 'data');
const app = await RunningApp.start(data);
try {
  const life = await Life.begin(app, join(dir, 'documents'), random);
  for (const action of ACTIONS) await life[action](); // loads what each needs
  const rows: LifeTenth[] = [];
  const tenths = schedule(scale, random);
  const progress = new Progress(tenths.length);
  for (const actions of tenths) {
    const ms: LifeTenth['ms'] = { question: [], edit: [], switch: [], deletion: [], sleep: [] };
    for (const action of actions) {
      const begin = performance.now();
      await life[action]();
      ms[action].push(performance.now() - begin);
    }
    await settled(app);
    await sleep(QUIET_MS);
    rows.push({ ...processFigures(app.pid), diskMiB: bytesBelow(data) / 2 ** 20, ms });
    progress.step();
  }
  printLife(rows);
  const grown = growth(rows);
  for (const each of grown) console.log(`grew: ${each}`);
  writeResult('life', args.out, {
    scale,
    actions: Object.fromEntries(
      ACTIONS.map((action) => [action, rows.flatMap(({ ms }) => ms[action]).length]),
    ),
    rows: rows.map(({ ms, ...row }) => ({
      ...row,
      ms: Object.fromEntries(ACTIONS.map((action) => [action, percentiles(ms[action])])),
    })),
    grown,
  });
  if (grown.length > 0) process.exitCode = 1;
} finally {
  await app.stop();
  rmSync(dir, { recursive: true, force: true });
}

function bytesBelow(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) =>
        sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}
