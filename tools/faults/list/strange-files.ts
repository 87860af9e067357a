import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { RunningApp } from '../running-app.ts';
import type { Fault, Place } from '../fault.ts';

/** A manifest whose files are missing: restoring it would leave nothing. */
const ALONE = JSON.stringify({
  ...{
    kind: 'kvasir-backup',
    version: 1,
    createdMs: 1,
    program: '0.1.0',
    dataDir: '/',
    keepsReplaced: false,
  },
  files: [{ name: 'catalogue.sqlite', bytes: 4096, sha256: '0'.repeat(64) }],
});

/** Foreign files in Kvasir's own folders. */
export const strangeFiles: Fault = {
  name: 'strange files',
  covers:
    'foreign files, folders, links and incomplete restores in the data folder: it starts, and checks all chunks',
  async run({ data, backup, random }) {
    const put = [
      () => {
        mkdirSync(join(data, 'restore-ready'), { recursive: true });
        writeFileSync(
          join(data, 'restore-ready', 'manifest.json'),
          ['junk', '{"kind":"kvasir-backup"}', ALONE][random(3)] ?? '',
        );
      },
      () => mkdirSync(join(data, 'cache', 'tmp', 'folder'), { recursive: true }),
      () => symlinkSync(join(data, 'nowhere'), join(data, 'cache', 'quarantine', 'link')),
      () => foreign(join(data, 'models.sqlite')),
      () => aFolderWhereNoChunkIs(join(data, 'cache', 'chunks')),
      () => aFolderInAChunksPlace(join(data, 'cache', 'chunks'), random),
    ];
    put[random(put.length)]?.();
    const app = await RunningApp.start(data);
    await app.call('app.found', {});
    await app.call('cache.verify', {});
    await app.call('app.restore', { path: backup });
  },
};

function foreign(path: string): void {
  writeFileSync(path, '');
  const database = new Database(path);
  database.exec('CREATE TABLE bookmark (url TEXT); PRAGMA user_version = 1');
  database.close();
}

function aFolderWhereNoChunkIs(chunks: string): void {
  const [first = ''] = readdirSync(chunks);
  mkdirSync(join(chunks, first, `${first}${'0'.repeat(62)}.v1.kvc`), { recursive: true });
}

function aFolderInAChunksPlace(chunks: string, random: Place['random']): void {
  const files = readdirSync(chunks, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.kvc'),
  );
  const path = join(chunks, files[random(files.length)] ?? '');
  rmSync(path);
  mkdirSync(path);
}
