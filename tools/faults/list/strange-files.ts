import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Files that Kvasir did not put there, where it keeps its own. */
export const strangeFiles: Fault = {
  name: 'strange files',
  covers: 'foreign files, folders and links in the data folder: it starts',
  async run({ data, backup, random }) {
    const put = [
      () => {
        mkdirSync(join(data, 'restore-ready'), { recursive: true });
        writeFileSync(
          join(data, 'restore-ready', 'manifest.json'),
          random(2) ? 'junk' : '{"kind":"kvasir-backup"}',
        );
      },
      () => mkdirSync(join(data, 'cache', 'tmp', 'folder'), { recursive: true }),
      () => symlinkSync(join(data, 'nowhere'), join(data, 'cache', 'quarantine', 'link')),
      () => foreign(join(data, 'models.sqlite')),
      () => aFolderInAChunksPlace(join(data, 'cache', 'chunks')),
    ];
    put[random(put.length)]?.();
    const app = await RunningApp.start(data);
    await app.call('app.found', {});
    await app.call('cache.verify', {});
    await app.call('app.restore', { path: backup });
    await app.stop();
  },
};

function foreign(path: string): void {
  writeFileSync(path, '');
  const database = new Database(path);
  database.exec('CREATE TABLE bookmark (url TEXT); PRAGMA user_version = 1');
  database.close();
}

function aFolderInAChunksPlace(chunks: string): void {
  const [first = ''] = readdirSync(chunks);
  mkdirSync(join(chunks, first, `${first}${'0'.repeat(62)}.v1.kvc`), { recursive: true });
}
