import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

export { median } from '../../src-main/fusion/averages.ts';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  platform: string;
  loadBefore: number;
}

export function machine(): Machine {
  const list = cpus();
  return {
    cpu: list[0]?.model ?? 'unknown',
    cores: list.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** CPU time since boot, all cores, in ticks; `stolen` went to the hypervisor's other guests. */
interface Ticks {
  all: number;
  stolen: number;
}

/** Zeros if the system does not report it. */
export function cpuTicks(): Ticks {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 };
  } catch {
    return { all: 0, stolen: 0 };
  }
}

/** Steal time since `before`, in percent of all CPU time. */
export function stealPercent(before: Ticks): number {
  const now = cpuTicks();
  return (100 * (now.stolen - before.stolen)) / Math.max(1, now.all - before.all);
}

export function commit(): string {
  try {
    const id = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const dirty = execFileSync('git', ['status', '--porcelain', '-uno'], { encoding: 'utf8' }).trim();
    return dirty ? `${id}+changes` : id;
  } catch {
    return 'unknown';
  }
}

export function peakRssMiB(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}

/** An argument quoted for a shell. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
