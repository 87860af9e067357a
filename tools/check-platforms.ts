/**
 * Compiles the native code for Windows and macOS on Linux, to find calls, headers and types that those platforms lack. Nothing is linked or
 * run, and Microsoft's compiler, which builds the Windows release, may find more.
 *
 *   npm run check:platforms -- [windows|macos]
 *
 * Windows needs MinGW's compiler (Debian: `apt-get install g++-mingw-w64-x86-64`), macOS needs zig, which includes the system headers (on
 * PATH, or named by KVASIR_ZIG). A platform whose compiler is missing is skipped with a message at the end.
 */
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const scratch = join(root, 'build', 'platforms');

interface Platform {
  name: string;
  program: string;
  /** Arguments that only test whether the compiler exists. */
  probe: string;
  args: string[];
  /** Sources that are not compiled for this platform; see native/CMakeLists.txt. */
  leftOut: RegExp;
}

/** Kernels for instructions that the platform's processor lacks, and Linux-only sources. */
const WIDE = /_(avx\w*|amx)\.cc$|\/(guard|libfuzzer|faults\/\w+)\.cc$/;

const PLATFORMS: Platform[] = [
  {
    name: 'windows',
    program: 'x86_64-w64-mingw32-g++-posix',
    probe: '--version',
    args: ['-DNOMINMAX', '-DWIN32_LEAN_AND_MEAN'],
    // Microsoft's compiler builds no kernels, and the simulated GPU guards its memory with mmap.
    leftOut: new RegExp(`${WIDE.source}|/kernel_\\w+\\.cc$|/(far_device|devices)\\.cc$`),
  },
  {
    name: 'macos',
    program: process.env.KVASIR_ZIG ?? 'zig',
    probe: 'version',
    args: ['c++', '-target', 'aarch64-macos'],
    leftOut: WIDE,
  },
];

const FLAGS = [
  ...[
    '-std=c++20',
    '-O0',
    '-Wall',
    '-Wextra',
    '-Wno-unused-parameter',
    '-Inative',
    '-isystem',
    'build/ggml/include',
  ],
  ...['-isystem', 'node_modules/node-addon-api', '-isystem', 'node_modules/node-api-headers/include'],
  ...[
    '-DNAPI_VERSION=9',
    '-DNAPI_CPP_EXCEPTIONS',
    '-DGGML_SHARED',
    '-DGGML_BACKEND_SHARED',
    '-DLLAMA_SHARED',
  ],
];

function has({ program, probe }: Platform): boolean {
  try {
    execFileSync(program, [probe], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the compiler's output for a file and whether it compiled. */
async function compile(
  { program, args, name }: Platform,
  source: string,
): Promise<{ ok: boolean; said: string }> {
  const object = join(scratch, `${name}-${source.replaceAll(/\W/g, '_')}.o`);
  try {
    const { stderr } = await promisify(execFile)(program, [...args, ...FLAGS, '-c', source, '-o', object], {
      cwd: root,
    });
    return { ok: true, said: stderr };
  } catch (error) {
    return { ok: false, said: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the number of files that failed to compile. */
async function check(platform: Platform): Promise<number> {
  const sources = globSync('native/**/*.cc', { cwd: root }).filter(
    (source) => !platform.leftOut.test(source),
  );
  const waiting = sources.values();
  let failed = 0;
  const work = async (): Promise<void> => {
    for (const source of waiting) {
      const { ok, said } = await compile(platform, source);
      if (!ok) failed++;
      if (said !== '') console.log(said.trimEnd());
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.log(`${platform.name}: ${sources.length - failed} of ${sources.length} files compile.`);
  return failed;
}

const wanted = process.argv[2];
const platforms = PLATFORMS.filter(({ name }) => wanted === undefined || name === wanted);
if (platforms.length === 0)
  throw new TypeError(`The platform must be one of ${PLATFORMS.map(({ name }) => name).join(', ')}.`);
mkdirSync(scratch, { recursive: true });
const there = platforms.filter(has);
let failed = 0;
for (const platform of there) failed += await check(platform);
rmSync(scratch, { recursive: true, force: true });
const skipped = platforms.filter((platform) => !there.includes(platform));
for (const { name, program } of skipped) console.log(`${name}: skipped, ${program} not found.`);
if (failed > 0 || there.length === 0) process.exitCode = 1;
