import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser } from '../../../tools/setup/browser.mjs';
import { ROOT } from './root.ts';

const browser = findBrowser();

/** The browser for the tests; undefined if none is installed. */
export const CHROMIUM = browser?.path;

export { NO_BROWSER } from '../../../tools/setup/browser.mjs';

export const launchOptions = {
  ...(browser !== undefined && {
    executablePath: browser.path,
    env: { ...process.env, ...browser.env },
  }),
  args: [
    // Chromium's sandbox does not work for root, e.g. in containers.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

const ELECTRON_BINARY: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  linux: 'electron',
  win32: 'electron.exe',
};

/** Electron's binary. The package's own lookup would try to download it. */
export function electronBinary(): string | undefined {
  const name = ELECTRON_BINARY[process.platform];
  const path = name === undefined ? undefined : join(ROOT, 'node_modules', 'electron', 'dist', name);
  return path !== undefined && existsSync(path) ? path : undefined;
}
