/**
 * Runs all GPU measurements with one command, on Linux with an NVIDIA GPU: provides ggml's CUDA backend (the prebuilt one if `npm run setup
 * -- --cuda` installed it, else built from the source of the same release for this GPU only), checks parity with the CPU and with
 * llama.cpp, then runs bench:ttft against llama.cpp on the same GPU.
 *
 *   npm run bench:gpu -- [--dry-run] [--steps backend,parity,bench] [--device auto] [--ggml-source DIR] [--arch 90]
 *                        [--shape 8b] [--types f16,q4_K] [--contexts 2048,4096,8192,16384] [--runs 3]
 *                        [--no-tiers] [--parity NAME] [--out-dir bench/results] [--again]
 *
 * --dry-run prints the commands and any missing requirements. The run can be stopped at any time: a step that succeeded is not repeated for
 * the same commit on the same GPU, unless --again is given, and a build resumes. --ggml-source (or KVASIR_GGML_SOURCE) names a checkout of
 * llama.cpp, or its folder ggml, for machines without a network. --device cpu runs everything on the CPU instead, as a smoke test: --device
 * cpu --shape 0.1b --types q8_0 --contexts 512 --runs 1 --parity "llama f16" --out-dir /tmp/gpu
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openWithPacks } from '../src-main/engine/packs.ts';
import { SetupError } from '../tools/setup/errors.mjs';
import { ROOT } from '../tools/setup/platform.mjs';
import { missingLibraries, provideBackend, sourceRoot } from './gpu/backend.ts';
import { look, smi } from './gpu/build-environment.ts';
import { gpuOptionsFrom, type GpuOptions } from './gpu/options.ts';
import { buildCommands, obstacles, scripts, type BuildEnvironment, type Script } from './gpu/plan.ts';
import { alreadyDone, readRecord, writeRecord, type GpuRecord } from './gpu/record.ts';
import { commit, machine, quoted } from './lib/machine.ts';

const say = (line: string): void => console.log(line);
const shown = ({ name, args }: Script): string => ['npm run', name, '--', ...args.map(quoted)].join(' ');

const recordOf = ({ outDir, shape }: GpuOptions): string => join(outDir, `gpu-${shape}.json`);

function printPlan(options: GpuOptions, found: BuildEnvironment): void {
  const wanted = options.device !== 'cpu' && options.steps.has('backend');
  if (wanted && found.backend) say('The CUDA backend is installed.');
  if (wanted && !found.backend) {
    if (found.source === undefined) say('Download the source of the pinned release.');
    const source = found.source === undefined ? undefined : sourceRoot(found.source);
    for (const { program, args } of buildCommands({ ...found, source }, options))
      say([program, ...args].map(quoted).join(' '));
    for (const why of obstacles(found, options)) say(`Missing: ${why}`);
  }
  const done = readRecord(recordOf(options))?.done ?? [];
  for (const script of scripts(options, options.device === 'auto' ? 'CUDA0' : options.device)) {
    const before = done.find(({ command }) => command === shown(script));
    say(`${script.does}${before ? ` (${before.seconds} s on ${before.date})` : ''}\n  ${shown(script)}`);
  }
}

/** The device's name in the engine's list. */
async function chooseDevice(wanted: string): Promise<string> {
  if (wanted === 'cpu') return wanted;
  const missing = await missingLibraries();
  if (missing.length > 0)
    throw new SetupError(
      `The CUDA backend cannot be loaded: ${missing.join(' and ')} not found. Add the folder to LD_LIBRARY_PATH.`,
    );
  const devices = openWithPacks().devices();
  const gpu = devices.find(({ name, kind }) => (wanted === 'auto' ? kind === 'gpu' : name === wanted));
  if (gpu) return gpu.name;
  throw new SetupError(
    `The engine finds ${wanted === 'auto' ? 'no GPU' : `no device called ${wanted}`}: it has ${devices.map(({ name }) => name).join(', ')}. The driver may be older than the CUDA runtime.`,
  );
}

/** Returns the duration in seconds. */
function runScript(script: Script): number {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, [join(ROOT, script.path), ...script.args], {
    stdio: 'inherit',
    cwd: ROOT,
  });
  if (status !== 0)
    throw new SetupError(
      `Failed (exit code ${status}): ${shown(script)}\nCompleted steps are kept; run the same command to resume.`,
    );
  return Math.round((performance.now() - start) / 1000);
}

/** Runs the scripts that this commit has not run on this GPU, and records each that succeeds. */
function runScripts(
  todo: readonly Script[],
  path: string,
  about: Omit<GpuRecord, 'done'>,
  again: boolean,
): void {
  const record = again ? undefined : readRecord(path);
  const now = commit();
  for (const [i, script] of todo.entries()) {
    const command = shown(script);
    const before = alreadyDone(record, { command, commit: now, gpu: about.gpu });
    say(`\n${i + 1}/${todo.length}  ${script.does}\n${command}`);
    if (before) {
      say(`Done on ${before.date} in ${before.seconds} s; --again runs it again.`);
      continue;
    }
    const seconds = runScript(script);
    say(`${i + 1}/${todo.length} took ${seconds} s.`);
    const date = new Date().toISOString();
    writeRecord(path, about, { command, commit: now, seconds, date, out: script.out });
  }
}

async function main(options: GpuOptions): Promise<void> {
  const found = await look(options);
  if (options.dryRun) {
    printPlan(options, found);
    return;
  }
  if (options.device !== 'cpu' && options.steps.has('backend')) await provideBackend(found, options, say);
  const todo = scripts(options, await chooseDevice(options.device));
  if (todo.length === 0) return;
  const path = recordOf(options);
  const about = {
    machine: { ...machine() },
    gpu: options.device === 'cpu' ? undefined : await smi('name,memory.total,driver_version'),
    nvcc: found.nvcc,
    command: ['npm run bench:gpu --', ...process.argv.slice(2).map(quoted)].join(' '),
  };
  runScripts(todo, path, about, options.again);
  say(`\nDone. Commands, times and machine data are in ${path}.`);
}

try {
  await main(gpuOptionsFrom(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof SetupError) && !(error instanceof TypeError)) throw error;
  console.error(error.message);
  if (error instanceof SetupError && error.details !== '') console.error(`\n${error.details}`);
  process.exitCode = 1;
}
