import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import { overLimit } from '../formats/errors.ts';
import { discard } from '../../platform/discard.ts';
import { fileError } from '../../platform/paths.ts';

/** Incomplete uploads: hidden, so that no scan takes them for documents. */
const INCOMING = '.incoming';
const MAX_PATH_UNITS = 1000;
const MAX_NAME_BYTES = 255;
/** Windows reserves these names for devices, with any extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * A relative path with forward slashes that stays below the folder it is joined to, on every platform. It is spelled as
 * given: of two files whose names differ in their accents' spelling alone (NFC, NFD), neither replaces the other. BAD_ARGUMENT.
 */
export function safeRelativePath(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/');
  const fine =
    path.length <= MAX_PATH_UNITS &&
    parts.every(
      (part) =>
        part !== '' &&
        !part.startsWith('.') &&
        !/[\p{Cc}<>:"|?*]/u.test(part) &&
        !/[. ]$/.test(part) &&
        !DEVICE_NAME.test(part) &&
        Buffer.byteLength(part) <= MAX_NAME_BYTES,
    );
  if (fine) return parts.join('/');
  throw new KvasirError(
    'BAD_ARGUMENT',
    `${JSON.stringify(path.slice(0, 200))} is not a valid path for an upload.`,
    'Rename the file.',
  );
}

/**
 * Writes a file below `folder`: to a temporary name, synced, then renamed to its final name, replacing an older one. DOCUMENT_TOO_LARGE,
 * DISK_FULL, STORE_READ_ONLY, ABORTED when the stream ends early.
 */
export async function storeUpload(
  folder: string,
  path: string,
  stream: Readable,
  maxBytes: number,
): Promise<void> {
  const place = join(folder, path);
  const aside = join(folder, INCOMING, randomUUID());
  try {
    await mkdir(dirname(aside), { recursive: true });
    await mkdir(dirname(place), { recursive: true });
    await pipeline(stream, limited(maxBytes, path), createWriteStream(aside, { flags: 'wx', flush: true }));
    await rename(aside, place);
    await syncFolder(dirname(place));
  } catch (error) {
    await discard(aside);
    throw uploadError(error, path);
  }
}

function limited(maxBytes: number, path: string): Transform {
  let bytes = 0;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      if (bytes <= maxBytes) done(null, part);
      else done(overLimit(path, maxBytes));
    },
  });
}

function uploadError(error: unknown, path: string): KvasirError {
  if (error instanceof KvasirError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET') {
    return new KvasirError('ABORTED', `The upload of ${path} was interrupted.`, 'Add the file again.', {
      cause: error,
    });
  }
  return fileError(error, `${path} could not be stored`);
}

/** After this the rename survives a power failure; Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
