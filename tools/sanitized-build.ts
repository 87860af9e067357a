/** Builds native programs with sanitizers, in a folder beside build/native. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './setup/platform.mjs';

/** address: with undefined behaviour. thread: data races. fuzzer: the first two with libFuzzer, which only Clang has. */
type Sanitizer = 'address' | 'thread' | 'fuzzer';

/** Returns the build's folder. Throws if a program is missing or the build fails. */
export function sanitizedBuild(sanitizer: Sanitizer, targets: readonly string[]): string {
  const folder = join(ROOT, 'build', `sanitize-${sanitizer}`);
  const compiler = sanitizer === 'fuzzer' ? [`-DCMAKE_CXX_COMPILER=${clang()}`] : [];
  // Optimised less than a release, so that reports name lines; the sanitizers would be too slow without any.
  const flags = ['-DCMAKE_BUILD_TYPE=None', '-DCMAKE_CXX_FLAGS=-O1', `-DKVASIR_SANITIZE=${sanitizer}`];
  run('cmake', ['-G', 'Ninja', '-S', 'native', '-B', folder, ...flags, ...compiler]);
  run('cmake', ['--build', folder, '--target', ...targets]);
  return folder;
}

function clang(): string {
  const name = process.env['CLANG'] ?? 'clang++';
  if (spawnSync(name, ['--version']).status === 0) return name;
  throw new Error(
    `${name} was not found. Fuzzing needs Clang with its sanitizers; on Debian: apt-get install clang libclang-rt-14-dev. CLANG names another one.`,
  );
}

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? `exit code ${String(status)}`}`);
}
