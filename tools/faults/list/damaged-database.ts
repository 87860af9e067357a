import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const DATABASES = [
  'catalogue.sqlite',
  'conversations.sqlite',
  'analyses.sqlite',
  'watching.sqlite',
  'models.sqlite',
];
const PAGE = 4096;

/** A page is zeroed or the file truncated: Kvasir reports it, opens the rest, and the backup restores everything. */
export const damagedDatabase: Fault = {
  name: 'damaged database',
  covers: 'a zeroed page or a cut in a database: reported, the rest opens, a backup restores everything',
  async run({ data, backup, random }) {
    const path = join(data, DATABASES[random(DATABASES.length)] ?? '');
    const bytes = readFileSync(path);
    const page = random(bytes.length / PAGE);
    const cut = random(3) === 0;
    writeFileSync(path, cut ? bytes.subarray(0, page * PAGE) : bytes.fill(0, page * PAGE, (page + 1) * PAGE));
    const app = await RunningApp.start(data);
    await app.call('app.found', {});
    for (const name of ['libraries.list', 'chat.list', 'models.list'] as const) await app.call(name, {});
    await app.call('app.restore', { path: backup });
  },
};
