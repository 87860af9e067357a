import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { SetupError } from '../errors.mjs';
import { isWindows, NODE_MODULES, nodePath, platform, prebuiltDir, ROOT, STATE } from '../platform.mjs';
import { mustRun, probe } from '../process.mjs';

const NODE_LINK = join(NODE_MODULES, '.bin', 'node');

/** npm's record of the contents of node_modules. */
const INSTALLED = join(NODE_MODULES, '.package-lock.json');

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/** Installs the lockfile's packages. None of them needs its install script, so no scripts are run. */
export const packages = /** @type {import('../setup.mjs').Step} */ ({
  name: 'packages',

  isFresh() {
    return hasNodeLink() && existsSync(prebuiltDir()) && matchesLockfile();
  },

  async run(_tools, update) {
    // Update a complete but outdated folder; reinstall anything else.
    const complete = existsSync(nodePath()) && installedVersions() !== undefined;
    update(complete ? 'npm install' : 'npm ci');
    const command = complete ? ['install', '--no-save'] : ['ci'];
    // npm rewrites this file when it has finished, so an interrupted update counts as incomplete.
    rmSync(INSTALLED, { force: true });
    // Compiled modules of replaced packages, see run.mjs.
    rmSync(join(STATE, 'compile-cache'), { recursive: true, force: true });
    await mustRun('npm could not install the packages.', 'npm', [...command, ...FLAGS], { cwd: ROOT });
    if (!existsSync(prebuiltDir())) {
      throw new SetupError(
        `npm did not install the package @node-llama-cpp/${platform().ggml}: allow optional packages (npm config set omit "") and run setup again.`,
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
 * npm 10 deletes the link `node` when it drops the packages of other platforms, which contain the same link. With the link, `npx vitest`
 * and the like run on this Node, too.
 */
function linkNode() {
  if (isWindows || hasNodeLink() || !existsSync(nodePath())) return;
  rmSync(NODE_LINK, { force: true });
  symlinkSync(relative(dirname(NODE_LINK), nodePath()), NODE_LINK);
}

/** Follows the link: a dangling link does not count. */
function hasNodeLink() {
  return existsSync(isWindows ? nodePath() : NODE_LINK);
}

/** Whether node_modules holds exactly the lockfile's packages and versions. */
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
