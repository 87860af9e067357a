import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { SetupError } from '../errors.mjs';
import { GGML, NATIVE_BUILD, NATIVE_SOURCE, NODE_MODULES, ROOT, STATE } from '../platform.mjs';
import { lastLines, run } from '../process.mjs';
import { clearStamp, filesUnder, hash, isStampFresh, writeStamp } from '../stamps.mjs';

const LOG = join(STATE, 'native-build.log');

/** Compiles native/ into build/native. */
export const native = /** @type {import('../setup.mjs').Step} */ ({
  name: 'engine',

  isFresh() {
    return isStampFresh('native', key());
  },

  async run(tools, update) {
    const before = key();
    clearStamp('native');
    discardForeignBuild(tools.generator[1]);
    mkdirSync(NATIVE_BUILD, { recursive: true });
    writeFileSync(LOG, '');
    update('configuring');
    const configure = [
      '-S',
      NATIVE_SOURCE,
      '-B',
      NATIVE_BUILD,
      ...tools.generator,
      '-DCMAKE_BUILD_TYPE=Release',
    ];
    await logged(tools.cmake, configure);

    let compiled = 0;
    const build = [
      '--build',
      NATIVE_BUILD,
      '--config',
      'Release',
      '--parallel',
      String(Math.max(2, availableParallelism())),
    ];
    await logged(tools.cmake, build, (line) => {
      // Ninja prints [12/40], make prints [ 30%].
      const progress = /^\[\s*(\d+(?:\/\d+|%))\]/.exec(line)?.[1];
      if (progress !== undefined) update(`compiling ${progress}`);
      if (/Building CXX object|\.cc$/.test(line)) compiled += 1;
    });

    const addon = join(NATIVE_BUILD, 'kvasir.node');
    const hasAddon = filesUnder(NATIVE_SOURCE).some((path) => /[/\\]addon[/\\][^/\\]+\.cc$/.test(path));
    if (hasAddon && !existsSync(addon)) {
      throw new SetupError(
        `The build ended without ${relative(ROOT, addon)}; its log is ${relative(ROOT, LOG)}.`,
      );
    }
    // If a file is saved during compilation, the next setup builds again.
    writeStamp('native', before, existsSync(addon) ? [relative(ROOT, addon)] : []);
    return compiled === 0 ? 'up to date' : `${compiled} files compiled`;
  },
});

/** Hashes everything the result depends on: sources, headers, libraries, the N-API wrapper, the requested compiler. */
function key() {
  const sources = filesUnder(NATIVE_SOURCE)
    .filter((path) => /\.(cc|cpp|c|h|hpp|inc|def|cmake|txt)$/.test(path))
    .sort();
  return hash(
    'native 1',
    ...sources.flatMap((path) => [relative(NATIVE_SOURCE, path), readFileSync(path, 'utf8')]),
    stamp('headers'),
    stamp('libraries'),
    packageVersion('node-addon-api'),
    packageVersion('node-api-headers'),
    process.env.CXX ?? '',
    process.env.CXXFLAGS ?? '',
  );
}

/** @param {string} command @param {string[]} args @param {(line: string) => void} [onLine] */
async function logged(command, args, onLine) {
  const { code, output } = await run(command, args, onLine === undefined ? {} : { onLine });
  writeFileSync(LOG, `$ ${command} ${args.join(' ')}\n${output}\n`, { flag: 'a' });
  if (code === 0) return;
  // Show the first error; ninja prints the command lines of the others after it.
  const lines = output.split('\n');
  const firstError = lines.findIndex((line) => /\berror\b[:\s]|CMake Error/.test(line));
  const shown =
    firstError < 0
      ? lastLines(output, 25)
      : lines.slice(Math.max(0, firstError - 2), firstError + 23).join('\n');
  throw new SetupError(`The native engine did not build; the whole log is ${relative(ROOT, LOG)}.`, shown);
}

/**
 * CMake refuses a build folder from another path (a moved clone) or another generator.
 *
 * @param {string | undefined} generator undefined: the system's default
 */
function discardForeignBuild(generator) {
  const cache = join(NATIVE_BUILD, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const lines = readFileSync(cache, 'utf8').split(/\r?\n/);
  const madeBy = lines.find((line) => line.startsWith('CMAKE_GENERATOR:'))?.split('=')[1];
  const same =
    lines.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${slashed(NATIVE_SOURCE)}`) &&
    lines.includes(`KVASIR_GGML_DIR:PATH=${slashed(GGML)}`) &&
    (generator === undefined ? madeBy !== 'Ninja' : madeBy === generator);
  if (!same) rmSync(NATIVE_BUILD, { recursive: true });
}

/** @param {string} step */
function stamp(step) {
  try {
    return readFileSync(join(STATE, `${step}.json`), 'utf8');
  } catch {
    return '';
  }
}

/** @param {string} name */
function packageVersion(name) {
  try {
    return JSON.parse(readFileSync(join(NODE_MODULES, name, 'package.json'), 'utf8')).version;
  } catch {
    return '';
  }
}

/** @param {string} path */
function slashed(path) {
  return path.replaceAll('\\', '/');
}
