import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

interface HostEnvironment {
  /** Electron's binary; undefined if it is not installed. */
  electron: string | undefined;
  display: boolean;
}

interface HostChoice {
  /** The binary to run; undefined: the command line, which serves the window to a browser by default. */
  electron: string | undefined;
  /** One line for the user; empty if the user chose the host. */
  reason: string;
}

/** The desktop app's flags; all others belong to the command line. */
const FLAGS = { data: { type: 'string' }, debug: { type: 'boolean' } } as const;

/** The host for `npm start` with these arguments. */
export function chooseHost(args: string[], { electron, display }: HostEnvironment): HostChoice {
  if (!isForWindow(args)) return { electron: undefined, reason: '' };
  const missing =
    electron === undefined ? "Electron's binary is not installed" : display ? '' : 'there is no display';
  if (missing !== '') {
    return { electron: undefined, reason: `Showing Kvasir's window in a browser, because ${missing}.` };
  }
  return { electron, reason: 'Opening Kvasir on the desktop. (`npm start -- serve` shows it in a browser.)' };
}

function isForWindow(args: string[]): boolean {
  try {
    parseArgs({ args, options: FLAGS, strict: true });
    return true;
  } catch {
    return false;
  }
}

const BINARY: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  linux: 'electron',
  win32: 'electron.exe',
};

/** Path of Electron's binary. Its package would try to download a missing one. */
export function electronBinary(
  root: string,
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const name = BINARY[platform];
  if (name === undefined) return undefined;
  const dist = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(root, 'node_modules', 'electron', 'dist');
  const path = join(dist, name);
  return existsSync(path) ? path : undefined;
}
