import { setTimeout as sleep } from 'node:timers/promises';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Killed while it accepts documents and questions: everything it confirmed survives. */
export const killedAtWork: Fault = {
  name: 'killed at work',
  covers: 'SIGKILL while it accepts uploads and questions: everything it confirmed survives',
  async run({ data, known, random }) {
    const app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'More' });
    const taken: string[] = [];
    const work = (async () => {
      for (let i = 0; ; i++) {
        await app.upload(id, `more-${i}.txt`, `More of it, number ${i}.`);
        taken.push(`more-${i}.txt`);
        if (i % 4 === 0)
          await app
            .call('chat.send', { conversationId: known.conversationId, text: 'Where?' })
            .catch(() => undefined);
      }
    })().catch(() => undefined);
    await sleep(200 + random(2000));
    await app.kill();
    await work;
    const again = await RunningApp.start(data);
    const { items } = await again.call('documents.list', { libraryId: id, limit: 1000 });
    const paths = new Set(items.map(({ path }) => path));
    const lost = taken.filter((path) => !paths.has(path));
    if (lost.length > 0) throw new Error(`uploads are lost: ${lost.join(', ')}`);
  },
};
