import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { commit, machine, peakRssMiB } from './machine.ts';

/**
 * Ends a bench: writes its result as JSON, if a file was requested, with the fields common to all benches (`result` overrides them), and
 * prints the peak memory.
 */
export function writeResult(bench: string, out: string | undefined, result: Record<string, unknown>): void {
  const about = {
    command: `npm run bench:${bench} -- ${process.argv.slice(2).join(' ')}`.trim(),
    commit: commit(),
    machine: machine(),
    date: new Date().toISOString(),
    peakRssMiB: peakRssMiB(),
  };
  const whole = { ...about, ...result };
  console.log(`peak RSS ${whole.peakRssMiB} MiB${out ? `; written to ${out}` : ''}`);
  if (!out) return;
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(whole, null, 2)}\n`);
}
