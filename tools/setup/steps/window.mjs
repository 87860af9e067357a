import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NODE_MODULES, nodePath, ROOT } from '../platform.mjs';
import { mustRun } from '../process.mjs';
import { clearStamp, filesUnder, hash, isStampFresh, writeStamp } from '../stamps.mjs';

const ELECTRON_VITE = join(NODE_MODULES, 'electron-vite', 'bin', 'electron-vite.js');
const SOURCES = ['src-shared', 'src-main', 'src-renderer'];
const CONFIGURATION = ['electron.vite.config.ts', 'package-lock.json'];
const OUTPUTS = ['out/renderer/index.html', 'out/preload/preload.cjs', 'out/main/main.js'];

/**
 * Bundles the window and Electron's code into out/, in a few seconds. Never downloads Electron itself: if its binary is missing, Kvasir
 * shows the window in a browser.
 */
export const window = /** @type {import('../setup.mjs').Step} */ ({
  name: 'window',

  isFresh() {
    return isStampFresh('window', key());
  },

  async run(_tools, update) {
    const before = key();
    clearStamp('window');
    update('bundling');
    const { stdout } = await mustRun('The window did not build.', nodePath(), [ELECTRON_VITE, 'build'], {
      cwd: ROOT,
    });
    // If a file is saved during the build, the next setup builds again.
    writeStamp('window', before, OUTPUTS);
    const modules = [...stdout.matchAll(/(\d+) modules transformed/g)];
    return `${modules.reduce((sum, [, count]) => sum + Number(count), 0)} modules bundled`;
  },
});

/** Hashes everything the result depends on, except tests. */
function key() {
  const sources = SOURCES.flatMap((folder) => filesUnder(join(ROOT, folder)))
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .sort();
  const files = [...sources, ...CONFIGURATION.map((path) => join(ROOT, path))];
  return hash('window 1', ...files.flatMap((path) => [relative(ROOT, path), readFileSync(path, 'utf8')]));
}
