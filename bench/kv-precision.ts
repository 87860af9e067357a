/**
 * What keeping the KV of conversations in q8_0 costs in exactness and gives in speed, for every attention kernel.
 *
 *   npm run bench:kv-precision -- [--contexts 4096,16384] [--shape 0.6b] [--threads N] [--tokens 16] [--rounds 3]
 *                                 [--kernels avx512-bf16,avx512,avx2,generic,ggml] [--skip-decode] [--out FILE.json]
 *
 * Exactness: the demo model's distributions of the next token behind excerpts of the sample library, against those of the
 * portable kernel over f16 (KL in nats; `one row`: the last tokens of the prompt came one by one, as in decoding). Speed:
 * tokens a second of a model of that shape with random weights; kernel after kernel, the precisions in turn.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { KvDtype } from '../src-main/engine/engine.ts';
import { klDivergence, likeliest } from '../src-main/fusion/quality.ts';
import { shapedModel } from '../tools/random-model/random-model.ts';
import type { DecodeSpeed } from './kv-precision/decode.ts';
import type { PromptLogits } from './kv-precision/logits.ts';
import { commit, machine } from './lib/machine.ts';

const { values: args } = parseArgs({
  options: {
    contexts: { type: 'string', default: '4096,16384' },
    shape: { type: 'string', default: '0.6b' },
    threads: { type: 'string', default: '0' },
    tokens: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    kernels: { type: 'string', default: 'avx512-bf16,avx512,avx2,generic,ggml' },
    'skip-decode': { type: 'boolean', default: false },
    out: { type: 'string', default: join('bench', 'results', 'kv-precision.json') },
  },
});

const REFERENCE = { kernel: 'generic', kv: 'f16' } as const;
const PRECISIONS: readonly KvDtype[] = ['f16', 'q8_0'];
const kernels = args.kernels.split(',');

/** Runs a program of kv-precision/ with an attention kernel. */
function run(kernel: string, program: string, ...of: string[]): unknown {
  const path = join(import.meta.dirname, 'kv-precision', program);
  const env = { ...process.env, KVASIR_ATTENTION: kernel };
  const output = execFileSync(process.execPath, [path, ...of], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(output);
}

const logitsOf = (kernel: string, kv: KvDtype): PromptLogits[] =>
  (run(kernel, 'logits.ts', kv) as { results: PromptLogits[] }).results;

interface Exactness {
  kernel: string;
  kv: KvDtype;
  rows: 'several' | 'one';
  meanKl: number;
  largestKl: number;
  /** Prompts whose likeliest token is the same. */
  sameToken: number;
  prompts: number;
}

function compare(a: readonly number[][], b: readonly number[][]) {
  const pairs = a.map((x, i) => [Float32Array.from(x), Float32Array.from(b[i] ?? [])] as const);
  const kl = pairs.map(([x, y]) => klDivergence(x, y));
  return {
    meanKl: kl.reduce((sum, each) => sum + each, 0) / kl.length,
    largestKl: Math.max(...kl),
    sameToken: pairs.filter(([x, y]) => likeliest(x) === likeliest(y)).length,
    prompts: pairs.length,
  };
}

const host = machine();
const reference = logitsOf(REFERENCE.kernel, REFERENCE.kv);
const exactness = kernels.flatMap((kernel) =>
  PRECISIONS.flatMap((kv): Exactness[] => {
    const found = logitsOf(kernel, kv);
    const many = compare(reference.map((r) => r.many), found.map((r) => r.many)); // prettier-ignore
    const single = compare(reference.map((r) => r.single), found.map((r) => r.single)); // prettier-ignore
    return [
      { kernel, kv, rows: 'several', ...many },
      { kernel, kv, rows: 'one', ...single },
    ];
  }),
);
const table = new Table({
  head: ['kernel', 'KV', 'rows', 'mean KL', 'largest KL', 'same token'],
  style: { head: [], border: [] },
});
for (const e of exactness)
  table.push([
    e.kernel,
    e.kv,
    e.rows,
    e.meanKl.toExponential(1),
    e.largestKl.toExponential(1),
    `${e.sameToken}/${e.prompts}`,
  ]);
console.log(table.toString());

const path = shapedModel(args.shape, 'q8_0', 32768);
const speeds = (args['skip-decode'] ? [] : kernels).map((kernel) => ({
  kernel,
  speeds: run(
    kernel,
    'decode.ts',
    ...[path, args.threads, args.tokens, args.rounds, ...args.contexts.split(',')],
  ) as DecodeSpeed[],
}));
const decode = new Table({ head: ['kernel', 'KV', 'context', 'tokens/s'], style: { head: [], border: [] } });
for (const { kernel, speeds: of } of speeds)
  for (const s of of) decode.push([kernel, s.kv, s.context, s.tokensPerSecond.toFixed(2)]);
if (speeds.length) console.log(decode.toString());

mkdirSync(dirname(args.out), { recursive: true });
writeFileSync(
  args.out,
  JSON.stringify({ commit: commit(), machine: host, exactness, speeds }, null, 1) + '\n',
);
console.log(`written to ${args.out}`);
