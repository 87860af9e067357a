import { createHash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import SQLite from 'better-sqlite3';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { ZipFile } from 'yazl';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { StoreLock } from '../kvstore/lock.ts';
import { openDatabase, type Database } from '../platform/database.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { applyRestore } from './apply-restore.ts';
import { BackupService } from './backup-service.ts';

const ROOTS = `CREATE TABLE root (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, path TEXT NOT NULL)`;
const NOTES = `CREATE TABLE note (text TEXT NOT NULL)`;
const SCHEMAS = {
  'catalogue.sqlite': [ROOTS],
  'conversations.sqlite': [NOTES],
  'analyses.sqlite': [NOTES],
  'watching.sqlite': [NOTES],
  'models.sqlite': [NOTES],
};

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-backup-'));
  made.push(dir);
  return dir;
}

/** A data folder with an example of each kind of data; the databases stay open, as in the program. */
function kvasirAt(data = tempDir(), schemas = SCHEMAS) {
  const notes = openDatabase(join(data, 'conversations.sqlite'), [NOTES]);
  const catalogue = openDatabase(join(data, 'catalogue.sqlite'), [ROOTS]);
  onTestFinished(() => close());
  const events = new EventBus();
  const backups = new BackupService({ data, program: '1.0.0', schemas, log: silentLogger, events });
  const close = (): void => {
    notes.close();
    catalogue.close();
  };
  return { data, notes, catalogue, backups, events, close };
}

type Kvasir = ReturnType<typeof kvasirAt>;

function fill({ data, notes, catalogue }: Kvasir, word: string): void {
  notes.run('INSERT INTO note VALUES (?)', word);
  catalogue.run("INSERT INTO root (kind, path) VALUES ('managed', ?)", join(data, 'libraries', '1'));
  mkdirSync(join(data, 'libraries', '1', 'sub'), { recursive: true });
  writeFileSync(join(data, 'libraries', '1', 'sub', `${word}.txt`), word);
  writeFileSync(join(data, 'settings.json'), JSON.stringify({ topK: word.length }));
}

const texts = (database: Database): unknown[] => database.column('SELECT text FROM note');

/** A closed Kvasir with other data than the backup that its next start restores. */
async function awaitingRestore(): Promise<Kvasir> {
  const kvasir = kvasirAt();
  fill(kvasir, 'before');
  const { path } = await kvasir.backups.create();
  fill(kvasir, 'afterwards');
  await kvasir.backups.restore(path);
  kvasir.close();
  return kvasir;
}

/** Simulates the next start. */
function restart(kvasir: Kvasir, data = kvasir.data): Kvasir {
  kvasir.close();
  applyRestore(data, join(data, 'cache'));
  return kvasirAt(data);
}

async function zipOf(files: Record<string, string | Buffer>, dir: string): Promise<string> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const path = join(dir, 'made.zip');
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

const manifest = (files: unknown[], more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    kind: 'kvasir-backup',
    version: 1,
    createdMs: 0,
    program: '1',
    dataDir: '/d',
    files,
    ...more,
  });

