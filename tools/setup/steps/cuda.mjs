import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { withPackage } from '../download.mjs';
import { SetupError } from '../errors.mjs';
import { CUDA } from '../pins.mjs';
import { GGML, platformName, ROOT } from '../platform.mjs';
import { probe } from '../process.mjs';
import { say } from '../report.mjs';
import { clearStamp, hash, isStampFresh, stampedOutputs, writeStamp } from '../stamps.mjs';
import { place } from './libraries.mjs';

const RUNTIME = ['libcudart.so.13', 'libcublas.so.13'];
const DRIVER = 'libcuda.so.1';

/**
 * The CUDA backend is installed once on request, and then kept up to date.
 *
 * @param {boolean} asked
 * @returns {import('../setup.mjs').Step[]}
 */
export function cuda(asked) {
  const installed = stampedOutputs('cuda').length > 0;
  if (!asked && !installed) return [];
  const pin = CUDA[platformName];
  if (pin === undefined) {
    throw new SetupError(`There is no prebuilt CUDA backend for ${platformName}: run setup without --cuda.`);
  }
  const key = hash('cuda 1', pin.name, pin.version, pin.integrity);
  return [
    {
      name: 'cuda',
      isFresh: () => isStampFresh('cuda', key),
      async run(_tools, update) {
        if (!(await hasDriver())) {
          throw new SetupError(
            'No NVIDIA driver was found (neither libcuda.so.1 nor nvidia-smi): install it, or run setup without --cuda.',
          );
        }
        clearStamp('cuda');
        update(`downloading ${pin.name} ${pin.version}, ${pin.megabytes} MB`);
        const inPackage = `package/bins/${platformName}-cuda/libggml-cuda.so`;
        const target = join(GGML, 'libggml-cuda.so');
        await withPackage(pin, [inPackage], async (folder) => {
          mkdirSync(GGML, { recursive: true });
          place(join(folder, inPackage), target);
        });
        writeStamp('cuda', key, [relative(ROOT, target)]);
        const missing = missingRuntime();
        return missing.length === 0
          ? 'CUDA backend'
          : `CUDA backend, which will stay unused: it needs ${missing.join(' and ')} from the CUDA 13 runtime, not found on the library path`;
      },
    },
  ];
}

/** Says that there is a GPU to be had, where one is. */
export function hintAtCuda() {
  if (CUDA[platformName] === undefined || !isOnLibraryPath(DRIVER)) return;
  if (stampedOutputs('cuda').length === 0) {
    say('An NVIDIA driver is installed: `npm run setup -- --cuda` adds the CUDA backend.');
    return;
  }
  const missing = missingRuntime();
  if (missing.length > 0)
    say(`The CUDA backend stays unused: ${missing.join(' and ')} (CUDA 13 runtime) not found.`);
}

async function hasDriver() {
  return isOnLibraryPath(DRIVER) || (await probe('nvidia-smi', ['-L'])) !== undefined;
}

function missingRuntime() {
  return RUNTIME.filter((name) => !isOnLibraryPath(name));
}

/**
 * Looks where the loader would: LD_LIBRARY_PATH, the folder of the backend itself, the system's folders.
 *
 * @param {string} name
 */
function isOnLibraryPath(name) {
  const folders = [
    ...(process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    GGML,
    '/lib/x86_64-linux-gnu',
    '/usr/lib/x86_64-linux-gnu',
    '/lib64',
    '/usr/lib64',
    '/usr/lib',
    '/usr/lib/wsl/lib',
    '/usr/local/lib',
    ...cudaFolders(),
  ];
  return folders.some((folder) => existsSync(join(folder, name)));
}

/** NVIDIA's own packages put their libraries here and tell the loader so. */
function cudaFolders() {
  try {
    return readdirSync('/usr/local')
      .filter((name) => name.startsWith('cuda'))
      .flatMap((name) => [`/usr/local/${name}/lib64`, `/usr/local/${name}/targets/x86_64-linux/lib`]);
  } catch {
    return [];
  }
}
