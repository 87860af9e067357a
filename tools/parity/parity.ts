/**
 * Compares our engine with llama.cpp's own llama_decode and with itself.
 *
 *   npm run parity                      every architecture and weight type, on tiny models with random weights
 *   npm run parity -- --quick           one model of every family
 *   npm run parity -- --model F.gguf    one model, optionally with the LoRA adapter --adapter A.gguf
 *   npm run parity -- --only qwen3      random models whose name contains this
 *   npm run parity -- --device CUDA0    our engine on this device, also compared with the CPU
 *   npm run parity -- --small --device Vulkan0
 *                                       the same with smaller models, prompts and answers: an emulated device (Mesa's lavapipe)
 *                                       takes minutes for it
 *   npm run parity -- --only q8_0 --kernels amx,avx512-int8,avx512-bf16,avx512-vnni,avx512,avx-int8,avx-vnni,avx2,generic,ggml
 *                                       repeats the run with the kernels of each instruction set
 *
 * Exit code 1 if a bound is missed.
 */
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Engine } from '../../src-main/engine/engine.ts';
import { openWithPacks } from '../../src-main/engine/packs.ts';
import { messageOf } from '../../src-main/platform/failure.ts';
import { allCases, type ParityCase, quickCases } from './cases.ts';
import { type CheckResult, checkModel, SMALL_EXTENT } from './checks.ts';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    adapter: { type: 'string' },
    only: { type: 'string', default: '' },
    device: { type: 'string', default: 'cpu' },
    kernels: { type: 'string' },
    quick: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
  },
});

// Maps matrix kernels without an attention counterpart to the attention kernel to use, and vice versa.
const ATTENTION: Record<string, string> = {
  'avx512-int8': 'avx512',
  'avx512-vnni': 'avx512',
  'avx-int8': 'avx2',
  'avx-vnni': 'avx2',
  'avx2-int16': 'avx2',
};
const MATMUL: Record<string, string> = { generic: 'ggml' };

// A process selects its kernels once.
if (args.kernels) {
  const failed = args.kernels.split(',').filter((kernel) => {
    console.log(`\n${kernel}`);
    const rest = [
      ...(args.model ? ['--model', args.model] : []),
      ...(args.adapter ? ['--adapter', args.adapter] : []),
      ...(args.quick ? ['--quick'] : []),
      ...(args.small ? ['--small'] : []),
      '--only',
      args.only,
    ];
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

function cases(): ParityCase[] {
  if (args.model) {
    const path = args.model;
    const types = Object.keys(Engine.open().inspect(path).tensorTypes);
    const exact = types.every((t) => t === 'f32' || t === 'f16');
    const { adapter } = args;
    const on = adapter === undefined ? {} : { adapter: () => adapter };
    return [{ name: basename(path), path: () => path, exact, ...on }];
  }
  const { quick, small } = args;
  return (quick || small ? quickCases({ small }) : allCases()).filter((c) => c.name.includes(args.only));
}

/** An error is a failed check, so that a device without a kernel for one type is still compared in the others. */
async function checked(c: ParityCase): Promise<CheckResult[]> {
  try {
    return await checkModel(engine, c.path(), c.exact, {
      device: args.device,
      adapter: c.adapter?.(),
      ...(args.small && SMALL_EXTENT),
    });
  } catch (error) {
    return [{ name: 'runs', difference: NaN, bound: 0, ok: false, note: messageOf(error) }];
  }
}

const engine = openWithPacks();
const table = new Table({
  head: ['model', 'check', 'max |Δ| / range', 'bound', '', 'note'],
  style: { head: [], border: [], compact: true },
  colAligns: ['left', 'left', 'right', 'right', 'left', 'left'],
});
const failed: string[] = [];
let total = 0;
for (const c of cases()) {
  const results = await checked(c);
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
    ? `All ${total} checks passed.`
    : `${failed.length} of ${total} checks failed:\n  ${failed.join('\n  ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
