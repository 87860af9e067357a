import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PACKS, ROOT } from '../../tools/setup/platform.mjs';
import { probe } from '../../tools/setup/process.mjs';
import { checkTools } from '../../tools/setup/steps/tools.mjs';
import type { GpuOptions } from './options.ts';
import { LIBRARY, SOURCE, type BuildEnvironment } from './plan.ts';

/** Detects drivers, compilers and sources; changes nothing. */
export async function look(options: GpuOptions): Promise<BuildEnvironment> {
  const [driver, arch] = await Promise.all([smi('driver_version'), smi('compute_cap')]);
  // The same tools that setup built the engine with.
  const { cmake, generator } = await checkTools(() => undefined);
  const earlier = join(ROOT, SOURCE);
  return {
    backend: existsSync(join(PACKS, LIBRARY)),
    driver,
    arch: arch?.replace('.', ''),
    nvcc: await firstThatRuns(compilers()),
    cmake,
    generator,
    source: options.ggmlSource ?? (existsSync(earlier) ? SOURCE : undefined),
    cores: availableParallelism(),
  };
}

/** Queries a field of the first GPU with nvidia-smi. */
export async function smi(field: string): Promise<string | undefined> {
  return (await probe('nvidia-smi', [`--query-gpu=${field}`, '--format=csv,noheader']))?.trim();
}

function compilers(): string[] {
  const { CUDACXX, CUDA_HOME, CUDA_PATH } = process.env;
  const homes = [CUDA_HOME, CUDA_PATH, '/usr/local/cuda'].filter((home) => home !== undefined);
  return [
    ...(CUDACXX === undefined ? [] : [CUDACXX]),
    'nvcc',
    ...homes.map((home) => join(home, 'bin', 'nvcc')),
  ];
}

async function firstThatRuns(programs: string[]): Promise<string | undefined> {
  for (const program of programs) if ((await probe(program, ['--version'])) !== undefined) return program;
  return undefined;
}
