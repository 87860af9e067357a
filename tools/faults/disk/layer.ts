import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Built from native/tools/faults/, which explains the kinds. */
const LAYER = join(import.meta.dirname, '..', '..', '..', 'build', 'native', 'kvasir-faults.so');

export const KINDS = ['kill', 'tear', 'lose', 'full', 'error', 'interrupt'] as const;
export type Kind = (typeof KINDS)[number];

/** At the `at`-th call that changes a file, from 1. */
export interface DiskFault {
  kind: Kind;
  at: number;
}

/** A call that changed a file, or was to. */
export interface Call {
  name: string;
  path: string;
  /** Of the file after it; -1: unknown. */
  size: number;
  isFault: boolean;
}

/** Whether this machine has the layer. */
export function hasLayer(): boolean {
  return existsSync(LAYER);
}

/** The environment of a process whose files below `folder` fail, or are only counted. `log` gets its calls. */
export function withFault(folder: string, log: string, fault?: DiskFault): Record<string, string> {
  return {
    LD_PRELOAD: LAYER,
    KVASIR_FAULTS_UNDER: folder,
    KVASIR_FAULTS_LOG: log,
    ...(fault && { KVASIR_FAULTS_AT: String(fault.at), KVASIR_FAULTS_KIND: fault.kind }),
  };
}

/** None of a process that ended before its first. */
export function readCalls(log: string): Call[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [, fault, name = '', size, path = ''] = /^(!?)\d+ (\w+) (-?\d+) (.*)$/.exec(line) ?? [];
    return { name, path, size: Number(size), isFault: fault === '!' };
  });
}

/** Milliseconds for which a process's main thread has waited for a processor: others may keep them busy. 0 if the system does not report it. */
export function starvedMs(pid: number | 'self'): number {
  const path = `/proc/${pid}/schedstat`;
  // CPU time, waiting time and number of turns; times in nanoseconds.
  const [, waited] = existsSync(path) ? readFileSync(path, 'utf8').split(' ') : [0, 0];
  return Number(waited) / 1e6;
}
