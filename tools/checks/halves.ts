import { readFileSync } from 'node:fs';
import { probe } from '../setup/process.mjs';

/**
 * The cores that this process may use, in two halves as `taskset` names them: what runs beside something else is held to one of them,
 * since two programs whose threads wait for each other in the same cores slow each other down many times over. Undefined where there is
 * one core, or where nothing can be held to some of them.
 */
export async function halvesOfCores(): Promise<[string, string] | undefined> {
  if (process.platform !== 'linux' || (await probe('taskset', ['--version'])) === undefined) return undefined;
  const status = readFileSync('/proc/self/status', 'utf8');
  const cores = coresOf(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '');
  const half = Math.floor(cores.length / 2);
  return half < 1 ? undefined : [cores.slice(0, half).join(), cores.slice(half).join()];
}

/** `0-2,5` → 0, 1, 2, 5. */
export function coresOf(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map((text) => (text === '' ? NaN : Number(text)));
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
