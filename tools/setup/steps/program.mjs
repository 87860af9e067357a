import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { ROOT, STATE } from '../platform.mjs';
import { bundle, sourcesHash } from '../bundle.mjs';
import { clearStamp, filesUnder, isStampFresh, stampedOutputs, writeStamp } from '../stamps.mjs';

const FOLDERS = ['main', 'preload'];
const OUT = join(ROOT, 'out');

export const program = /** @type {import('../setup.mjs').Step} */ ({
  name: 'program',

  isFresh() {
    return isStampFresh('program', key());
  },

  run: (_tools, update) => buildProgram(update),
});

/**
 * Bundles the program, for Node and for Electron, into out/main and out/preload: a start from its thousand modules takes several times as
 * long. Each file is renamed into place, those that others import first, so that a start during a build loads one whole bundle.
 *
 * @param {(note: string) => void} update
 */
export async function buildProgram(update) {
  const before = key();
  const replaced = stampedOutputs('program');
  clearStamp('program');
  update('bundling');
  // As deep below the root as out/: source maps name the sources by relative paths.
  const summary = await bundle('program', ['--outDir', STATE]);
  const built = FOLDERS.flatMap((folder) => filesUnder(join(STATE, folder)))
    .map((path) => relative(STATE, path))
    .sort((a, b) => b.split(sep).length - a.split(sep).length);
  for (const path of built) {
    mkdirSync(dirname(join(OUT, path)), { recursive: true });
    renameSync(join(STATE, path), join(OUT, path));
  }
  const outputs = built.map((path) => join('out', path));
  removeAllBut([...outputs, ...replaced]);
  // If a file is saved during the build, the next setup builds again.
  writeStamp('program', before, outputs);
  return summary;
}

/** Running programs still load files of the bundle that the current one replaced. Packages are made without them. */
export function removeReplacedFiles() {
  removeAllBut(stampedOutputs('program'));
}

/** @param {string[]} outputs relative to the root */
function removeAllBut(outputs) {
  const kept = new Set(outputs);
  for (const path of FOLDERS.flatMap((folder) => filesUnder(join(OUT, folder))))
    if (!kept.has(relative(ROOT, path))) rmSync(path);
}

function key() {
  return sourcesHash('program 1', ['src-shared', 'src-main']);
}
