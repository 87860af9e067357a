/**
 * Holds our engine against llama.cpp's own llama_decode and against itself.
 *
 *   npm run parity                      every architecture and weight type, on tiny models with random weights
 *   npm run parity -- --model F.gguf    one model
 *   npm run parity -- --only qwen3      the random models whose name contains this
 *   npm run parity -- --device CUDA0    our side on this device, held against the processor as well
 *   npm run parity -- --only q8_0 --kernels avx512-bf16,avx512-vnni,avx512,avx-vnni,avx2-int16,avx2,generic,ggml
 *                                       with the kernels of one instruction set after another
 *
 * Exit code 1 when a bound is missed.
 */
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { type MkggufOptions, randomModel } from '../random-model/random-model.ts';
import { Engine } from '../../src-main/engine/engine.ts';
import { type CheckResult, checkModel } from './checks.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    only: { type: 'string', default: '' },
    device: { type: 'string', default: 'cpu' },
    kernels: { type: 'string' },
  },
});

// Of kernels for matrix products that attention has no counterpart to, and the other way round.
const ATTENTION: Record<string, string> = {
  'avx512-vnni': 'avx512',
  'avx-vnni': 'avx2',
  'avx2-int16': 'avx2',
};
const MATMUL: Record<string, string> = { amx: '', generic: 'ggml' };

// A process chooses its kernels once.
if (args.kernels) {
  const failed = args.kernels.split(',').filter((kernel) => {
    console.log(`\n${kernel}`);
    const rest = [...(args.model ? ['--model', args.model] : []), '--only', args.only];
    const env = {
      ...process.env,
      KVASIR_ATTENTION: ATTENTION[kernel] ?? kernel,
      KVASIR_MATMUL: MATMUL[kernel] ?? kernel,
    };
    return (
      spawnSync(process.execPath, [import.meta.filename, ...rest], { env, stdio: 'inherit' }).status !== 0
    );
  });
  console.log(failed.length === 0 ? 'All kernels pass.' : `Failed: ${failed.join(', ')}.`);
  process.exit(failed.length === 0 ? 0 : 1);
}

const ARCHITECTURES = ['llama', 'qwen2', 'qwen3'];
/** The other families, with what a model of each needs besides the shape. */
const FAMILIES: Record<string, MkggufOptions> = {
  mistral3: { rope: 'yarn', context: 512 },
  qwen3moe: {},
  phi3: { rope: 'longrope', context: 2048 },
  granite: {},
  smollm3: {},
  glm4: {},
  olmo2: {},
  qwen3vl: {},
  gemma3: { window: 96, layers: 7 },
  'gpt-oss': { window: 96, rope: 'yarn', context: 512 },
};
const FAMILY_TYPES = ['f32', 'f16', 'q8_0', 'q4_K'];
/** Where weights are rounded, so that no rounding decides which experts are used: f32 and f16 show that they are chosen well. */
const ALL_EXPERTS: Record<string, MkggufOptions> = {
  qwen3moe: { 'experts-used': 8 },
  'gpt-oss': { 'experts-used': 8 },
};
/** Types that no kernel of ours reads, by one family; experts of gpt-oss come as MXFP4. */
const OTHER_TYPES = [
  'q2_K',
  'q3_K',
  'q4_1',
  'q5_0',
  'q5_1',
  'iq1_s',
  'iq1_m',
  'iq2_xxs',
  'iq2_xs',
  'iq2_s',
  'iq3_xxs',
  'iq3_s',
  'iq4_nl',
  'iq4_xs',
  'tq1_0',
  'tq2_0',
];
const TYPES = ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_K', 'q5_K', 'q6_K'];
const SCALINGS = ['linear', 'yarn', 'llama3'];

interface Case {
  name: string;
  path: () => string;
  exact: boolean;
}

function cases(): Case[] {
  if (args.model) {
    const path = args.model;
    const types = Object.keys(Engine.open().inspect(path).tensorTypes);
    return [
      { name: basename(path), path: () => path, exact: types.every((t) => t === 'f32' || t === 'f16') },
    ];
  }
  const shape = { layers: 4, embd: 256, heads: 4, 'kv-heads': 2, 'head-dim': 64, ff: 512 };
  const exact = (type: string): boolean => type === 'f32' || type === 'f16';
  const plain = ARCHITECTURES.flatMap((arch) =>
    TYPES.map((type) => ({
      name: `${arch} ${type}`,
      path: () => randomModel({ arch, type, ...shape }),
      exact: exact(type),
    })),
  );
  const scaled = ARCHITECTURES.flatMap((arch) =>
    SCALINGS.filter((rope) => rope !== 'llama3' || arch === 'llama').map((rope) => ({
      name: `${arch} f16 rope ${rope}`,
      path: () => randomModel({ arch, type: 'f16', rope, untied: true, ...shape }),
      exact: true,
    })),
  );
  const families = Object.entries(FAMILIES).flatMap(([arch, more]) =>
    FAMILY_TYPES.map((type) => ({
      name: `${arch} ${type}`,
      path: () => randomModel({ arch, type, ...shape, ...more, ...(!exact(type) && ALL_EXPERTS[arch]) }),
      exact: exact(type),
    })),
  );
  const mxfp4 = { ...FAMILIES['gpt-oss'], ...ALL_EXPERTS['gpt-oss'], 'expert-type': 'mxfp4' };
  const types = [
    ...OTHER_TYPES.map((type) => ({
      name: `llama ${type}`,
      path: () => randomModel({ arch: 'llama', type, ...shape, ff: 512 }),
      exact: false,
    })),
    {
      name: 'gpt-oss mxfp4',
      path: () => randomModel({ arch: 'gpt-oss', type: 'q8_0', ...shape, ...mxfp4 }),
      exact: false,
    },
  ];
  return [...plain, ...scaled, ...families, ...types].filter((c) => c.name.includes(args.only));
}

const engine = Engine.open();
const table = new Table({
  head: ['model', 'check', 'max |Δ| / range', 'bound', '', 'note'],
  style: { head: [], border: [], compact: true },
  colAligns: ['left', 'left', 'right', 'right', 'left', 'left'],
});
const failed: string[] = [];
let total = 0;
for (const c of cases()) {
  const results: CheckResult[] = await checkModel(engine, c.path(), c.exact, { device: args.device });
  for (const [i, r] of results.entries()) {
    total++;
    if (!r.ok) failed.push(`${c.name}: ${r.name}`);
    const bound = r.bound === Infinity ? '–' : r.bound.toExponential(0);
    table.push([
      i === 0 ? c.name : '',
      r.name,
      r.difference.toExponential(1),
      bound,
      r.ok ? 'ok' : 'FAILED',
      r.note,
    ]);
  }
  process.stderr.write(`${c.name}: ${results.every((r) => r.ok) ? 'ok' : 'FAILED'}\n`);
}
console.log(table.toString());
console.log(
  failed.length === 0
    ? `All ${total} checks hold.`
    : `${failed.length} of ${total} checks failed:\n  ${failed.join('\n  ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
