/**
 * How fast the attention kernels are, beside this machine's measured peak.
 *
 *   npm run bench:attention -- [--threads N] [--rows 1,32,256,2048] [--keys 1024,4096,16384] [--kernels avx512,avx2]
 *                              [--seconds 0.5] [--out FILE.json]
 *
 * Times are of the processor, of the thread that worked longest: other programs slow memory and caches, but are not counted.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { commit, machine } from './lib/machine.ts';

const { values: args } = parseArgs({
  options: {
    threads: { type: 'string' },
    rows: { type: 'string', default: '1,32,256,2048' },
    keys: { type: 'string', default: '1024,4096,16384' },
    kernels: { type: 'string' },
    seconds: { type: 'string', default: '0.5' },
    out: { type: 'string', default: join('bench', 'results', 'attention.json') },
  },
});

/** What native/tools/attention.cc prints. */
interface Measured {
  threads: number;
  shape: { heads: number; group: number; headDim: number };
  /** Of all threads together. */
  peaks: { name: string; gflops: number }[];
  kernels: { kernel: string; rows: number; keys: number; ms: number; gflops: number; gbPerSecond: number }[];
}

const { out, ...passed } = args;
const flags = Object.entries(passed).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
const program = join(import.meta.dirname, '..', 'build', 'native', 'kvasir-attention');
const before = machine();
const measured = JSON.parse(
  execFileSync(program, flags, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
) as Measured;

const peak = Math.max(...measured.peaks.map((p) => p.gflops));
console.log(measured.peaks.map((p) => `peak ${p.name}: ${p.gflops.toFixed(0)} GFLOP/s`).join(', '));
const table = new Table({
  head: ['kernel', 'rows', 'keys', 'ms', 'GFLOP/s', 'of the peak', 'GB/s of KV'],
  style: { head: [], border: [] },
  colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right'],
});
for (const k of measured.kernels) {
  table.push([
    k.kernel,
    k.rows,
    k.keys,
    k.ms.toFixed(2),
    k.gflops.toFixed(0),
    `${((100 * k.gflops) / peak).toFixed(0)} %`,
    k.rows === 1 ? k.gbPerSecond.toFixed(1) : '',
  ]);
}
console.log(table.toString());

mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, JSON.stringify({ commit: commit(), machine: before, ...measured }, null, 1) + '\n');
console.log(`written to ${out}`);
