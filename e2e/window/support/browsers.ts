import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

const CANDIDATES = [
  process.env['KVASIR_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** A Chromium on this machine; undefined where there is none. */
export const CHROMIUM = CANDIDATES.find((path) => path !== undefined && existsSync(path));

export const NO_CHROMIUM =
  'No Chromium was found. Install one (on Debian: apt-get install chromium), or name one in KVASIR_CHROMIUM.';

export const launchOptions = {
  ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
  args: [
    // Root, as in containers, cannot use Chromium's own sandbox.
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
