import { readdirSync, readFileSync } from 'node:fs';

/** What a process holds; NaN if the system does not report it. */
export interface ProcessFigures {
  rssMiB: number;
  descriptors: number;
  threads: number;
}

export function processFigures(pid: number): ProcessFigures {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN);
    return {
      rssMiB: number('VmRSS') / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      threads: number('Threads'),
    };
  } catch {
    return { rssMiB: NaN, descriptors: NaN, threads: NaN };
  }
}
