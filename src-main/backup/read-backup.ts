import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import { KvasirError } from '../../src-shared/errors.ts';
import { checkDatabase } from '../platform/database.ts';
import { fileError } from '../platform/paths.ts';
import { readSettingsFile } from '../platform/settings.ts';
import { requireSpace } from '../platform/space.ts';
import { openZip, readJson } from '../platform/zip.ts';
import { firstIssue } from '../../src-shared/settings.ts';
import {
  DATABASE_FILES,
  MANIFEST_NAME,
  ManifestSchema,
  PLAIN_FILES,
  invalidBackup,
  isKnownName,
  type Manifest,
  type Schemas,
} from './manifest.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

interface ReadOptions {
  /** Target folder. */
  dir: string;
  schemas: Schemas;
  /** Which files to write; the others are only verified by checksum. Default: all. */
  unpacks?: (name: string) => boolean;
  /** Called with the number of bytes read since the last call. */
  onBytes?: (bytes: number) => void;
}

/**
 * Unpacks a backup and verifies all of it: names, sizes, checksums, and that this version can open its databases and
 * settings. BACKUP_INVALID, DISK_FULL, STORE_READ_ONLY.
 */
export async function readBackup(
  path: string,
  { dir, schemas, unpacks = () => true, onBytes }: ReadOptions,
): Promise<Manifest> {
  const { zip, entries } = await openZip(path, invalidBackup);
  try {
    const manifest = await readManifest(zip, entries.get(MANIFEST_NAME));
    const unpacked = manifest.files.filter(({ name }) => unpacks(name));
    const bytes = unpacked.reduce((sum, file) => sum + file.bytes, 0);
    await requireSpace(dir, bytes, 'A backup', 0);
    for (const file of manifest.files) {
      const target = unpacks(file.name) ? join(dir, file.name) : undefined;
      await extract(zip, entries.get(file.name), { file, target, onBytes });
    }
    const names = new Set(manifest.files.map(({ name }) => name));
    for (const name of DATABASE_FILES) if (names.has(name)) requireDatabase(dir, name, schemas[name]);
    for (const name of PLAIN_FILES) if (names.has(name)) requireSettings(join(dir, name));
    if (!names.has('catalogue.sqlite')) throw invalidBackup('it has no libraries in it');
    return manifest;
  } finally {
    zip.close();
  }
}

async function readManifest(zip: ZipFile, entry: Entry | undefined): Promise<Manifest> {
  if (!entry || entry.uncompressedSize > MAX_MANIFEST_BYTES) throw invalidBackup('it was not made by Kvasir');
  let value: unknown;
  try {
    value = await readJson(zip, entry);
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
  const foreign = names.find((name) => !isKnownName(name));
  if (foreign !== undefined)
    throw invalidBackup(`it holds ${JSON.stringify(foreign)}, which is none of Kvasir's files`);
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    throw invalidBackup('it holds a file twice');
  return parsed.data;
}

async function extract(
  zip: ZipFile,
  entry: Entry | undefined,
  {
    file,
    target,
    onBytes,
  }: { file: Manifest['files'][number]; target: string | undefined; onBytes: ReadOptions['onBytes'] },
): Promise<void> {
  if (!entry) throw invalidBackup(`${file.name} is missing from it`);
  const hash = createHash('sha256');
  let bytes = 0;
  const check = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      onBytes?.(part.length);
      hash.update(part);
      done(bytes > file.bytes ? invalidBackup(`${file.name} is larger than its manifest says`) : null, part);
    },
  });
  let source: Readable;
  try {
    if (target !== undefined) await mkdir(dirname(target), { recursive: true });
    source = await zip.openReadStreamPromise(entry);
    await pipeline(
      source,
      check,
      target === undefined ? nowhere() : createWriteStream(target, { flush: true }),
    );
  } catch (error) {
    throw unpackError(error, file.name, target ?? '');
  }
  if (bytes !== file.bytes || hash.digest('hex') !== file.sha256)
    throw invalidBackup(`${file.name} in it is damaged`);
}

/** Of a name that the file system does not take, or that is a file's and a folder's. */
const NAME_ERRORS: readonly unknown[] = ['ENAMETOOLONG', 'EINVAL', 'EEXIST', 'ENOTDIR', 'EISDIR'];

function unpackError(error: unknown, name: string, target: string): unknown {
  if (error instanceof KvasirError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (NAME_ERRORS.includes(code))
    return invalidBackup(`no file named ${shortened(name)} can be written here (${code})`, error);
  if (typeof (error as { syscall?: unknown }).syscall === 'string')
    return fileError(error, `The backup could not be unpacked to ${target}`);
  return invalidBackup(`${name} in it is damaged`, error);
}

function shortened(name: string): string {
  return JSON.stringify(name.length <= 100 ? name : `${name.slice(0, 100)}…`);
}

function nowhere(): Writable {
  return new Writable({ write: (_part, _encoding, done) => done() });
}

/** Opens it as the next start would. */
function requireDatabase(dir: string, name: string, migrations: readonly string[]): void {
  try {
    checkDatabase(join(dir, name), migrations);
  } catch (error) {
    const code = error instanceof KvasirError ? error.code : undefined;
    if (code === 'DISK_FULL') throw error;
    if (code === 'STORE_VERSION')
      throw invalidBackup(`the database ${name} in it is of a newer version of Kvasir`, error);
    throw invalidBackup(`the database ${name} in it is damaged or not one of Kvasir's`, error);
  }
}

/**
 * At the next start, individual values that this version cannot use get their defaults, as in a settings file of the
 * data folder.
 */
function requireSettings(path: string): void {
  const { damage } = readSettingsFile(path);
  if (damage !== undefined) throw invalidBackup(`its settings cannot be used (${damage})`);
}