describe('backup and restore', () => {
  test('how far a backup is, is told, and that it is there', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'first');
    const told: KvasirEvent[] = [];
    kvasir.events.on((event) => told.push(event));
    await kvasir.backups.create();
    const progress = told.flatMap(({ topic, payload }) => (topic === 'backups.progress' ? [payload] : []));
    expect(progress.length).toBeGreaterThan(0);
    for (const { done, total } of progress) expect(done).toBeLessThanOrEqual(total);
    expect(told.at(-1)?.topic).toBe('backups.changed');
  });

  test('holds no token, password or key: what is secret stays out of it', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'word');
    const secrets = ['hub-token.json', 'sharing-secrets.json', 'sharing-secrets.json.tmp'];
    for (const name of secrets) writeFileSync(join(kvasir.data, name), '{}');
    const backup = readFileSync((await kvasir.backups.create()).path);
    expect(backup.includes('settings.json')).toBe(true); // names are not compressed
    for (const name of secrets) expect(backup.includes(name), name).toBe(false);
  });

  test('brings back databases, settings and uploads at the next start, and first keeps what is there', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'before');
    const backup = await kvasir.backups.create();
    expect(backup.bytes).toBeGreaterThan(0);
    fill(kvasir, 'afterwards');
    expect(kvasir.backups.restoreWaiting).toBe(false);
    expect(await kvasir.backups.restore(backup.path)).toEqual({ restartNeeded: true });
    expect(kvasir.backups.restoreWaiting).toBe(true);
    expect(texts(kvasir.notes)).toEqual(['before', 'afterwards']); // nothing changes while the program runs
    const kept = (await kvasir.backups.list()).find(({ path }) => path !== backup.path)!;

    const restored = restart(kvasir);
    expect(restored.backups.restoreWaiting).toBe(false);
    expect(texts(restored.notes)).toEqual(['before']);
    expect(JSON.parse(readFileSync(join(kvasir.data, 'settings.json'), 'utf8'))).toEqual({ topK: 6 });
    expect(readdirSync(join(kvasir.data, 'libraries', '1', 'sub'))).toEqual(['before.txt']);
    expect(readdirSync(kvasir.data).filter((name) => name.startsWith('restore'))).toEqual([]);

    await restored.backups.restore(kept.path);
    expect(texts(restart(restored).notes)).toEqual(['before', 'afterwards']);
  });

  test('in another data folder, where uploads are found again', async () => {
    const from = kvasirAt();
    fill(from, 'x');
    const { path } = await from.backups.create();
    const to = kvasirAt();
    await to.backups.restore(path);
    const { catalogue, data } = restart(to);
    const root = catalogue.value<string>('SELECT path FROM root') ?? '';
    expect(existsSync(join(data, 'libraries', basename(root), 'sub', 'x.txt'))).toBe(true);
  });

  test('a start that was cut short in the middle of it goes on', async () => {
    const kvasir = await awaitingRestore();
    const ready = join(kvasir.data, 'restore-ready');
    // As after a crash that followed the first database: it is moved, the rest is not.
    const applying = join(kvasir.data, 'restore-applying');
    renameSync(ready, applying);
    renameSync(join(applying, 'catalogue.sqlite'), join(kvasir.data, 'catalogue.sqlite'));
    const restored = restart(kvasir);
    expect(texts(restored.notes)).toEqual(['before']);
    expect(restored.catalogue.value('SELECT count(*) FROM root')).toBe(1);
    expect(readdirSync(join(kvasir.data, 'libraries', '1', 'sub'))).toEqual(['before.txt']);
    expect(applyRestore(kvasir.data, join(kvasir.data, 'cache'))).toEqual({ restored: false });
  });

  test('nothing is replaced while another process has the data open', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'a');
    await kvasir.backups.restore((await kvasir.backups.create()).path);
    const store = join(kvasir.data, 'cache');
    mkdirSync(store);
    const lock = StoreLock.take(join(store, 'lock.db'));
    expect(() => applyRestore(kvasir.data, store)).toThrow(expect.objectContaining({ code: 'STORE_IN_USE' }));
    lock.release();
    expect(applyRestore(kvasir.data, store)).toEqual({ restored: true });
  });

  test('a step that fails, as on a full disk, ends the start with the reason, and the next start goes on', async () => {
    const kvasir = await awaitingRestore();
    writeFileSync(join(kvasir.data, 'restore-ready', 'old'), 'a file in the way');
    expect(() => applyRestore(kvasir.data, join(kvasir.data, 'cache'))).toThrow(
      expect.objectContaining({
        code: 'STORE_READ_ONLY',
        message: 'The restore of the backup has to wait for the next start (EEXIST).',
      }),
    );
    rmSync(join(kvasir.data, 'restore-applying', 'old'));
    expect(texts(restart(kvasir).notes)).toEqual(['before']);
  });

  test('a data folder that cannot be written says so', async () => {
    const data = tempDir();
    writeFileSync(join(data, 'backups'), 'a file in the way');
    const events = new EventBus();
    const backups = new BackupService({ data, program: '1', schemas: SCHEMAS, log: silentLogger, events });
    await expect(backups.create()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' });
  });
});

