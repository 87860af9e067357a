import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NODE_MODULES, nodePath, ROOT } from './platform.mjs';
import { mustRun } from './process.mjs';
import { filesUnder, hash } from './stamps.mjs';

const ELECTRON_VITE = join(NODE_MODULES, 'electron-vite', 'bin', 'electron-vite.js');
const CONFIGURATION = ['electron.vite.config.ts', 'package.json', 'package-lock.json'];

/**
 * Bundles a part of electron.vite.config.ts. Resolves with a one-line summary.
 *
 * @param {'program' | 'window'} part
 * @param {string[]} [flags]
 */
export async function bundle(part, flags = []) {
  const { stdout } = await mustRun(
    `The ${part} did not build.`,
    nodePath(),
    [ELECTRON_VITE, 'build', '--mode', part, ...flags],
    { cwd: ROOT, env: { NODE_ENV: 'production' } },
  );
  const modules = [...stdout.matchAll(/(\d+) modules transformed/g)];
  return `${modules.reduce((sum, [, count]) => sum + Number(count), 0)} modules bundled`;
}

/**
 * Hashes everything a bundle depends on, except tests.
 *
 * @param {string} version
 * @param {string[]} folders of sources
 */
export function sourcesHash(version, folders) {
  const sources = folders
    .flatMap((folder) => filesUnder(join(ROOT, folder)))
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .sort();
  const files = [...sources, ...CONFIGURATION.map((path) => join(ROOT, path))];
  return hash(version, ...files.flatMap((path) => [relative(ROOT, path), readFileSync(path, 'utf8')]));
}
