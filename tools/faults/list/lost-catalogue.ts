import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { requireDocuments } from '../known.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** The list of libraries is gone: uploads come back by themselves, and new libraries do not take their place. */
export const lostCatalogue: Fault = {
  name: 'lost catalogue',
  covers: 'the catalogue is gone: uploads come back, no new library takes their folders',
  async run({ data, backup }) {
    for (const suffix of ['', '-wal', '-shm'])
      try {
        renameSync(join(data, `catalogue.sqlite${suffix}`), join(data, `moved.sqlite${suffix}`));
      } catch {
        // There was no log.
      }
    const app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'New' });
    await app.upload(id, 'new.txt', 'Something new.');
    await app.call('libraries.delete', { id });
    await requireDocuments(app);
    await app.call('app.restore', { path: backup });
  },
};
