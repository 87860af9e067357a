import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { probe } from '../setup/process.mjs';

/**
 * Splits the cores that this process may use into two halves, in `taskset`'s list format. Programs that run in parallel get one half each:
 * two programs whose threads wait for each other on shared cores slow each other down many times over. Undefined if there is only one core
 * or `taskset` is unavailable.
 */
export async function halvesOfCores(): Promise<[string, string] | undefined> {
  if (process.platform !== 'linux' || (await probe('taskset', ['--version'])) === undefined) return undefined;
  const status = readFileSync('/proc/self/status', 'utf8');
  const cores = coresOf(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '');
  const half = Math.floor(cores.length / 2);
  return half < 1 ? undefined : [cores.slice(0, half).join(), cores.slice(half).join()];
}

/**
 * Keeps this process, all of its threads and what it starts to the half `index`, 0 or 1, of its cores. Without halves it keeps its cores.
 */
export async function keepToHalf(index: number): Promise<void> {
  const cores = (await halvesOfCores())?.[index];
  if (cores !== undefined) await promisify(execFile)('taskset', ['-acp', cores, String(process.pid)]);
}

/** `0-2,5` → 0, 1, 2, 5. */
export function coresOf(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map((text) => (text === '' ? NaN : Number(text)));
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
