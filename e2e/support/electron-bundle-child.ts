/** Runs the bundle for Electron on an Electron double: argv has the data folder. Prints the window's results as one line of JSON. */
import { FakeElectron } from '../../src-main/hosts/electron/fake-electron.test-support.ts';
import { ROOT } from '../cli-support.ts';
import { startBundle } from './bundle-on-fake-electron.ts';

const standIn = new FakeElectron();
const argv = ['electron', ROOT, '--data', process.argv[2] ?? ''];
const { call, page, quit } = await startBundle(standIn, { root: ROOT, argv });
const seen = {
  errors: standIn.errors,
  page: await page(),
  info: await call('app.info'),
  libraries: await call('libraries.list'),
  suggestions: await call('chat.suggestions'),
};
await quit();
process.stdout.write(JSON.stringify({ ...seen, ended: standIn.app.ended }));
