import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { SetupError } from '../errors.mjs';
import { GGML_PACKAGES_VERSION } from '../pins.mjs';
import { GGML, isWindows, NODE_MODULES, platform, prebuiltDir, ROOT } from '../platform.mjs';
import { exportedNames } from '../pe-exports.mjs';
import { clearStamp, hash, isStampFresh, stampedOutputs, writeStamp } from '../stamps.mjs';

/** Copies ggml and libllama from the platform's package (checked by the lockfile) into the folder that the engine loads them from. */
export const libraries = /** @type {import('../setup.mjs').Step} */ ({
  name: 'libraries',

  isFresh() {
    return existsSync(prebuiltDir()) && isStampFresh('libraries', key());
  },

  async run() {
    const version = packageVersion();
    if (version !== GGML_PACKAGES_VERSION) {
      throw new SetupError(
        `package.json has @node-llama-cpp/${platform().ggml} ${version}, resources/gpu-packs.json has ${GGML_PACKAGES_VERSION}: the versions must match.`,
      );
    }
    const stale = stampedOutputs('libraries');
    clearStamp('libraries');
    for (const path of stale) rmSync(join(ROOT, path), { force: true });
    mkdirSync(GGML, { recursive: true });
    const names = readdirSync(prebuiltDir()).filter(isWanted);
    for (const name of names) place(join(prebuiltDir(), name), join(GGML, name));
    const definitions = isWindows ? names.filter(isLinked).map(writeModuleDefinition) : [];
    const outputs = [...names, ...definitions].map((name) => relative(ROOT, join(GGML, name)));
    writeStamp('libraries', key(), outputs);
    return `${names.length} prebuilt libraries of ggml and libllama`;
  },
});

/**
 * Puts a file in place atomically: a hard link if possible (the files are large), else a copy.
 *
 * @param {string} from
 * @param {string} to
 */
export function place(from, to) {
  const temporary = `${to}.new`;
  rmSync(temporary, { force: true });
  try {
    linkSync(from, temporary);
  } catch {
    copyFileSync(from, temporary);
  }
  renameSync(temporary, to);
}

function key() {
  return hash('libraries 1', platform().ggml, packageVersion() ?? '');
}

/** @returns {string | undefined} */
function packageVersion() {
  try {
    return JSON.parse(
      readFileSync(join(NODE_MODULES, '@node-llama-cpp', platform().ggml, 'package.json'), 'utf8'),
    ).version;
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function isWanted(name) {
  return /\.(so|dylib|dll)$/.test(name) && !name.includes('llama-common') && !name.includes('llama-addon');
}

/** @param {string} name true for libraries the engine is linked to, not for backends that ggml loads */
function isLinked(name) {
  return /^(ggml-base|ggml(\.[\w.]+)?|llama(\.[\w.]+)?)\.dll$/.test(name);
}

/**
 * The packages contain no import libraries for Windows; CMake makes them from these lists. Not tested on Windows yet. The DLLs also export
 * all C++ names, which must not be imported: only the C interface is listed.
 *
 * @param {string} name
 */
function writeModuleDefinition(name) {
  const definition = name.replace(/\.dll$/, '.def');
  const exports = exportedNames(readFileSync(join(GGML, name))).filter((symbol) =>
    /^(ggml|gguf|llama)_\w+$/.test(symbol),
  );
  writeFileSync(
    join(GGML, definition),
    `LIBRARY "${name}"\nEXPORTS\n${exports.map((symbol) => `  ${symbol}\n`).join('')}`,
  );
  return definition;
}
