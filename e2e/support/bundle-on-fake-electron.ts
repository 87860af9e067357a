import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { CALL_CHANNEL } from '../../src-main/hosts/electron/channels.ts';
import type { FakeElectron } from '../../src-main/hosts/electron/fake-electron.test-support.ts';

const ELECTRON = 'kvasir-stand-in:electron';

/** The app's bundle running on an Electron double. */
export interface RunningBundle {
  /** Makes a call like the window's page; returns the core's answer as the page receives it. */
  call: (name: string, input?: unknown) => unknown;
  /** HTML of the window's page. */
  page: () => Promise<string | undefined>;
  /** Ends the app like a user, and waits for it. */
  quit: () => Promise<void>;
}

/** Runs `root`/out/main/main.js with `electron` as the module of that name, and waits until it opens a window or ends. */
export async function startBundle(
  standIn: FakeElectron,
  { root, argv, electron = standIn.module }: { root: string; argv: string[]; electron?: object },
): Promise<RunningBundle> {
  Object.assign(globalThis, { standInForElectron: electron });
  const source = Object.keys(electron)
    .map((name) => `export const ${name} = globalThis.standInForElectron.${name};`)
    .join('\n');
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'electron' ? { url: ELECTRON, shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === ELECTRON ? { format: 'module', source, shortCircuit: true } : next(url, context),
  });
  process.argv = argv;
  await import(pathToFileURL(join(root, 'out', 'main', 'main.js')).href);
  while (standIn.windows.length === 0 && standIn.app.ended.length === 0) await sleep(20);
  const { webContents } = standIn.window;
  return {
    call: (name, input = {}) => standIn.invoke(CALL_CHANNEL, webContents, webContents.mainFrame, name, input),
    page: async () => (await standIn.protocols.get('app')?.(new Request('app://kvasir/')))?.text(),
    quit: async () => {
      standIn.app.emit('will-quit', { preventDefault: () => undefined });
      while (standIn.app.ended.length === 0) await sleep(20);
    },
  };
}
