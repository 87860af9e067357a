import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../baseline.ts';
import { RunningApp } from '../running-app.ts';
import { FaultSkipped, type Fault } from '../fault.ts';

const PARAGRAPHS = 400_000;
const GONE_WITHIN_MS = 5000;

/** Killed while its parser process reads a long document. */
export const killedReading: Fault = {
  name: 'killed while reading',
  covers: 'SIGKILL while the parser is busy: the parser ends too, and the document is not lost',
  async run({ data, random }) {
    if (process.platform === 'win32') throw new FaultSkipped('a system that lists the parents of processes');
    const app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'Long' });
    const long = `<html><body>${'<p>A long day.</p>'.repeat(PARAGRAPHS)}</body></html>`;
    await app.upload(id, 'long.html', long);
    await until(async () => {
      const { current } = await app.call('queue.status', {});
      return current?.phase === 'reading' && current.path === 'long.html' ? true : undefined;
    });
    await sleep(random(300));
    const children = childrenOf(app.pid);
    await app.kill();
    for (let waited = 0; waited < GONE_WITHIN_MS && children.some(isRunning); waited += 100) await sleep(100);
    const left = children.filter(isRunning);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    const again = await RunningApp.start(data);
    const { total } = await again.call('documents.list', { libraryId: id });
    await again.call('libraries.delete', { id });
    if (children.length === 0) throw new Error('nothing was being read');
    if (left.length > 0) throw new Error(`process ${left.join(', ')} is still running`);
    if (total !== 1) throw new Error('the long document is lost');
  },
};

function childrenOf(parent: number): number[] {
  const rows = process.platform === 'linux' ? listedInProc() : listedByPs();
  return rows.flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));
}

function listedByPs(): number[][] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return rows.map((row) => row.trim().split(/\s+/).map(Number));
}

/** Minimal systems lack ps. */
function listedInProc(): number[][] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return [[Number(pid), Number(parent)]];
    } catch {
      return []; // it has ended
    }
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
