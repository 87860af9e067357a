import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { SetupError } from '../errors.mjs';
import { isWindows, NODE_MODULES, nodePath, platform, prebuiltDir, ROOT } from '../platform.mjs';
import { mustRun, probe } from '../process.mjs';

const NODE_LINK = join(NODE_MODULES, '.bin', 'node');

/** npm's own record of what is in node_modules. */
const INSTALLED = join(NODE_MODULES, '.package-lock.json');

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/** Installs what the lockfile says. No package of ours needs its install script, so none is run. */
export const packages = /** @type {import('../setup.mjs').Step} */ ({
  name: 'packages',

  isFresh() {
    return hasNodeLink() && existsSync(prebuiltDir()) && matchesLockfile();
  },

  async run(_tools, update) {
    // A complete but outdated folder is brought up to date; anything else is made anew.
    const complete = existsSync(nodePath()) && installedVersions() !== undefined;
    update(complete ? 'npm install' : 'npm ci');
    const command = complete ? ['install', '--no-save'] : ['ci'];
    // npm writes it again when it has finished: an interrupted update then counts as incomplete.
    rmSync(INSTALLED, { force: true });
    await mustRun('npm could not install the packages.', 'npm', [...command, ...FLAGS], { cwd: ROOT });
    if (!existsSync(prebuiltDir())) {
      throw new SetupError(
        `npm left out the package @node-llama-cpp/${platform().ggml}: allow optional packages (npm config set omit "") and run setup again.`,
      );
    }
    linkNode();
    const version = await probe(nodePath(), ['--version']);
    if (version === undefined) {
      throw new SetupError(`Node from the npm package ${platform().node} does not run on this machine.`);
    }
    return `${Object.keys(installedVersions() ?? {}).length} packages, Node ${version.slice(1)}`;
  },
});

/**
 * npm 10 takes the link `node` away again when it drops the packages of other platforms, which would have made the same link.
 * With it, `npx vitest` and the like run on this Node, too.
 */
function linkNode() {
  if (isWindows || hasNodeLink() || !existsSync(nodePath())) return;
  rmSync(NODE_LINK, { force: true });
  symlinkSync(relative(dirname(NODE_LINK), nodePath()), NODE_LINK);
}

/** Follows the link: one to a Node that is gone does not count. */
function hasNodeLink() {
  return existsSync(isWindows ? nodePath() : NODE_LINK);
}

/** Whether node_modules holds every package of the lockfile in its version, and no other. */
function matchesLockfile() {
  const installed = installedVersions();
  if (installed === undefined) return false;
  const wanted = lockedPackages(join(ROOT, 'package-lock.json'));
  if (wanted === undefined)
    throw new SetupError('package-lock.json is missing or damaged: restore it with git.');
  const missing = Object.entries(wanted).some(
    ([path, entry]) => path !== '' && !entry.optional && installed[path] !== entry.version,
  );
  return !missing && Object.entries(installed).every(([path, version]) => wanted[path]?.version === version);
}

function installedVersions() {
  const entries = lockedPackages(INSTALLED);
  if (entries === undefined) return undefined;
  return Object.fromEntries(Object.entries(entries).map(([path, { version }]) => [path, version]));
}

/**
 * @param {string} path
 * @returns {Record<string, { version: string, optional?: boolean }> | undefined}
 */
function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
