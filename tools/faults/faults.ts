/**
 * Causes failures with real processes on a separate data folder and checks that no data is lost.
 *
 *   npm run faults                       every fault, 10 times each
 *   npm run faults -- --rounds 50
 *   npm run faults -- --only restoring,disk   faults whose name contains one of these
 *   npm run faults -- --minutes 60 --seed 1   random calls that change files fail, in flows (Linux)
 *   npm run faults -- --seed 1 --rounds 50 --kind kill --flow ingest
 *   npm run faults -- --from DIR         begins with a copy of this data folder, not with an empty one: saves the sample library's KV
 *
 * After each round Kvasir starts again: uploaded documents, conversations and answers must exist, and a new answer must be correct. Exit
 * code 1 if any round fails. A fault is skipped if this machine lacks a requirement. Each fault is a file in list/ and a line below.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { messageOf } from '../../src-main/platform/failure.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { FaultSkipped, type Fault, type Place } from './fault.ts';
import { fill, requireKept } from './baseline.ts';
import { runCampaign, type CampaignOptions } from './disk/campaign.ts';
import { FLOW_NAMES } from './disk/flows.ts';
import { KINDS } from './disk/layer.ts';
import { craftedHeader } from './list/crafted-header.ts';
import { damagedDatabase } from './list/damaged-database.ts';
import { damagedDocuments } from './list/damaged-documents.ts';
import { damagedWeights } from './list/damaged-weights.ts';
import { forgedBackup } from './list/forged-backup.ts';
import { fullDisk } from './list/full-disk.ts';
import { fullDiskCache } from './list/full-disk-cache.ts';
import { impossibleHeader } from './list/impossible-header.ts';
import { killedAtWork } from './list/killed-at-work.ts';
import { killedBackingUp } from './list/killed-backing-up.ts';
import { killedLoading } from './list/killed-loading.ts';
import { killedReading } from './list/killed-reading.ts';
import { killedRestoring } from './list/killed-restoring.ts';
import { leftBehind } from './list/leftovers.ts';
import { lostCatalogue } from './list/lost-catalogue.ts';
import { modelChanged } from './list/model-changed.ts';
import { openFolder } from './list/open-folder.ts';
import { stolenCookie } from './list/stolen-cookie.ts';
import { strangeFiles } from './list/strange-files.ts';
import { swappedFile } from './list/swapped-file.ts';
import { wildSettings } from './list/wild-settings.ts';
import { RunningApp } from './running-app.ts';

const FAULTS: Fault[] = [
  killedAtWork,
  killedReading,
  killedLoading,
  killedRestoring,
  killedBackingUp,
  leftBehind,
  damagedDatabase,
  lostCatalogue,
  damagedDocuments,
  swappedFile,
  impossibleHeader,
  craftedHeader,
  modelChanged,
  damagedWeights,
  forgedBackup,
  wildSettings,
  fullDisk,
  fullDiskCache,
  strangeFiles,
  openFolder,
  stolenCookie,
];

const { values: args } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    kind: { type: 'string' },
    flow: { type: 'string' },
    at: { type: 'string' },
    from: { type: 'string' },
  },
});
const rounds = wholeNumber('--rounds', args.rounds);
const dir = mkdtempSync(join(tmpdir(), 'kvasir-faults-'));
if (args.seed !== undefined || args.minutes !== undefined) {
  const wrong = await runCampaign({ ...campaignOptions(), dir }).finally(() =>
    rmSync(dir, { recursive: true, force: true }),
  );
  process.exit(wrong === 0 ? 0 : 1);
}
const table = new Table({
  head: ['fault', 'what it covers', 'rounds', 'passed', 'failures'],
  colWidths: [20, 44, 8, 6, 52],
  wordWrap: true,
  style: { head: [], border: [] },
});
let lost = 0;
try {
  const filled = await prepare(join(dir, 'filled'));
  for (const fault of FAULTS.filter(({ name }) => args.only.split(',').some((part) => name.includes(part)))) {
    try {
      const wrong = await failuresOf(fault, filled);
      lost += wrong.length;
      const held = rounds - wrong.length;
      process.stderr.write(` ${fault.name}: ${held} of ${rounds}\n`); // keeps the results of a run that is interrupted
      table.push([fault.name, fault.covers, rounds, held, wrong.slice(0, 3).join('\n').slice(0, 600)]);
    } catch (error) {
      if (!(error instanceof FaultSkipped)) throw error;
      process.stderr.write(` ${fault.name}: skipped\n`);
      table.push([fault.name, fault.covers, '–', '–', `skipped: needs ${error.message}`]);
    }
  }
} finally {
  await RunningApp.endAll('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
}
process.stdout.write(`\n${table.toString()}\n`);
process.exitCode = lost === 0 ? 0 : 1;

function campaignOptions(): Omit<CampaignOptions, 'dir'> {
  const { minutes, seed, kind, flow, at, from } = args;
  return {
    seed: seed === undefined ? Date.now() % 1e6 : wholeNumber('--seed', seed),
    rounds: minutes === undefined ? rounds : Infinity,
    endMs: minutes === undefined ? Infinity : Date.now() + Number(minutes) * 60_000,
    kind: kind === undefined ? undefined : oneOf('--kind', KINDS, kind),
    flow: flow === undefined ? undefined : oneOf('--flow', FLOW_NAMES, flow),
    at: at === undefined ? undefined : wholeNumber('--at', at),
    from,
  };
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${flag} must be a whole number, 1 or more`);
  return number;
}

function oneOf<T extends string>(flag: string, all: readonly T[], text: string): T {
  const one = all.find((each) => each === text);
  if (one === undefined) throw new Error(`${flag} must be one of ${all.join(', ')}`);
  return one;
}

async function prepare(data: string) {
  if (args.from !== undefined) cpSync(args.from, data, { recursive: true });
  const app = await RunningApp.start(data);
  const known = await fill(app);
  await app.stop();
  return { data, known };
}

/** Failure messages, by round. Rejects with Skipped. */
async function failuresOf(fault: Fault, filled: Awaited<ReturnType<typeof prepare>>): Promise<string[]> {
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const why = await failureOf(fault, round, filled);
    if (why !== undefined) wrong.push(`round ${round}: ${why}`);
    process.stderr.write(why === undefined ? '.' : `\n${fault.name}, round ${round}: ${why}\n`);
  }
  return wrong;
}

/** Why a round failed; undefined if it passed. Rejects with Skipped. */
async function failureOf(
  fault: Fault,
  round: number,
  { data: filled, known }: Awaited<ReturnType<typeof prepare>>,
): Promise<string | undefined> {
  const data = join(dir, 'data');
  rmSync(data, { recursive: true, force: true });
  cpSync(filled, data, { recursive: true });
  const place: Place = { data, known, backup: known.backup.replace(filled, data), random: seeded(round) };
  try {
    await fault.run(place);
    await RunningApp.endAll('SIGTERM');
    const app = await RunningApp.start(data);
    try {
      await requireKept(app, known);
    } finally {
      await app.stop();
    }
    return undefined;
  } catch (error) {
    await RunningApp.endAll('SIGKILL');
    if (error instanceof FaultSkipped) throw error;
    return messageOf(error);
  }
}

/** Seeded by round: a round repeats exactly, and rounds differ from each other. */
function seeded(round: number): (n: number) => number {
  const next = randomFrom(round + 1);
  return (n) => Math.floor(next() * n);
}
