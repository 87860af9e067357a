/**
 * Measures the attention kernels' speed, next to this machine's measured peak.
 *
 *   npm run bench:attention -- [--threads N] [--rows 1,32,256,2048] [--keys 1024,4096,16384] [--kernels avx512,avx2,ggml]
 *                              [--kv f16,q8_0] [--seconds 0.5] [--problems 60] [--out FILE.json]
 *
 * First compares each kernel with the definition in double precision on random problems. Times are CPU times of the busiest thread: other
 * programs slow memory and caches, but their CPU time is not counted.
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
    kv: { type: 'string', default: 'f16,q8_0' },
    seconds: { type: 'string', default: '0.5' },
    problems: { type: 'string', default: '60' },
    out: { type: 'string', default: join('bench', 'results', 'attention.json') },
  },
});

/** Output of native/tools/attention.cc. */
interface KernelMeasurements {
  threads: number;
  shape: { heads: number; group: number; headDim: number };
  /** Sum over all threads. */
  peaks: { name: string; gflops: number }[];
  kernels: {
    kernel: string;
    kv: string;
    rows: number;
    keys: number;
    ms: number;
    gflops: number;
    gbPerSecond: number;
  }[];
  peakRssMiB: number;
}

/** Output of native/tools/accuracy.cc: absolute errors of results up to 3. */
interface Accuracy {
  kernel: string;
  kv: string;
  rows: 'one' | 'several';
  largest: number;
  mean: number;
}

const { out, problems, ...passed } = args;
const flags = Object.entries(passed).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
const root = join(import.meta.dirname, '..');
/** Runs a program of native/tools and parses its output. */
const run = (program: string, ...of: string[]): unknown =>
  JSON.parse(
    execFileSync(join(root, 'build', 'native', program), of, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );

const before = machine();
const accuracy = run('kvasir-accuracy', '--problems', problems) as Accuracy[];
const errors = new Table({
  head: ['kernel', 'KV', 'rows', 'largest error', 'mean'],
  style: { head: [], border: [] },
  colAligns: ['left', 'left', 'left', 'right', 'right'],
});
for (const a of accuracy)
  errors.push([a.kernel, a.kv, a.rows, a.largest.toExponential(1), a.mean.toExponential(1)]);
console.log(errors.toString());

const measured = run('kvasir-attention', ...flags) as KernelMeasurements;

const peak = Math.max(...measured.peaks.map((p) => p.gflops));
console.log(measured.peaks.map((p) => `peak ${p.name}: ${p.gflops.toFixed(0)} GFLOP/s`).join(', '));
const table = new Table({
  head: ['kernel', 'KV', 'rows', 'keys', 'ms', 'GFLOP/s', 'of the peak', 'GB/s of KV'],
  style: { head: [], border: [] },
  colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
});
for (const k of measured.kernels) {
  table.push([
    k.kernel,
    k.kv,
    k.rows,
    k.keys,
    k.ms.toFixed(2),
    k.gflops.toFixed(0),
    `${((100 * k.gflops) / peak).toFixed(0)} %`,
    k.rows === 1 ? k.gbPerSecond.toFixed(1) : '',
  ]);
}
console.log(table.toString());
console.log(`peak RSS ${measured.peakRssMiB} MiB`);

mkdirSync(dirname(out), { recursive: true });
writeFileSync(
  out,
  JSON.stringify({ commit: commit(), machine: before, ...measured, accuracy }, null, 1) + '\n',
);
console.log(`written to ${out}`);
