/**
 * Runs the bundle that Electron would run, on a stand-in for Electron: argv has the data folder. Prints what its window
 * would get as one line of JSON.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { CALL_CHANNEL } from '../../src-main/hosts/electron/channels.ts';
import { StandIn } from '../../src-main/hosts/electron/stand-in.test-support.ts';
import { ROOT } from '../cli-support.ts';

const ELECTRON = 'kvasir-stand-in:electron';
const standIn = new StandIn();
Object.assign(globalThis, { standInForElectron: standIn.module });
const names = Object.keys(standIn.module);
const source = names
  .map((name) => `export const ${name} = globalThis.standInForElectron.${name};`)
  .join('\n');
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: ELECTRON, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === ELECTRON ? { format: 'module', source, shortCircuit: true } : next(url, context),
});

const dataDir = process.argv[2] ?? '';
process.argv = ['electron', ROOT, '--data', dataDir];
await import(pathToFileURL(join(ROOT, 'out', 'main', 'main.js')).href);
while (standIn.windows.length === 0 && standIn.app.ended.length === 0) await sleep(20);

const { webContents } = standIn.window;
const call = (name: string): unknown =>
  standIn.invoke(CALL_CHANNEL, webContents, webContents.mainFrame, name, {});
const page = await standIn.protocols.get('app')?.(new Request('app://kvasir/'));
const seen = {
  errors: standIn.errors,
  page: await page?.text(),
  info: await call('app.info'),
  libraries: await call('libraries.list'),
  suggestions: await call('chat.suggestions'),
};
standIn.app.emit('will-quit', { preventDefault: () => undefined });
while (standIn.app.ended.length === 0) await sleep(20);
process.stdout.write(JSON.stringify({ ...seen, ended: standIn.app.ended }));
