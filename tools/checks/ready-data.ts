import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Variable with the path of a data folder in its state after first use, which tests copy. */
const READY_DATA = 'KVASIR_READY_DATA';
const LOOK_MS = 50;

/**
 * Names the data folder that the processes started from here on share; returns a function that removes it. If it has a name, its owner
 * removes it: `npm test` runs several suites.
 */
export function shareReadyData(): () => void {
  const named = process.env[READY_DATA];
  if (named !== undefined) {
    rmSync(unready(named), { recursive: true, force: true }); // of a worker that was killed
    return () => undefined;
  }
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-ready-'));
  process.env[READY_DATA] = join(dir, 'data');
  return () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * The data folder. The first of several processes to need it makes it, and the others wait: `make` fills an empty folder. If it rejects, so
 * does this, and the next process tries.
 */
export async function madeOnce(make: (dir: string) => Promise<void>): Promise<string> {
  const dir = process.env[READY_DATA];
  if (dir === undefined) throw new Error(`${READY_DATA} is not set: call shareReadyData first.`);
  while (!existsSync(dir)) {
    if (!isFirst(unready(dir))) {
      await sleep(LOOK_MS);
      continue;
    }
    try {
      await make(unready(dir));
      renameSync(unready(dir), dir);
    } catch (error) {
      rmSync(unready(dir), { recursive: true, force: true });
      throw error;
    }
  }
  return dir;
}

function unready(dir: string): string {
  return `${dir}.tmp`;
}

function isFirst(dir: string): boolean {
  try {
    mkdirSync(dir);
    return true;
  } catch {
    return false;
  }
}
