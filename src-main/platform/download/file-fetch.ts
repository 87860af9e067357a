import { createHash } from 'node:crypto';
import { createReadStream, existsSync, rmSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Logger } from '../logger.ts';
import { fileError } from '../paths.ts';
import { TransientDownloadError } from './request.ts';
import { transfer } from './transfer.ts';

export interface FetchedFile {
  url: string;
  /** Name in the folder; the partial file has the suffix .part. */
  file: string;
  /** 0 while unknown. */
  bytesTotal: number;
  /** ETag or Last-Modified of the response the partial file came from; '' if there was none. */
  validator: string;
  /** Hexadecimal SHA-256 or, by its length, SHA-512; '' if none was announced. */
  sum: string;
}

/** Target folder. */
export interface Folder {
  dir: string;
  /** DISK_FULL if `bytes` more would not fit, or barely. Creates the folder. */
  requireSpace(bytes: number): Promise<void>;
}

export interface FetchOptions<F extends Folder = Folder> {
  files: F;
  log: Logger;
  headers?: ((url: string) => Promise<Record<string, string>>) | undefined;
  /** Delay before the first retry, in milliseconds; doubles up to a minute. Default 1000. */
  retryMs?: number | undefined;
  /** Timeout without a byte from the server, in milliseconds. Default 30,000. */
  stallMs?: number | undefined;
}

/** The files to download. */
interface FileSelection {
  files: readonly FetchedFile[];
  /**
   * Whether URLs are immutable and checksums are known: a download then resumes at its offset alone, even if another
   * server of the same network sends another ETag. The checksum detects a wrong combination.
   */
  pinned: boolean;
}

/** Callbacks of a download. */
interface FetchListener {
  /** Called with a file's metadata from the server and the previous metadata; may throw. */
  onFile: (file: FetchedFile, known: FetchedFile) => void;
  onBytes: (bytes: number) => void;
}

/** Maximum number of consecutive attempts without data. */
const MAX_ATTEMPTS = 6;
const MAX_WAIT_MS = 60_000;
/** Bytes between two checks of the disk's free space. */
const SPACE_CHECK_BYTES = 256 * 1024 * 1024;

/** Downloads files to a folder, one after another, and verifies them. */
export class FileFetch {
  readonly #options: FetchOptions;
  readonly #listener: FetchListener;
  readonly #files: FetchedFile[];
  readonly #pinned: boolean;
  /** Bytes present of each file. */
  readonly #done: number[];

  constructor(options: FetchOptions, { files, pinned }: FileSelection, listener: FetchListener) {
    this.#options = options;
    this.#listener = listener;
    this.#pinned = pinned;
    this.#files = [...files];
    this.#done = files.map((file) => statSync(this.part(file), { throwIfNoEntry: false })?.size ?? 0);
  }

  get bytesDone(): number {
    return this.#done.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Path of a file; its partial file is next to it. */
  path({ file }: Pick<FetchedFile, 'file'>): string {
    return join(this.#options.files.dir, file);
  }

  part(file: Pick<FetchedFile, 'file'>): string {
    return `${this.path(file)}.part`;
  }

  /** Downloads everything. Interrupted if no attempt brings more data; also the errors of transfer(). STORE_READ_ONLY. */
  async receive(signal: AbortSignal): Promise<void> {
    // The program ended after files got their names but before they became a model: repeat these steps.
    for (const file of this.#files) {
      const path = this.path(file);
      if (existsSync(path) && !existsSync(this.part(file))) await move(path, this.part(file));
    }
    for (const index of this.#files.keys()) await this.#receive(index, signal);
  }

  /** CHECKSUM_MISMATCH, after which that file is deleted. */
  async verify(signal: AbortSignal): Promise<void> {
    for (const [index, file] of this.#files.entries()) {
      if (file.sum === '') continue;
      const [algorithm, name] = file.sum.length > 64 ? ['sha512', 'SHA-512'] : ['sha256', 'SHA-256'];
      const hash = createHash(algorithm);
      await pipeline(createReadStream(this.part(file)), hash, { signal });
      const found = hash.digest('hex');
      if (found === file.sum) continue;
      await rm(this.part(file), { force: true });
      this.#done[index] = 0;
      throw new KvasirError(
        'CHECKSUM_MISMATCH',
        `Checksum mismatch: the file from ${new URL(file.url).host} has the ${name} ${found}.`,
        'Check the URL and the checksum, then download it again.',
      );
    }
  }

  /** Renames the files to their final names; the first file last, because it identifies the model. STORE_READ_ONLY. */
  async place(): Promise<string> {
    for (const file of this.#files.toReversed()) await move(this.part(file), this.path(file));
    return this.path(this.#first);
  }

  /** Deletes finished files, and with `parts` also partial ones. */
  remove({ parts }: { parts: boolean }): void {
    for (const file of this.#files) {
      rmSync(this.path(file), { force: true });
      if (parts) rmSync(this.part(file), { force: true });
    }
  }

  get #first(): FetchedFile {
    const [first] = this.#files;
    if (!first) throw new Error('a download has no files');
    return first;
  }

  /** Retries until a file is complete; the delay grows after each attempt without data. */
  async #receive(index: number, signal: AbortSignal): Promise<void> {
    for (let failures = 0; ;) {
      const before = this.#done[index] ?? 0;
      try {
        await this.#attempt(index, signal);
        return;
      } catch (error) {
        if (!(error instanceof TransientDownloadError) || signal.aborted) throw error;
        failures = (this.#done[index] ?? 0) > before ? 1 : failures + 1;
        if (failures >= MAX_ATTEMPTS) throw error;
        const wait = (this.#options.retryMs ?? 1000) * 2 ** (failures - 1);
        this.#options.log.info('download-interrupted', {
          url: this.#files[index]?.url,
          error: error.message,
        });
        await delay(Math.max(error.retryAfterMs, Math.min(wait, MAX_WAIT_MS)), undefined, { signal });
      }
    }
  }

  async #attempt(index: number, signal: AbortSignal): Promise<void> {
    const { files, headers, stallMs = 30_000 } = this.#options;
    const file = this.#files[index] ?? this.#first;
    let nextCheck = 0;
    await transfer({
      url: file.url,
      headers: await headers?.(file.url),
      part: this.part(file),
      known: this.#pinned ? { ...file, validator: '' } : file,
      checksummed: file.sum !== '',
      stallMs,
      signal,
      onRemote: async (remote, bytesDone) => {
        const told = { ...file, ...remote, bytesTotal: remote.bytesTotal || file.bytesTotal };
        this.#listener.onFile(told, file);
        this.#files[index] = told;
        this.#done[index] = bytesDone;
        await files.requireSpace(this.#bytesLeft());
      },
      onBytes: async (bytesDone) => {
        this.#listener.onBytes(bytesDone - (this.#done[index] ?? 0));
        this.#done[index] = bytesDone;
        if (bytesDone < nextCheck) return;
        nextCheck = bytesDone + SPACE_CHECK_BYTES;
        await files.requireSpace(this.#bytesLeft());
      },
    });
  }

  #bytesLeft(): number {
    return this.#files.reduce(
      (sum, { bytesTotal }, index) => sum + Math.max(0, bytesTotal - (this.#done[index] ?? 0)),
      0,
    );
  }
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    throw fileError(error, `The download ${from} could not be renamed`);
  }
}
