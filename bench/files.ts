/**
 * Whether a document costs as much among twenty thousand as among two thousand: the real app reads, cuts and computes folders of so
 * many small files; printed are the processor times of its main thread and of the whole process for each file, and what the first
 * pages of the library and of the cache cost then.
 *
 *   npm run bench:files -- [--files 2000,20000] [--words 12] [--out FILE]
 *
 * Linux only: processor times are read from /proc. The parser's process is not in them.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { randomFrom } from '../src-main/testing/random.ts';
import { RunningApp } from '../tools/faults/running-app.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    files: { type: 'string', default: '2000,20000' },
    words: { type: 'string', default: '12' },
    out: { type: 'string' },
  },
});
const SYLLABLES = ['ka', 'lo', 'mi', 'ter', 'un', 'ves', 'ra', 'po', 'sin', 'da', 'gel', 'or'];
/** Of the kernel's clock, in which /proc counts. */
const TICK_MS = 10;
const PAGE = { search: '', offset: 0, limit: 50 };

interface Row {
  files: number;
  seconds: number;
  mainMsPerFile: number;
  processMsPerFile: number;
  libraryPageMs: number;
  cachePageMs: number;
}

function writeFiles(folder: string, count: number): void {
  const random = randomFrom(count);
  const word = (): string =>
    Array.from({ length: 2 + Math.floor(random() * 2) }, () => SYLLABLES[Math.floor(random() * 12)]).join('');
  for (let i = 0; i < count; i++) {
    const dir = join(folder, `folder-${i % 100}`);
    if (i < 100) mkdirSync(dir, { recursive: true });
    const text = Array.from({ length: Number(args.words) }, word).join(' ');
    writeFileSync(join(dir, `document-${i}.txt`), `Document ${i}. ${text}.\n`);
  }
}

/** User and system time of a process or of one of its threads, in milliseconds. */
function cpuMs(path: string): number {
  const fields = readFileSync(`${path}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The most that one page took, of five, of which each was asked for when the last list was too old to be used again. */
async function pageMs(app: RunningApp, ask: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let i = 0; i < 5; i++) {
    await sleep(i === 0 ? 0 : 4000);
    const before = cpuMs(`/proc/${app.pid}`);
    await ask();
    costs.push(cpuMs(`/proc/${app.pid}`) - before);
  }
  return Math.max(...costs);
}

async function measure(count: number): Promise<Row> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-files-'));
  writeFiles(join(dir, 'documents'), count);
  const app = await RunningApp.start(join(dir, 'data'));
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3;) {
      const { waiting, active, total } = await app.call('queue.status', {});
      quiet = waiting + active === 0 && total > 0 ? quiet + 1 : 0;
      await sleep(500);
    }
  };
  try {
    await idle(); // the sample library
    const { id } = await app.call('libraries.create', { name: 'Files' });
    const [process, thread] = [`/proc/${app.pid}`, `/proc/${app.pid}/task/${app.pid}`];
    const [began, before, beforeMain] = [performance.now(), cpuMs(process), cpuMs(thread)];
    await app.call('libraries.addPaths', { id, paths: [join(dir, 'documents')] });
    await sleep(2000);
    await idle();
    const { total } = await app.call('documents.list', { libraryId: id, limit: 1 });
    if (total !== count) throw new Error(`${total} documents of ${count} files`);
    return {
      files: count,
      seconds: (performance.now() - began) / 1000,
      mainMsPerFile: (cpuMs(thread) - beforeMain) / count,
      processMsPerFile: (cpuMs(process) - before) / count,
      libraryPageMs: await pageMs(app, () => app.call('documents.list', { libraryId: id, limit: 50 })),
      cachePageMs: await pageMs(app, () => app.call('cache.documents', PAGE)),
    };
  } finally {
    await app.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const rows: Row[] = [];
for (const count of args.files.split(',')) rows.push(await measure(Number(count)));
const table = new Table({
  head: [
    'files',
    'seconds',
    'main thread, ms a file',
    'process, ms a file',
    'library page, ms',
    'cache page, ms',
  ],
});
for (const { files, seconds, ...ms } of rows)
  table.push([files, seconds.toFixed(0), ...Object.values(ms).map((value) => value.toFixed(1))]);
console.log(table.toString());
writeResult('files', args.out, { words: Number(args.words), rows });
