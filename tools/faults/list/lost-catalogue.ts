import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { requireDocuments } from '../baseline.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** The list of libraries is lost: Kvasir recovers uploads, and new libraries do not take their folders. */
export const lostCatalogue: Fault = {
  name: 'lost catalogue',
  covers: 'the catalogue is lost: uploads are recovered, no new library takes their folders',
  async run({ data, backup }) {
    for (const suffix of ['', '-wal', '-shm'])
      try {
        renameSync(join(data, `catalogue.sqlite${suffix}`), join(data, `moved.sqlite${suffix}`));
      } catch {
        // The database had no write-ahead log.
      }
    const app = await RunningApp.start(data);
    const { id } = await app.call('libraries.create', { name: 'New' });
    await app.upload(id, 'new.txt', 'Something new.');
    await app.call('libraries.delete', { id });
    await requireDocuments(app);
    await app.call('app.restore', { path: backup });
  },
};
