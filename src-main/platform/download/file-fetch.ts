import { createHash } from 'node:crypto';
import { createReadStream, existsSync, rmSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Logger } from '../logger.ts';
import { Interrupted } from './request.ts';
import { transfer } from './transfer.ts';

/** One file to bring. */
export interface FetchedFile {
  url: string;
  /** Name in the folder; the unfinished file is called the same with .part behind it. */
  file: string;
  /** 0 while unknown. */
  bytesTotal: number;
  /** ETag or Last-Modified of what the part is of; '' when there is none. */
  validator: string;
  /** Hexadecimal SHA-256 or, as its length tells, SHA-512; '' when none was announced. */
  sum: string;
}

/** Where files are put. */
export interface Folder {
  dir: string;
  /** DISK_FULL when `bytes` more would not fit, or nearly. Makes the folder. */
  requireSpace(bytes: number): Promise<void>;
}

export interface FetchOptions<F extends Folder = Folder> {
  files: F;
  log: Logger;
  /** Sent with a request for an address. */
  headers?: ((url: string) => Promise<Record<string, string>>) | undefined;
  /** First wait before another attempt, in milliseconds; doubles up to a minute. Default 1000. */
  retryMs?: number | undefined;
  /** Milliseconds without a byte after which a server is given up for now. Default 30,000. */
  stallMs?: number | undefined;
}

/** What is to be brought. */
interface Wanted {
  files: readonly FetchedFile[];
  /**
   * Whether addresses name what never changes, and sums are known: a file then goes on by its position alone, also where another server
   * of the same network hands it out under another ETag. What was put together wrongly all the same is told by its sum.
   */
  pinned: boolean;
}

/** What is told of a fetch. */
interface FetchListener {
  /** What the server says of a file, beside what was known before; may throw. */
  onFile: (file: FetchedFile, known: FetchedFile) => void;
  onBytes: (bytes: number) => void;
}

/** Attempts in a row that bring nothing. */
const MAX_ATTEMPTS = 6;
const MAX_WAIT_MS = 60_000;
/** Bytes between two looks at the disk's free space. */
const SPACE_CHECK_BYTES = 256 * 1024 * 1024;

/** Brings the files of one download into a folder, one after another, and checks them. */
export class FileFetch {
  readonly #options: FetchOptions;
  readonly #listener: FetchListener;
  readonly #files: FetchedFile[];
  readonly #pinned: boolean;
  /** Of each file, what is there. */
  readonly #done: number[];

  constructor(options: FetchOptions, { files, pinned }: Wanted, listener: FetchListener) {
    this.#options = options;
    this.#listener = listener;
    this.#pinned = pinned;
    this.#files = [...files];
    this.#done = files.map((file) => statSync(this.part(file), { throwIfNoEntry: false })?.size ?? 0);
  }

  get bytesDone(): number {
    return this.#done.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Where a file is, and where what came so far of it. */
  path({ file }: Pick<FetchedFile, 'file'>): string {
    return join(this.#options.files.dir, file);
  }

  part(file: Pick<FetchedFile, 'file'>): string {
    return `${this.path(file)}.part`;
  }

  /** Everything up to its last byte. Interrupted when no attempt brings more; whatever transfer() rejects with. */
  async receive(signal: AbortSignal): Promise<void> {
    // The program ended after files got their names, and before they were a model: take these steps again.
    for (const file of this.#files) {
      const path = this.path(file);
      if (existsSync(path) && !existsSync(this.part(file))) await rename(path, this.part(file));
    }
    for (const index of this.#files.keys()) await this.#receive(index, signal);
  }

  /** CHECKSUM_MISMATCH, after which nothing of that file is kept. */
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
        `What ${new URL(file.url).host} sent is not the file that was announced: its ${name} is ${found}.`,
        'Check the address and the checksum, then download it again.',
      );
    }
  }

  /** Gives the files their names; the first last, since by that a model is known. */
  async place(): Promise<string> {
    for (const file of this.#files.toReversed()) await rename(this.part(file), this.path(file));
    return this.path(this.#first);
  }

  /** Deletes what has its name, and with `parts` also what is unfinished. */
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

  /** Attempts until a file is whole; waits longer after each that brought nothing. */
  async #receive(index: number, signal: AbortSignal): Promise<void> {
    for (let failures = 0; ;) {
      const before = this.#done[index] ?? 0;
      try {
        await this.#attempt(index, signal);
        return;
      } catch (error) {
        if (!(error instanceof Interrupted) || signal.aborted) throw error;
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
