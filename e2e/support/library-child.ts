/** The app's background work without a window: prints its progress until it is killed or done. */
import { App } from '../../src-main/app.ts';

const [dataDir = '', folder = ''] = process.argv.slice(2);
const app = await App.open({ dataDir });
app.start();
const known = app.libraries.list().find(({ name }) => name === 'Docs');
const { id } = known ?? app.libraries.create('Docs');
await app.libraries.addPaths({ id, paths: [folder], watch: true });
await app.libraries.rescan(id);
for (;;) {
  const { waiting, active, tokensDone, failed } = app.libraries.queue.status();
  const library = app.libraries.list().find((each) => each.id === id);
  process.stdout.write(`${JSON.stringify({ waiting, active, tokensDone, failed, library })}\n`);
  if (waiting + active === 0) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await app.close();
