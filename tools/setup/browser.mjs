import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { filesUnder } from './stamps.mjs';
import { STATE } from './platform.mjs';

/** The pinned browser, unpacked: `chromium`, `lib/`, `fonts/`. */
export const PINNED = join(STATE, 'browser');
/** Where Playwright stores a browser that it downloads. */
export const PLAYWRIGHT = join(STATE, 'playwright');

export const NO_BROWSER =
  'No browser was found and none could be downloaded: the UI tests are skipped. Go online and run the command again, install Chrome, Chromium or Edge, or set KVASIR_CHROMIUM to one.';

/**
 * A browser for UI tests, and the variables that it needs in addition to our environment.
 *
 * @typedef {{ path: string, env: Record<string, string> }} Browser
 *
 * The lookup's view of the machine; tests use it to hide browsers.
 * @typedef {object} Machine
 * @property {NodeJS.Platform} platform
 * @property {Readonly<Record<string, string | undefined>>} env
 * @property {(path: string) => boolean} exists
 * @property {(folder: string) => string[]} filesUnder absolute paths; empty if the folder does not exist
 */

/** @type {Machine} */
const HERE = { platform: process.platform, env: process.env, exists: existsSync, filesUnder };

/**
 * Finds the browser that KVASIR_CHROMIUM names, else the pinned one (so that everybody tests with the same), else an installed one, else
 * one that Playwright downloaded. Undefined if there is none.
 *
 * @param {Machine} [machine]
 * @returns {Browser | undefined}
 */
export function findBrowser(machine = HERE) {
  const named = machine.env['KVASIR_CHROMIUM'];
  if (named) {
    if (!machine.exists(named)) throw new Error(`KVASIR_CHROMIUM names ${named}, which does not exist.`);
    return { path: named, env: {} };
  }
  const pinned = join(PINNED, 'chromium');
  if (machine.exists(pinned)) return { path: pinned, env: pinnedEnvironment(machine) };
  const path = usualPlaces(machine).find(machine.exists) ?? downloadedByPlaywright(machine);
  return path === undefined ? undefined : { path, env: {} };
}

/**
 * The pinned browser includes the libraries that a minimal system lacks, and a font: without any font its pages crash.
 *
 * @param {Machine} machine
 */
function pinnedEnvironment({ env, exists }) {
  const libraries = [join(PINNED, 'lib'), env['LD_LIBRARY_PATH']].filter((folder) => folder).join(delimiter);
  const hasFonts = env['FONTCONFIG_PATH'] !== undefined || exists('/etc/fonts/fonts.conf');
  return {
    LD_LIBRARY_PATH: libraries,
    ...(!hasFonts && { FONTCONFIG_PATH: join(PINNED, 'fonts') }),
  };
}

/**
 * Installation paths of Chrome, Chromium and Edge.
 *
 * @param {Machine} machine
 * @returns {string[]}
 */
function usualPlaces({ platform, env }) {
  switch (platform) {
    case 'darwin':
      return ['/Applications', join(homedir(), 'Applications')].flatMap((folder) =>
        ['Google Chrome', 'Chromium', 'Microsoft Edge'].map((name) =>
          join(folder, `${name}.app`, 'Contents', 'MacOS', name),
        ),
      );
    case 'win32':
      return ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA']
        .map((name) => env[name])
        .filter((folder) => folder !== undefined)
        .flatMap((folder) =>
          [
            ['Google', 'Chrome', 'Application', 'chrome.exe'],
            ['Chromium', 'Application', 'chrome.exe'],
            ['Microsoft', 'Edge', 'Application', 'msedge.exe'],
          ].map((parts) => join(folder, ...parts)),
        );
    default:
      return [
        ...(env['PATH'] ?? '')
          .split(delimiter)
          .flatMap((folder) =>
            [
              'chromium',
              'chromium-browser',
              'google-chrome',
              'google-chrome-stable',
              'microsoft-edge',
              'microsoft-edge-stable',
            ].map((name) => join(folder, name)),
          ),
        '/snap/bin/chromium',
        '/opt/google/chrome/chrome',
        '/opt/microsoft/msedge/msedge',
      ];
  }
}

/** @param {Machine} machine */
function downloadedByPlaywright(machine) {
  return machine
    .filesUnder(PLAYWRIGHT)
    .find((path) => /[/\\](chrome-headless-shell|headless_shell|chrome)(\.exe)?$/.test(path));
}
