import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { aboutSamples, ask } from '../baseline.ts';
import { copyDemo, useCopy } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** The file of the model in use is truncated or overwritten. */
export const modelChanged: Fault = {
  name: 'model changed in use',
  covers:
    'the file of the model in use is truncated or overwritten: typed errors or right answers, and it can be loaded again',
  async run({ data, known, random }) {
    const path = join(data, 'mine.gguf');
    const app = await RunningApp.start(data);
    const id = await useCopy(app, path);
    const { size } = statSync(path);
    if (random(2) === 0) truncateSync(path, random(size));
    else overwrite(path, random(size), 1 + random(1 << 20));
    await ask(app, (await aboutSamples(app)).id, true);
    await ask(app, known.conversationId, true);
    copyDemo(path);
    await app.call('models.activate', { id });
    await ask(app, known.conversationId);
  },
};

function overwrite(path: string, at: number, bytes: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, randomBytes(bytes), 0, bytes, at);
  closeSync(file);
}
