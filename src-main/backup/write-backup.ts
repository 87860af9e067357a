import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { ZipFile } from 'yazl';
import { KvasirError } from '../../src-shared/errors.ts';
import { discard } from '../platform/discard.ts';
import { markSuspect, requireSound } from '../platform/damaged-database.ts';
import { databaseError } from '../platform/database.ts';
import { fileError } from '../platform/paths.ts';
import { syncFile } from '../platform/sync-file.ts';
import {
  DATABASE_FILES,
  MANIFEST_NAME,
  PLAIN_FILES,
  UPLOADS,
  type Manifest,
  type Schemas,
} from './manifest.ts';
import { readBackup } from './read-backup.ts';

interface WriteOptions {
  data: string;
  schemas: Schemas;
  program: string;
  createdMs: number;
  /** Bytes processed, and the total: each byte is hashed, packed and read back. */
  onProgress?: (done: number, total: number) => void;
}

const PASSES = 3;

/**
 * Writes a backup to `target`: a ZIP file that gets its name once it is complete, synced, and has been read back the
 * way a restore reads it. Databases are copied page by page while others keep using them. DISK_FULL, STORE_READ_ONLY,
 * STORE_CORRUPT, BACKUP_INVALID if the written file does not verify.
 */
export async function writeBackup(target: string, options: WriteOptions): Promise<void> {
  const part = `${target}.part`;
  const copies = `${target}.databases`;
  try {
    await mkdir(copies, { recursive: true });
    const sources = [
      ...(await copyDatabases(copies, options)),
      ...PLAIN_FILES.map((name) => ({ name, path: join(options.data, name) })).filter(({ path }) =>
        existsSync(path),
      ),
      ...(await uploads(options.data)),
    ];
    const onBytes = await counter(sources, options.onProgress);
    await zip(part, sources, options, onBytes);
    await syncFile(part);
    await readBack(part, join(copies, 'read'), options.schemas, onBytes);
    await rename(part, target);
  } catch (error) {
    await discard(part);
    throw typedError(error, target);
  } finally {
    await discard(copies);
  }
}

interface Source {
  name: string;
  path: string;
}

type OnBytes = (bytes: number) => void;

async function counter(sources: Source[], onProgress: WriteOptions['onProgress']): Promise<OnBytes> {
  const sizes = await Promise.all(sources.map(async ({ path }) => (await stat(path)).size));
  const total = PASSES * sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  return (bytes) => onProgress?.((done += bytes), total);
}

/** Uploads are read but not written again: their checksums are sufficient. */
async function readBack(path: string, dir: string, schemas: Schemas, onBytes: OnBytes): Promise<void> {
  await mkdir(dir);
  try {
    await readBackup(path, { dir, schemas, unpacks: (name) => !name.startsWith(`${UPLOADS}/`), onBytes });
  } catch (error) {
    if (!(error instanceof KvasirError && error.code === 'BACKUP_INVALID')) throw error;
    const message = 'The backup could not be verified after writing and was deleted';
    throw new KvasirError(error.code, `${message}: ${error.message}`, 'Try again.', { cause: error });
  }
}

async function copyDatabases(dir: string, { data }: WriteOptions): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of DATABASE_FILES) {
    const from = join(data, name);
    if (!existsSync(from)) continue;
    const path = join(dir, name);
    const database = new Database(from, { readonly: true });
    try {
      await database.backup(path);
    } catch (error) {
      throw databaseError(error, from);
    } finally {
      database.close();
    }
    requireSoundCopy(path, from);
    sources.push({ name, path });
  }
  return sources;
}

/** A copy of a damaged database looks sound but could not be restored. STORE_CORRUPT. */
function requireSoundCopy(path: string, of: string): void {
  const copy = new Database(path);
  try {
    requireSound(copy);
  } catch (error) {
    markSuspect(of);
    throw databaseError(error, of);
  } finally {
    copy.close();
  }
}

async function uploads(data: string): Promise<Source[]> {
  const root = join(data, UPLOADS);
  if (!existsSync(root)) return [];
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { name: `${UPLOADS}/${path.slice(root.length + 1).replaceAll('\\', '/')}`, path };
    });
}

async function zip(part: string, sources: Source[], options: WriteOptions, onBytes: OnBytes): Promise<void> {
  const archive = new ZipFile();
  const written = pipeline(archive.outputStream, createWriteStream(part));
  // Awaited below; a failure before that must not become an unhandled rejection.
  written.catch(() => undefined);
  const files: Manifest['files'] = [];
  for (const { name, path } of sources) {
    const { size, mtime, mode } = await stat(path);
    files.push({ name, bytes: size, sha256: await hashFile(path, onBytes) });
    archive.addReadStreamLazy(name, { size, mtime, mode }, (add) => {
      const file = createReadStream(path);
      file.on('error', (error) => archive.emit('error', error));
      add(
        null,
        file.on('data', ({ length }) => onBytes(length)),
      );
    });
  }
  const { createdMs, program, data } = options;
  const manifest: Manifest = { kind: 'kvasir-backup', version: 1, createdMs, program, dataDir: data, files };
  archive.addBuffer(Buffer.from(JSON.stringify(manifest, null, 2)), MANIFEST_NAME);
  const failed = new Promise<never>((_, reject) => archive.on('error', reject));
  archive.end();
  await Promise.race([written, failed]);
}

async function hashFile(path: string, onBytes: OnBytes): Promise<string> {
  const hash = createHash('sha256');
  const file = createReadStream(path);
  await pipeline(
    file.on('data', ({ length }) => onBytes(length)),
    hash,
  );
  return hash.digest('hex');
}

function typedError(error: unknown, target: string): unknown {
  const typed = databaseError(error, target);
  const code = (typed as { code?: unknown }).code;
  const system = typeof (typed as { errno?: unknown }).errno === 'number' && typeof code === 'string';
  return system ? fileError(typed, `The backup ${target} could not be written to ${dirname(target)}`) : typed;
}
