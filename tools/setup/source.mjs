import { join } from 'node:path';
import { withPackage } from './download.mjs';
import { HEADERS } from './pins.mjs';
import { mustRun } from './process.mjs';

const BUNDLE = 'package/llama/gitRelease.bundle';

/**
 * Passes a folder with parts of llama.cpp's source to `use`, from the commit of the prebuilt libraries; the folder is deleted afterwards.
 *
 * @template T
 * @param {string[]} paths in the source tree
 * @param {(note: string) => void} update
 * @param {(source: string) => T} use
 * @returns {Promise<T>}
 */
export function withSource(paths, update, use) {
  update(`downloading ${HEADERS.name} ${HEADERS.version}, ${HEADERS.megabytes} MB`);
  return withPackage(HEADERS, [BUNDLE], async (folder) => {
    update('unpacking');
    const failure = "git could not read llama.cpp's source bundle.";
    const source = join(folder, 'source');
    await mustRun(failure, 'git', ['clone', '-q', '--no-checkout', join(folder, BUNDLE), source]);
    await mustRun(failure, 'git', ['checkout', '-q', 'HEAD', '--', ...paths], { cwd: source });
    return use(source);
  });
}
