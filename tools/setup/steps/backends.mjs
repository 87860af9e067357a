import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { withPackage } from '../download.mjs';
import { SetupError } from '../errors.mjs';
import { LIBRARY_FOLDERS, packPin } from '../pins.mjs';
import { GGML, isWindows, PACKS, platformName, ROOT } from '../platform.mjs';
import { probe } from '../process.mjs';
import { say } from '../report.mjs';
import { clearStamp, hash, isStampFresh, stampedOutputs, writeStamp } from '../stamps.mjs';
import { place } from './libraries.mjs';

/**
 * ggml's GPU backends, in the pinned release. Each is installed on request, and then kept up to date.
 *
 * @typedef {'vulkan' | 'cuda'} Backend
 * @typedef {import('../pins.mjs').PackPin} PackPin
 *
 * @typedef {object} Words
 * @property {string} title
 * @property {string} missing message for a missing driver
 */

/** @type {Record<Backend, Words>} */
const WORDS = {
  vulkan: {
    title: 'Vulkan',
    missing:
      "Vulkan's loader was not found (Linux: libvulkan.so.1, in the packages of your graphics driver or libvulkan1; Windows: vulkan-1.dll, from the graphics driver): install it, or run setup without --vulkan.",
  },
  cuda: {
    title: 'CUDA',
    missing:
      'No NVIDIA driver was found (neither its library nor nvidia-smi): install it, or run setup without --cuda.',
  },
};

/** @type {Backend[]} */
export const BACKEND_NAMES = ['vulkan', 'cuda'];

/** @param {Backend[]} asked @returns {import('../setup.mjs').Step[]} */
export function backends(asked) {
  return BACKEND_NAMES.flatMap((name) => backend(name, asked.includes(name)));
}

/** @param {Backend} name @param {boolean} asked @returns {import('../setup.mjs').Step[]} */
function backend(name, asked) {
  if (!asked && stampedOutputs(name).length === 0) return [];
  const pin = packPin(name, platformName);
  const { title, missing } = WORDS[name];
  if (pin === undefined)
    throw new SetupError(
      `There is no prebuilt ${title} backend for ${platformName}: run setup without --${name}.`,
    );
  const key = hash(`${name} 2`, pin.name, pin.version, pin.integrity);
  return [
    {
      name,
      isFresh: () => isStampFresh(name, key),
      async run(_tools, update) {
        if (!(await hasDriver(name, pin))) throw new SetupError(missing);
        clearStamp(name);
        update(`downloading ${pin.name} ${pin.version}, ${pin.megabytes} MB`);
        const inPackage = `package/bins/${pin.name.split('/')[1]}/${pin.library}`;
        const target = join(PACKS, pin.library);
        await withPackage(pin, [inPackage], async (folder) => {
          mkdirSync(PACKS, { recursive: true });
          place(join(folder, inPackage), target);
          // From its previous location, every start would load it without a trial run.
          rmSync(join(GGML, pin.library), { force: true });
        });
        writeStamp(name, key, [relative(ROOT, target)]);
        const lacking = missingRuntime(pin);
        return lacking.length === 0
          ? `${title} backend, which Kvasir tries before it uses it`
          : `${title} backend, which will stay unused: it needs ${lacking.join(' and ')}, not found in the library search path`;
      },
    },
  ];
}

/** Suggests a GPU backend if the machine has a driver for one. */
export function hintAtBackends() {
  const name = BACKEND_NAMES.findLast((each) => isFound(packPin(each, platformName)?.driver ?? []));
  const pin = name && packPin(name, platformName);
  if (!pin) return;
  const { title } = WORDS[name];
  if (stampedOutputs(name).length === 0) {
    say(`A ${title} driver is installed: \`npm run setup -- --${name}\` adds the ${title} backend.`);
    return;
  }
  const lacking = missingRuntime(pin);
  if (lacking.length > 0) say(`The ${title} backend stays unused: ${lacking.join(' and ')} not found.`);
}

/** @param {Backend} name @param {PackPin} pin */
async function hasDriver(name, { driver }) {
  if (isFound(driver)) return true;
  return name === 'cuda' && (await probe('nvidia-smi', ['-L'])) !== undefined;
}

/** @param {PackPin} pin */
function missingRuntime({ runtime }) {
  return runtime.filter((library) => !isFound([library]));
}

/**
 * Searches like the loader: LD_LIBRARY_PATH or PATH, the backend's own folder, the system's folders.
 *
 * @param {string[]} libraries
 */
function isFound(libraries) {
  const variable = isWindows ? process.env.PATH : process.env.LD_LIBRARY_PATH;
  const told = (variable ?? '').split(delimiter).filter((folder) => folder !== '');
  const folders = [...told, PACKS, ...LIBRARY_FOLDERS, ...cudaFolders()];
  return folders.some((folder) => libraries.some((library) => existsSync(join(folder, library))));
}

/** NVIDIA's packages install libraries here and configure the loader. */
function cudaFolders() {
  try {
    return readdirSync('/usr/local')
      .filter((name) => name.startsWith('cuda'))
      .flatMap((name) => [`/usr/local/${name}/lib64`, `/usr/local/${name}/targets/x86_64-linux/lib`]);
  } catch {
    return [];
  }
}
