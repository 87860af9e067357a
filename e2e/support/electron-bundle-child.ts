/** Runs the bundle for Electron on an Electron double: argv has the data folder. Prints the window's results as one line of JSON. */
import { StandIn } from '../../src-main/hosts/electron/stand-in.test-support.ts';
import { ROOT } from '../cli-support.ts';
import { startBundle } from './bundle-on-stand-in.ts';

const standIn = new StandIn();
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
