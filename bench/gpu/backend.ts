import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from '../../tools/setup/errors.mjs';
import { GGML, PACKS, ROOT } from '../../tools/setup/platform.mjs';
import { mustRun, probe } from '../../tools/setup/process.mjs';
import { withSource } from '../../tools/setup/source.mjs';
import { place } from '../../tools/setup/steps/libraries.mjs';
import { BUILD, buildCommands, LIBRARY, obstacles, SOURCE, type BuildEnvironment } from './plan.ts';
import type { GpuOptions } from './options.ts';

/** Headers of the interface between a backend and the prebuilt libggml-base.so. */
const SHARED = [
  'include/ggml.h',
  'include/ggml-alloc.h',
  'include/ggml-backend.h',
  'src/ggml-backend-impl.h',
];

/** Puts libggml-cuda.so into build/ggml/packs, where the engine finds it. A SetupError names missing requirements. */
export async function provideBackend(
  found: BuildEnvironment,
  options: GpuOptions,
  say: (line: string) => void,
): Promise<void> {
  if (found.backend) {
    say(`${LIBRARY} is installed.`);
    return;
  }
  const [why] = obstacles(found, options);
  if (why !== undefined) throw new SetupError(why);
  const source = sourceRoot(found.source === undefined ? await fetchSource(say) : found.source);
  checkRelease(source);
  for (const { program, args } of buildCommands({ ...found, source }, options)) {
    say(`${program} ${args.join(' ')}`);
    await mustRun('The CUDA backend did not build.', program, args, { cwd: ROOT });
  }
  mkdirSync(PACKS, { recursive: true });
  place(join(ROOT, BUILD, 'bin', LIBRARY), join(PACKS, LIBRARY));
}

/** Libraries that the backend needs and the system lacks. */
export async function missingLibraries(): Promise<string[]> {
  const lines =
    (await probe('sh', ['-c', `ldd '${join(PACKS, LIBRARY)}' | grep 'not found' | tr '\\n' ';'`])) ?? '';
  const names = lines.split(';').map((line) => line.trim().split(' ')[0] ?? '');
  // libggml-base.so is already loaded when the backend is.
  return names.filter((name) => name !== '' && name !== 'libggml-base.so');
}

/** ggml's folder: the given folder itself, or that of a llama.cpp checkout. */
export function sourceRoot(folder: string): string {
  const root = [folder, join(folder, 'ggml')]
    .map((candidate) => resolve(ROOT, candidate))
    .find((candidate) => existsSync(join(candidate, 'src', 'ggml-cuda', 'CMakeLists.txt')));
  if (root === undefined)
    throw new SetupError(
      `${folder} is not ggml's source: neither it nor its folder ggml has src/ggml-cuda/CMakeLists.txt.`,
    );
  return root;
}

/** A backend from another release would not match the prebuilt libraries, and would crash instead of reporting it. */
function checkRelease(source: string): void {
  for (const header of SHARED) {
    const ours = readFileSync(join(GGML, 'include', header.replace(/^.*\//, '')), 'utf8');
    if (readFileSync(join(source, header), 'utf8') !== ours)
      throw new SetupError(
        `The source in ${source} is from a different release than the prebuilt libraries in build/ggml: ${header} differs. Omit --ggml-source to download the right one.`,
      );
  }
}

async function fetchSource(say: (line: string) => void): Promise<string> {
  await withSource(['ggml'], say, (source) => {
    // CMake's configure step needs this template, which the bundle omits; only an installation would read it.
    const template = join(source, 'ggml', 'ggml.pc.in');
    if (!existsSync(template)) writeFileSync(template, '');
    renameSync(join(source, 'ggml'), join(ROOT, SOURCE));
  });
  return SOURCE;
}
