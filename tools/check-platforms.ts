/**
 * Compiles the native code for Windows and macOS, from Linux: whether it uses calls, headers or types that are not there.
 * Nothing is linked or run, and Microsoft's compiler, which builds it on Windows, may find more.
 *
 *   npm run check:platforms -- [windows|macos]
 *
 * Windows needs MinGW's compiler (Debian: `apt-get install g++-mingw-w64-x86-64`), macOS needs zig, which brings the system's
 * headers (on PATH, or named by KVASIR_ZIG). A platform whose compiler is not there is skipped, and the last line says so.
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
  /** To see whether it is there. */
  probe: string;
  args: string[];
  /** Sources that are not compiled there; see native/CMakeLists.txt. */
  leftOut: RegExp;
}

/** What needs instructions that the platform's processor has not, and what is for Linux alone. */
const WIDE = /_(avx\w*|amx)\.cc$|\/guard\.cc$/;

const PLATFORMS: Platform[] = [
  {
    name: 'windows',
    program: 'x86_64-w64-mingw32-g++-posix',
    probe: '--version',
    args: ['-DNOMINMAX', '-DWIN32_LEAN_AND_MEAN'],
    // Microsoft's compiler gets no kernels, and the stand-in for a GPU guards its memory by mmap.
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

/** What the compiler says of a file, and whether it compiled. */
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

/** How many files did not compile. */
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
  throw new TypeError(`Name one of ${PLATFORMS.map(({ name }) => name).join(', ')}.`);
mkdirSync(scratch, { recursive: true });
const there = platforms.filter(has);
let failed = 0;
for (const platform of there) failed += await check(platform);
rmSync(scratch, { recursive: true, force: true });
const skipped = platforms.filter((platform) => !there.includes(platform));
for (const { name, program } of skipped) console.log(`${name}: skipped, there is no ${program}.`);
if (failed > 0 || there.length === 0) process.exitCode = 1;
