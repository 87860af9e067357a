import { open, type FileHandle } from 'node:fs/promises';
import { piecesOf, type Driver, type ValueSource } from './driver.ts';
import { encryptedValue } from './encryption.ts';

interface WriteBehindOptions {
  driver: Driver;
  /** Encryption key of values. */
  key: Buffer | undefined;
  nameOf: (chunk: string) => string;
  isOut: () => boolean;
  /** A driver call that writes the given number of bytes, with a timeout. */
  ask: <T>(bytes: number, call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  isThere: (chunk: string) => Promise<boolean>;
  /** Whether to overwrite an existing value. */
  isWrong: (chunk: string) => boolean;
  onWritten: (chunk: string, bytes: number) => void;
  onChange: () => void;
}

/** Files above this limit are offered again at the next start. */
const MOST_WAITING = 10_000;
/** Attempts per file; the failure may concern only that file. */
const TRIES = 3;
const PAUSE_MS = 30_000;
const MOST_PAUSE_MS = 600_000;

interface QueuedWrite {
  path: string;
  tries: number;
}

/**
 * Writes chunk files to the shared cache in the background, one at a time, while the tier responds. Nobody waits for
 * them.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions;
  readonly #waiting = new Map<string, QueuedWrite>();
  readonly #settled = new Set<{ most: number; resolve: () => void }>();
  #working = false;
  /** Set while writing fails although reading may work: the storage is full, not writable, or the line is slow. */
  #pause: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #closed = false;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(chunk: string, path: string): void {
    if (this.#closed || this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.set(chunk, { path, tries: 0 });
    this.#options.onChange();
    this.go();
  }

  /** Starts writing, or resumes after the tier was unreachable. */
  go(): void {
    if (this.#working || this.#pause || this.#closed) return;
    this.#working = true;
    setImmediate(() => void this.#work());
  }

  settled(most: number): Promise<void> {
    if (this.#isSettled(most)) return Promise.resolve();
    return new Promise((resolve) => this.#settled.add({ most, resolve }));
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    clearTimeout(this.#pause);
    this.#tellSettled();
  }

  async #work(): Promise<void> {
    while (!this.#closed && !this.#pause && !this.#options.isOut()) {
      const [next] = this.#waiting;
      if (!next) break;
      await this.#one(...next);
      this.#tellSettled();
    }
    this.#working = false;
    this.#tellSettled();
  }

  async #one(chunk: string, waiting: QueuedWrite): Promise<void> {
    try {
      await this.#write(chunk, waiting.path);
      this.#pauseMs = 0;
      this.#waiting.delete(chunk);
    } catch {
      this.#waiting.delete(chunk);
      if (++waiting.tries < TRIES) this.#waiting.set(chunk, waiting); // after the others
      if (!this.#options.isOut()) this.#rest();
    }
    this.#options.onChange();
  }

  async #write(chunk: string, path: string): Promise<void> {
    const { isWrong, isThere } = this.#options;
    const over = isWrong(chunk);
    if (!over && (await isThere(chunk))) return;
    if (this.#options.isOut()) throw new Error('the tier is out');
    const file = await open(path, 'r').catch(() => undefined);
    if (!file) return; // evicted meanwhile
    try {
      await this.#send(chunk, file, over);
    } finally {
      await file.close();
    }
  }

  async #send(chunk: string, file: FileHandle, over: boolean): Promise<void> {
    const { driver, key, nameOf, ask, onWritten } = this.#options;
    const { size } = await file.stat();
    const name = nameOf(chunk);
    const value = key ? encryptedValue(file, size, name, key) : plain(file, size);
    if (value.bytes > driver.largestBytes) return;
    await ask(value.bytes, (signal) => driver.write(name, value, signal, over));
    onWritten(chunk, value.bytes);
  }

  #rest(): void {
    this.#pauseMs = Math.min(MOST_PAUSE_MS, Math.max(PAUSE_MS, this.#pauseMs * 2));
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.go();
    }, this.#pauseMs).unref();
  }

  #isSettled(most: number): boolean {
    return this.#closed || this.#waiting.size <= most || this.#pause !== undefined || this.#options.isOut();
  }

  #tellSettled(): void {
    for (const waiter of this.#settled) {
      if (!this.#isSettled(waiter.most)) continue;
      this.#settled.delete(waiter);
      waiter.resolve();
    }
  }
}

function plain(file: FileHandle, bytes: number): ValueSource {
  return { bytes, pieces: () => piecesOf(file, bytes, PIECE_BYTES) };
}

const PIECE_BYTES = 2 ** 20;