/** The bytes of a database as `make` leaves it. */
function databaseOf(make: (database: SQLite.Database) => void): Buffer {
  const path = join(tempDir(), 'made.sqlite');
  const database = new SQLite(path);
  make(database);
  database.close();
  return readFileSync(path);
}

const catalogueOf = (sql: string): Buffer => databaseOf((database) => void database.exec(sql));

describe('damage', () => {
  /** Writes enough notes for several pages and overwrites one page in the file while the database is open elsewhere. */
  function damage(kvasir: Kvasir): void {
    for (let i = 0; i < 200; i++) kvasir.notes.run('INSERT INTO note VALUES (?)', `${i} ${'x'.repeat(100)}`);
    kvasir.close();
    const path = join(kvasir.data, 'conversations.sqlite');
    const bytes = readFileSync(path);
    bytes.fill(0, 3 * 4096, 4 * 4096);
    writeFileSync(path, bytes);
  }

  test('a database with a zeroed page is not backed up as if it were whole', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'x');
    damage(kvasir);
    await expect(kvasir.backups.create()).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('conversations.sqlite') as string,
    });
    expect(readdirSync(join(kvasir.data, 'backups'))).toEqual([]);
  });

  test('data that is too damaged for a backup is kept beside what is restored over it', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'before');
    const { path } = await kvasir.backups.create();
    damage(kvasir);
    const damaged = readFileSync(join(kvasir.data, 'conversations.sqlite'));
    await kvasir.backups.restore(path);
    expect(texts(restart(kvasir).notes)).toEqual(['before']);
    const kept = readdirSync(kvasir.data).filter((name) => name.startsWith('replaced-'));
    expect(kept).toHaveLength(1);
    expect(readFileSync(join(kvasir.data, kept[0]!, 'conversations.sqlite'))).toEqual(damaged);
  });

  test('a manifest of what waits that cannot be read replaces nothing, is kept and told', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'present');
    await kvasir.backups.restore((await kvasir.backups.create()).path);
    writeFileSync(join(kvasir.data, 'restore-ready', 'manifest.json'), 'junk');
    kvasir.close();
    const { restored, failure } = applyRestore(kvasir.data, join(kvasir.data, 'cache'));
    expect(restored).toBe(false);
    expect(failure).toMatchObject({ code: 'BACKUP_INVALID' });
    expect(readdirSync(kvasir.data).filter((name) => name.startsWith('restore'))).toEqual([
      expect.stringMatching(/^restore-ready\.damaged-/),
    ]);
    expect(texts(kvasirAt(kvasir.data).notes)).toEqual(['present']);
  });
});

