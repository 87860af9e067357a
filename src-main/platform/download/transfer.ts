import type { IncomingMessage } from 'node:http';
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import { fileError } from '../paths.ts';
import { TransientDownloadError, get, received, statusOf } from './request.ts';

/** The server's metadata of the file; stored so that a later run can resume. */
interface RemoteFile {
  /** 0 until the server has sent it. */
  bytesTotal: number;
  /** A strong ETag or the modification date; '' if the server sends neither. */
  validator: string;
}

interface TransferOptions {
  url: string;
  /** Request headers, for this server only. */
  headers?: Record<string, string> | undefined;
  /** Target file; the bytes of an earlier attempt are kept if the server can resume from there. */
  part: string;
  known: RemoteFile;
  /** Whether a checksum will detect a file combined from two versions. */
  checksummed: boolean;
  /** Called before bytes are written; may reject, e.g. if the disk is too small. */
  onRemote: (remote: RemoteFile, bytesDone: number) => Promise<void>;
  /** Called after bytes were written; may reject. */
  onBytes: (bytesDone: number) => Promise<void> | void;
  /** Timeout without a byte, in milliseconds. */
  stallMs: number;
  signal: AbortSignal;
}

/**
 * One attempt to get the rest of a file. Resolves when the part is complete. Interrupted: retry, which resumes where
 * this attempt ended. DOWNLOAD_FAILED, DISK_FULL, STORE_READ_ONLY; the signal's reason if it is aborted.
 */
export async function transfer(options: TransferOptions): Promise<void> {
  const stall = new StallTimeout(options.stallMs);
  const signal = AbortSignal.any([options.signal, stall.signal]);
  try {
    await receive(options, signal, stall);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (stall.signal.aborted)
      throw new TransientDownloadError('The server stopped sending.', 0, { cause: error });
    throw error;
  } finally {
    stall.end();
  }
}

async function receive(options: TransferOptions, signal: AbortSignal, stall: StallTimeout): Promise<void> {
  const { url, part, known, checksummed } = options;
  const have = await sizeOf(part);
  // Without a validator or checksum, resuming could combine two versions.
  const resume = have > 0 && (known.validator !== '' || checksummed);
  const headers: Record<string, string> = { ...options.headers };
  if (resume) headers['range'] = `bytes=${have}-`;
  if (resume && known.validator !== '') headers['if-range'] = known.validator;
  const response = await get(url, headers, signal);
  const remote = remoteOf(response);

  if (statusOf(response) === 416) {
    response.destroy();
    if (resume && remote.bytesTotal === have) return options.onRemote(remote, have);
    await startAnew(part, 'the file on the server is now shorter');
  }
  const goesOn = statusOf(response) === 206;
  if (goesOn && !continues(response, remote, have, known)) {
    response.destroy();
    await startAnew(part, 'the file on the server has changed');
  }
  const done = await keep(response, remote, options, goesOn ? have : 0, stall);
  if (remote.bytesTotal > 0 && done < remote.bytesTotal)
    throw new TransientDownloadError('The connection was lost before the download was complete.');
  if (remote.bytesTotal > 0 && done > remote.bytesTotal)
    await startAnew(part, 'the server sent more bytes than it announced');
}

async function keep(
  response: IncomingMessage,
  remote: RemoteFile,
  options: TransferOptions,
  from: number,
  stall: StallTimeout,
): Promise<number> {
  try {
    await options.onRemote(remote, from);
    return await write(response, options, from, stall);
  } finally {
    response.destroy();
  }
}

async function write(
  body: IncomingMessage,
  options: TransferOptions,
  from: number,
  stall: StallTimeout,
): Promise<number> {
  const file = await openAt(options.part, from);
  let done = from;
  try {
    for await (const bytes of received(body)) {
      stall.reset();
      await writeAll(file, bytes, done, options.part);
      done += bytes.length;
      await options.onBytes(done);
    }
    await file.sync().catch((error: unknown) => {
      throw writeError(error, options.part);
    });
    return done;
  } finally {
    await file.close();
  }
}

async function openAt(part: string, from: number): Promise<FileHandle> {
  try {
    const file = await open(part, from > 0 ? 'r+' : 'w');
    await file.truncate(from);
    return file;
  } catch (error) {
    throw writeError(error, part);
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number, part: string): Promise<void> {
  try {
    for (let written = 0; written < bytes.length;) {
      const rest = bytes.length - written;
      written += (await file.write(bytes, written, rest, position + written)).bytesWritten;
    }
  } catch (error) {
    throw writeError(error, part);
  }
}

function writeError(error: unknown, part: string): KvasirError {
  return fileError(error, `The download could not be written to ${part}`);
}

/** Size and version of the whole file, from the response headers. */
function remoteOf(response: IncomingMessage): RemoteFile {
  const { headers } = response;
  // A body that is encoded anyway has another length than the file.
  const encoded = !['', 'identity'].includes(headers['content-encoding'] ?? '');
  const total = encoded
    ? 0
    : statusOf(response) === 200
      ? headers['content-length']
      : /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  const { etag = '' } = headers;
  const strong = etag.startsWith('"') ? etag : '';
  return { bytesTotal: Number(total ?? 0) || 0, validator: strong || (headers['last-modified'] ?? '') };
}

/** Whether a partial response continues exactly where the part ends, in the same file. */
function continues(response: IncomingMessage, remote: RemoteFile, have: number, known: RemoteFile): boolean {
  const start = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(response.headers['content-range'] ?? '')?.[1];
  if (start === undefined || Number(start) !== have) return false;
  if (known.validator !== '' && remote.validator !== '' && remote.validator !== known.validator) return false;
  return known.bytesTotal === 0 || remote.bytesTotal === 0 || remote.bytesTotal === known.bytesTotal;
}

/** Deletes the part; the next attempt begins at the first byte. */
async function startAnew(part: string, why: string): Promise<never> {
  await rm(part, { force: true });
  throw new TransientDownloadError(`The download has to restart: ${why}.`);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw new KvasirError('STORE_READ_ONLY', `The partial download ${path} cannot be read.`, '', {
      cause: error,
    });
  }
}

/** Aborts after a time without data. */
class StallTimeout {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
    this.#timer.unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
