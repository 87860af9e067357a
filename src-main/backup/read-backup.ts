import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { KvasirError } from '../../src-shared/errors.ts';
import { fileError } from '../platform/paths.ts';
import { firstIssue } from '../../src-shared/settings.ts';
import {
  MANIFEST_NAME,
  ManifestSchema,
  invalidBackup,
  isKnownName,
  type DatabaseVersions,
  type Manifest,
} from './manifest.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/**
 * Unpacks a backup into `dir`, and checks all of it: names, sizes, sums, and that this version can read its databases.
 * BACKUP_INVALID, DISK_FULL, STORE_READ_ONLY.
 */
export async function readBackup(path: string, dir: string, databases: DatabaseVersions): Promise<Manifest> {
  const zip = await openZip(path);
  try {
    const entries = await entriesOf(zip);
    const manifest = await readManifest(zip, entries.get(MANIFEST_NAME), databases);
    await requireSpace(manifest, dir);
    for (const file of manifest.files) await extract(zip, entries.get(file.name), file, join(dir, file.name));
    for (const name of Object.keys(databases))
      if (manifest.files.some((file) => file.name === name))
        checkDatabase(join(dir, name), name, databases[name] ?? 0);
    return manifest;
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
  } catch (error) {
    throw invalidBackup('it is not there, or not a ZIP file', error);
  }
}

async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
  } catch (error) {
    throw invalidBackup('its table of contents is damaged', error);
  }
  return entries;
}

async function readManifest(
  zip: ZipFile,
  entry: Entry | undefined,
  databases: DatabaseVersions,
): Promise<Manifest> {
  if (!entry || entry.uncompressedSize > MAX_MANIFEST_BYTES) throw invalidBackup('it was not made by Kvasir');
  const parts: Buffer[] = [];
  let value: unknown;
  try {
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
    value = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch (error) {
    throw invalidBackup('its manifest is damaged', error);
  }
  const parsed = ManifestSchema.safeParse(value);
  if (!parsed.success) {
    const newer = (value as { version?: unknown } | null)?.version;
    if (typeof newer === 'number' && newer > 1)
      throw invalidBackup('it was made by a newer version of Kvasir');
    throw invalidBackup(`its manifest is not one of Kvasir's (${firstIssue(parsed.error)})`);
  }
  const names = parsed.data.files.map(({ name }) => name);
  const foreign = names.find((name) => !isKnownName(name, databases));
  if (foreign !== undefined)
    throw invalidBackup(`it holds ${JSON.stringify(foreign)}, which is none of Kvasir's files`);
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    throw invalidBackup('it holds a file twice');
  return parsed.data;
}

async function requireSpace({ files }: Manifest, dir: string): Promise<void> {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bavail, bsize } = await statfs(dir);
  if (needed <= bavail * bsize) return;
  throw new KvasirError(
    'DISK_FULL',
    `The backup needs ${Math.ceil(needed / 1e6)} MB, and the disk of ${dir} has less.`,
    'Free some space.',
  );
}

async function extract(
  zip: ZipFile,
  entry: Entry | undefined,
  file: Manifest['files'][number],
  target: string,
): Promise<void> {
  if (!entry) throw invalidBackup(`${file.name} is missing from it`);
  await mkdir(dirname(target), { recursive: true });
  const hash = createHash('sha256');
  let bytes = 0;
  const check = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      hash.update(part);
      done(bytes > file.bytes ? invalidBackup(`${file.name} is larger than its manifest says`) : null, part);
    },
  });
  let source: Readable;
  try {
    source = await zip.openReadStreamPromise(entry);
    await pipeline(source, check, createWriteStream(target, { flush: true }));
  } catch (error) {
    throw unpackError(error, file.name, target);
  }
  if (bytes !== file.bytes || hash.digest('hex') !== file.sha256)
    throw invalidBackup(`${file.name} in it is damaged`);
}

function unpackError(error: unknown, name: string, target: string): unknown {
  if (error instanceof KvasirError) return error;
  if (typeof (error as { syscall?: unknown }).syscall === 'string')
    return fileError(error, `The backup could not be unpacked to ${target}`);
  return invalidBackup(`${name} in it is damaged`, error);
}

function checkDatabase(path: string, name: string, newest: number): void {
  let version: number;
  try {
    const database = new Database(path);
    try {
      version = Number(database.pragma('user_version', { simple: true }));
      if (database.pragma('quick_check', { simple: true }) !== 'ok') throw new Error('quick_check');
    } finally {
      database.close();
    }
  } catch (error) {
    throw invalidBackup(`the database ${name} in it is damaged`, error);
  }
  if (version > newest) throw invalidBackup(`the database ${name} in it is of a newer version of Kvasir`);
}
