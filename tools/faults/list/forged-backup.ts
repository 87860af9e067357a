import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openPromise } from 'yauzl';
import { zip } from '../../test-documents/zip.ts';
import { requireRefused } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

interface Manifest {
  files: { name: string; bytes: number; sha256: string }[];
}

/** Backups with valid checksums whose contents are not from Kvasir. */
export const forgedBackup: Fault = {
  name: 'forged backup',
  covers: 'a backup with unusable settings or a foreign database is refused, and nothing changes',
  async run({ data, backup, random }) {
    const wrong: [string, Buffer][] = [
      ['settings.json', Buffer.from('{"topK":')],
      ['settings.json', Buffer.from('[]')],
      ['settings.json', Buffer.alloc(40)],
      ['catalogue.sqlite', foreign()],
      ['catalogue.sqlite', Buffer.from('not a database')],
      ['models.sqlite', foreign()],
      ['conversations.sqlite', Buffer.alloc(8192)],
    ];
    const [name, bytes] = wrong[random(wrong.length)] ?? ['', Buffer.alloc(0)];
    const path = join(data, 'backups', 'forged.zip');
    writeFileSync(path, await forged(backup, name, bytes));
    const app = await RunningApp.start(data);
    await requireRefused(app.call('app.restore', { path }), 'BACKUP_INVALID');
    await app.stop();
    if (existsSync(join(data, 'restore-ready'))) throw new Error('the restore is scheduled anyway');
    rmSync(path);
  },
};

/** A backup with one file replaced and a matching manifest. */
async function forged(backup: string, name: string, bytes: Buffer): Promise<Buffer> {
  const files = new Map<string, Buffer>();
  const archive = await openPromise(backup, { lazyEntries: true, autoClose: false });
  for await (const entry of archive.eachEntry()) {
    const parts: Buffer[] = [];
    for await (const part of await archive.openReadStreamPromise(entry)) parts.push(part as Buffer);
    files.set(entry.fileName, Buffer.concat(parts));
  }
  archive.close();
  files.set(name, bytes);
  const manifest = JSON.parse(String(files.get('manifest.json'))) as Manifest;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const others = manifest.files.filter((file) => file.name !== name);
  const fits = { ...manifest, files: [...others, { name, bytes: bytes.length, sha256 }] };
  files.set('manifest.json', Buffer.from(JSON.stringify(fits)));
  return zip([...files].map(([entry, content]) => ({ name: entry, data: content })));
}

function foreign(): Buffer {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE bookmark (url TEXT); PRAGMA user_version = 1');
  const bytes = database.serialize();
  database.close();
  return bytes;
}
