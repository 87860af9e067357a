import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;

/**
 * A folder that the first of several processes to need it makes, and the others wait for. `make` fills an empty folder, which then gets the
 * name `dir`; if it rejects, so does this, and the next process tries.
 */
export async function madeOnce(dir: string, make: (dir: string) => Promise<void>): Promise<string> {
  const unready = `${dir}.tmp`;
  while (!existsSync(dir)) {
    if (!isFirst(unready)) {
      await sleep(LOOK_MS);
      continue;
    }
    try {
      await make(unready);
      renameSync(unready, dir);
    } catch (error) {
      rmSync(unready, { recursive: true, force: true });
      throw error;
    }
  }
  return dir;
}

function isFirst(dir: string): boolean {
  try {
    mkdirSync(dir);
    return true;
  } catch {
    return false;
  }
}