describe('a file that is no backup changes nothing', () => {
  const file = (name: string, content: string | Buffer) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  const holding = (files: Record<string, string | Buffer>) => ({
    'manifest.json': manifest(Object.entries(files).map(([name, content]) => file(name, content))),
    ...files,
  });
  const sound = { 'catalogue.sqlite': catalogueOf(`${ROOTS}; PRAGMA user_version = 1`) };

  test.each<[string, Record<string, string | Buffer>, RegExp]>([
    ['no manifest', { 'readme.txt': 'hello' }, /not made by Kvasir/],
    ['a manifest of something else', { 'manifest.json': '{"kind":"other"}' }, /manifest is not one/],
    ['a manifest that is no JSON', { 'manifest.json': '{' }, /manifest is damaged/],
    ['a newer one', { 'manifest.json': manifest([], { version: 2 }) }, /newer version/],
    [
      'a foreign file',
      { 'manifest.json': manifest([file('kvasir.log', 'x')]), 'kvasir.log': 'x' },
      /none of Kvasir/,
    ],
    [
      'a file outside of the folder',
      { 'manifest.json': manifest([file('libraries/1/../../../evil', 'x')]) },
      /none of Kvasir/,
    ],
    [
      'a file that is a folder too',
      holding({ 'libraries/1/a': 'x', 'libraries/1/a/b': 'x' }),
      /no file named "libraries\/1\/a\/b" can be written here/,
    ],
    [
      'a name that is too long',
      holding({ [`libraries/1/${'x'.repeat(300)}`]: 'x' }),
      /no file named "libraries\/1\/x+…" can be written here/,
    ],
    [
      'a folder whose name is too long',
      holding({ [`libraries/${'x'.repeat(300)}/a`]: 'x' }),
      /no file named "libraries\/x+…" can be written here/,
    ],
    [
      'a missing file',
      { 'manifest.json': manifest([file('settings.json', '{}')]) },
      /settings.json is missing/,
    ],
    [
      'a wrong sum',
      { 'manifest.json': manifest([file('settings.json', '{}')]), 'settings.json': '[]' },
      /settings.json in it is damaged/,
    ],
    [
      'more bytes than announced',
      { 'manifest.json': manifest([file('settings.json', '{}')]), 'settings.json': '{"a": 1}' },
      /larger than its manifest says/,
    ],
    [
      'a database that is none',
      {
        'manifest.json': manifest([file('catalogue.sqlite', 'not SQLite')]),
        'catalogue.sqlite': 'not SQLite',
      },
      /catalogue.sqlite in it is damaged/,
    ],
    ['nothing', holding({}), /no libraries/],
    ['settings that are cut', holding({ ...sound, 'settings.json': '{"topK":' }), /settings/],
    ['settings that are no object', holding({ ...sound, 'settings.json': '[]' }), /settings/],
    [
      "another program's database",
      holding({ 'catalogue.sqlite': catalogueOf('CREATE TABLE bookmark (url TEXT)') }),
      /catalogue.sqlite in it is damaged or not one/,
    ],
    [
      'a database that lacks a column',
      holding({
        'catalogue.sqlite': catalogueOf('CREATE TABLE root (id INTEGER); PRAGMA user_version = 1'),
      }),
      /catalogue.sqlite in it is damaged or not one/,
    ],
    [
      'a time that is none',
      { 'manifest.json': manifest([], { createdMs: 1e300 }) },
      /manifest is not one of Kvasir's/,
    ],
  ])('%s', async (_name, files, message) => {
    const kvasir = kvasirAt();
    const restoring = kvasir.backups.restore(await zipOf(files, kvasir.data));
    await expect(restoring).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: expect.stringMatching(message) as string,
    });
    expect(readdirSync(kvasir.data).filter((name) => /restore|backups/.test(name))).toEqual([]);
  });

  test('not a ZIP file, or none at all, or cut off', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'x');
    const { path } = await kvasir.backups.create();
    const whole = readFileSync(path);
    const cut = join(kvasir.data, 'cut.zip');
    for (const bytes of [Buffer.from('hello'), Buffer.alloc(0), whole.subarray(0, whole.length / 2)]) {
      writeFileSync(cut, bytes);
      await expect(kvasir.backups.restore(cut)).rejects.toMatchObject({ code: 'BACKUP_INVALID' });
    }
    await expect(kvasir.backups.restore(join(kvasir.data, 'none.zip'))).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
    });
  });

  test('flipped bytes anywhere in a backup are noticed, or do no harm', async () => {
    const kvasir = kvasirAt();
    fill(kvasir, 'x');
    const { path } = await kvasir.backups.create();
    const whole = readFileSync(path);
    const flipped = join(kvasir.data, 'flipped.zip');
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 25)) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x55;
      writeFileSync(flipped, bytes);
      const outcome = await kvasir.backups.restore(flipped).then(
        () => 'restored',
        (error: unknown) => (error as { code?: string }).code,
      );
      expect(['BACKUP_INVALID', 'restored']).toContain(outcome);
    }
  });

  test('a database of a newer version', async () => {
    const newer = kvasirAt(undefined, {
      ...SCHEMAS,
      'conversations.sqlite': [NOTES, 'ALTER TABLE note ADD COLUMN more'],
    });
    newer.notes.exec('ALTER TABLE note ADD COLUMN more');
    newer.notes.pragma('user_version = 2');
    const { path } = await newer.backups.create();
    const restoring = kvasirAt().backups.restore(path);
    await expect(restoring).rejects.toMatchObject({
      code: 'BACKUP_INVALID',
      message: expect.stringMatching(/newer/) as string,
    });
  });
});
