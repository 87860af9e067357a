import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { discard } from '../../../platform/discard.ts';
import { fileError } from '../../../platform/paths.ts';
import { requireSpace } from '../../../platform/space.ts';

/** Suffix of incomplete uploads; the next start deletes those left by a crash (leftovers.ts). */
const UNFINISHED = '.upload';

export interface IncomingFile {
  /** The name on the user's machine, not a path. */
  name: string;
  /** Announced size in bytes; undefined: unknown. */
  bytes: number | undefined;
  body: Readable;
}

/**
 * Receives a file into `dir` and returns its path. It appears atomically and never replaces another: a taken name gets
 * a number. BAD_ARGUMENT, DISK_FULL, STORE_READ_ONLY, ABORTED.
 */
export async function receiveFile(dir: string, { name, bytes, body }: IncomingFile): Promise<string> {
  checkName(name);
  const what = `${name} could not be stored`;
  const unfinished = join(dir, `${randomUUID()}${UNFINISHED}`);
  try {
    await requireSpace(dir, bytes ?? 0, name, 0);
    await pipeline(body, createWriteStream(unfinished, { flags: 'wx', flush: true }));
    const path = await reservePlace(dir, name);
    await rename(unfinished, path);
    return path;
  } catch (error) {
    await discard(unfinished);
    throw receiveError(error, what);
  }
}

/** Error of an upload: the sender disconnected, or writing failed. */
export function receiveError(error: unknown, what: string): KvasirError {
  if (error instanceof KvasirError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR') {
    return new KvasirError('ABORTED', `${what}: the connection ended before all of it had come.`, '', {
      cause: error,
    });
  }
  return fileError(error, what);
}

/** BAD_ARGUMENT. */
export function checkName(name: string): void {
  // Names that would leave the folder, hide in it, or mean a device on some system.
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  const bad = name === '' || name.length > 200 || /^\.|[/\\:*?"<>|\u0000-\u001f]|[. ]$/.test(name);
  if (bad) throw new KvasirError('BAD_ARGUMENT', `${JSON.stringify(name)} is not a file name.`);
}

/** Creates an empty file under the first free name, so that another upload of that name takes the next. */
async function reservePlace(dir: string, name: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let i = 1; ; i++) {
    const path = join(dir, i === 1 ? name : `${stem} (${i})${ext}`);
    try {
      await (await open(path, 'wx')).close();
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
