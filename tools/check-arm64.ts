/**
 * Builds the native tests for 64-bit ARM and runs them under QEMU: this covers the NEON kernel and everything else that can break in a
 * build for another processor. Timings are meaningless there.
 *
 *   npm run check:arm64 -- [part of a test's name]
 *
 * The 12 tests named `attention`, including the build, take 6 minutes of CPU time. The full suite has never been run.
 *
 * Needs a cross compiler and QEMU user mode: on Debian `apt-get install g++-aarch64-linux-gnu qemu-user`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** Tests expect build/ggml and build/native/kvasir-mkgguf, -mklora and -splitgguf in their working directory. */
const tree = join(root, 'build', 'arm64');
const ggml = join(tree, 'build', 'ggml');
const build = join(tree, 'build', 'native');
const LIBRARIES = '@node-llama-cpp/linux-arm64';
const SYSROOT = '/usr/aarch64-linux-gnu';

const run = (program: string, args: string[], cwd = root): void => {
  execFileSync(program, args, { cwd, stdio: 'inherit' });
};

/** ggml's prebuilt libraries for 64-bit ARM, in the version that setup installs on this machine. */
function fetchLibraries(): void {
  if (existsSync(ggml)) return;
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const unpacked = join(tree, 'unpacked');
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const spec = `${LIBRARIES}@${manifest.optionalDependencies[LIBRARIES] ?? ''}`;
  const archive = execFileSync('npm', ['pack', '--silent', spec], { cwd: unpacked, encoding: 'utf8' }).trim();
  run('tar', ['xf', archive], unpacked);
  cpSync(join(unpacked, 'package', 'bins', 'linux-arm64'), ggml, { recursive: true });
  rmSync(unpacked, { recursive: true });
}

fetchLibraries();
cpSync(join(root, 'build', 'ggml', 'include'), join(ggml, 'include'), { recursive: true });
run('cmake', [
  ...['-S', 'native', '-B', build, '-G', 'Ninja'],
  ...['-DCMAKE_SYSTEM_NAME=Linux', '-DCMAKE_SYSTEM_PROCESSOR=aarch64'],
  ...['-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc', '-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++'],
  `-DKVASIR_GGML_DIR=${ggml}`,
]);
run('cmake', ['--build', build, '--target', 'kvasir-native-tests']);
// The host's own build of these tools makes the models: it writes the same bytes, faster.
for (const name of ['kvasir-mkgguf', 'kvasir-mklora', 'kvasir-splitgguf']) {
  const tool = join(build, name);
  if (!existsSync(tool)) symlinkSync(join(root, 'build', 'native', name), tool);
}
const emulator = existsSync('/usr/bin/qemu-aarch64') ? 'qemu-aarch64' : 'qemu-aarch64-static';
run(emulator, ['-L', SYSROOT, join(build, 'kvasir-native-tests'), ...process.argv.slice(2)], tree);
