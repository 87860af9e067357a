import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../baseline.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** A file is replaced by a similar one under another name: this is not a rename. */
export const swappedFile: Fault = {
  name: 'swapped file',
  covers:
    'a file is replaced by another of the same size and time, while Kvasir runs or not: the new text is read',
  async run({ data, random }) {
    const folder = join(data, 'mine');
    mkdirSync(folder);
    const put = (name: string, text: string): void => {
      writeFileSync(join(folder, name), text);
      utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
    };
    put('stays.txt', 'The mill stays where it is.');
    put('old.txt', 'The gate is painted green.');
    const swap = (): void => {
      const steps = [
        () => rmSync(join(folder, 'old.txt')),
        () => put('new.txt', 'The gate is painted white.'),
      ];
      for (const step of random(2) ? steps : steps.reverse()) step();
    };
    let app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'Watched' });
    await app.call('libraries.addPaths', { id, paths: [folder] });
    await until(() => textOf(app, id, 'old.txt'));
    const running = random(2) === 0;
    if (!running) await app.stop();
    swap();
    if (!running) app = await RunningApp.start(data);
    const text = await until(async () =>
      (await textOf(app, id, 'old.txt')) === undefined ? textOf(app, id, 'new.txt') : undefined,
    );
    if (!text.includes('white')) throw new Error(`the text is from the other file: ${text}`);
    await app.call('libraries.delete', { id });
  },
};

/** The document's text, once it is fully read. */
async function textOf(app: RunningApp, libraryId: string, path: string): Promise<string | undefined> {
  const { items } = await app.call('documents.list', { libraryId });
  const document = items.find((item) => item.path === path && item.phase === 'ready');
  return document && (await app.call('documents.text', { id: document.id })).text;
}
