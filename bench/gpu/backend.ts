import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from '../../tools/setup/errors.mjs';
import { GGML, PACKS, ROOT } from '../../tools/setup/platform.mjs';
import { mustRun, probe } from '../../tools/setup/process.mjs';
import { withSource } from '../../tools/setup/source.mjs';
import { place } from '../../tools/setup/steps/libraries.mjs';
import { BUILD, buildCommands, LIBRARY, obstacles, SOURCE, type Found } from './plan.ts';
import type { GpuOptions } from './options.ts';

/** Headers by which a backend and the prebuilt libggml-base.so understand each other. */
const SHARED = [
  'include/ggml.h',
  'include/ggml-alloc.h',
  'include/ggml-backend.h',
  'src/ggml-backend-impl.h',
];

/** Puts libggml-cuda.so into build/ggml/packs, where the engine finds it. SetupError says what is missing. */
export async function provideBackend(
  found: Found,
  options: GpuOptions,
  say: (line: string) => void,
): Promise<void> {
  if (found.backend) {
    say(`${LIBRARY} is there.`);
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

/** Libraries that the backend wants and the system does not have. */
export async function missingLibraries(): Promise<string[]> {
  const lines =
    (await probe('sh', ['-c', `ldd '${join(PACKS, LIBRARY)}' | grep 'not found' | tr '\\n' ';'`])) ?? '';
  const names = lines.split(';').map((line) => line.trim().split(' ')[0] ?? '');
  // Loaded by then, by that name.
  return names.filter((name) => name !== '' && name !== 'libggml-base.so');
}

/** ggml's own folder of what was named: that itself, or a checkout of llama.cpp. */
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

/** A backend of another release would not fit the prebuilt libraries, and would crash rather than say so. */
function checkRelease(source: string): void {
  for (const header of SHARED) {
    const ours = readFileSync(join(GGML, 'include', header.replace(/^.*\//, '')), 'utf8');
    if (readFileSync(join(source, header), 'utf8') !== ours)
      throw new SetupError(
        `The source in ${source} is of another release than the prebuilt libraries in build/ggml: ${header} differs. Leave --ggml-source out to have the right one downloaded.`,
      );
  }
}

async function fetchSource(say: (line: string) => void): Promise<string> {
  await withSource(['ggml'], say, (source) => {
    // Configuring wants this template, which the bundle leaves out; only an installation would read it.
    const template = join(source, 'ggml', 'ggml.pc.in');
    if (!existsSync(template)) writeFileSync(template, '');
    renameSync(join(source, 'ggml'), join(ROOT, SOURCE));
  });
  return SOURCE;
}
