import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/**
 * Delay in milliseconds: short enough to keep a log small, long enough that a short program never starts the thread.
 */
const AFTER_MS = 500;
/** Above this many log pages SQLite checkpoints itself, on the writing thread. */
export const LOG_PAGES = 16_384;
/** Size in bytes that a log file keeps for later writes after a complete checkpoint. */
export const LOG_BYTES = 16 * 1024 * 1024;
/** Delay in milliseconds after the last write until the log is emptied: it holds what was deleted too. */
const QUIET_MS = 30_000;
const PATIENCE_MS = 10_000;
const ASK_MS = 5;
/** A database up to this size in bytes is vacuumed after a deletion, others when they close: writes wait meanwhile, some tenths of a second. */
export const VACUUMED_BYTES = 32 * 2 ** 20;
/** Delay in milliseconds after a deletion until the log is emptied for it, and how long that waits for others then. */
const CLEAN_MS = 2000;
const CLEAN_PATIENCE_MS = 1000;
const CLEAN_TRIES = 10;
/** Time in milliseconds that continuous writing may go on before the log is emptied. */
const STRETCH_MS = 1000;

const [IDLE, BUSY] = [0, 1];
/** Elements of a state: whether a checkpoint runs; how many cleanings have succeeded. */
const [RUNS, CLEANED] = [0, 1];

const CHECKPOINTS_IN_THREAD = `
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const Database = process.getBuiltinModule('node:module').createRequire(workerData)(workerData);
  const { statSync } = process.getBuiltinModule('node:fs');
  parentPort.on('message', ({ path, state, mode, cleans }) => {
    try {
      const timeout = cleans ? ${CLEAN_PATIENCE_MS} : 0;
      const database = new Database(path, { fileMustExist: true, timeout });
      try {
        if (cleans && statSync(path).size <= ${VACUUMED_BYTES}) database.exec('VACUUM');
        const [{ busy }] = database.pragma('wal_checkpoint(' + mode + ')');
        if (cleans && busy === 0) Atomics.add(state, ${CLEANED}, 1);
      } finally {
        database.close();
      }
    } catch {
      // Damaged, gone or without room: whoever writes meets it too, and says so.
    }
    Atomics.store(state, ${RUNS}, ${IDLE});
    Atomics.notify(state, ${RUNS});
  });
`;

let thread: Worker | undefined;
const underWay = new Set<Int32Array>();

function startThread(): Worker {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(CHECKPOINTS_IN_THREAD, { eval: true, workerData: driver });
  worker.unref();
  worker.once('error', () => {
    thread = undefined;
    for (const state of underWay) Atomics.store(state, RUNS, IDLE); // no listener exists
  });
  return worker;
}

/**
 * Checkpoints a database's write-ahead log some time after writes, on a separate thread, so that nobody waits for the
 * disk. One instance for each open database in WAL mode; all share one thread.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #state = new Int32Array(new SharedArrayBuffer(8));
  readonly #quietMs: number;
  #timer: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #emptied = performance.now();
  #cleaning: NodeJS.Timeout | undefined;
  /** Cleanings begun since the last deletion; and how many had succeeded before the last one. */
  #tries = 0;
  #cleaned = 0;

  constructor(path: string, quietMs = QUIET_MS) {
    this.#path = path;
    this.#quietMs = quietMs;
  }

  /** Call after a write. */
  soon(): void {
    this.#timer ??= setTimeout(() => this.#begin(), AFTER_MS).unref();
    this.#quiet ??= setTimeout(() => this.#begin('TRUNCATE'), this.#quietMs).unref();
    this.#quiet.refresh();
  }

  /**
   * Call after deleting what people want gone: empties the log soon, whether or not others write. `secure_delete`
   * overwrites rows, but not the copies that SQLite leaves in a page when it moves rows to another, so a small database
   * is vacuumed as well. Tries it a few times: another program may have the database open.
   */
  clean(): void {
    this.#tries = 0;
    this.#cleaning ??= setInterval(() => this.#tryCleaning(), CLEAN_MS).unref();
  }

  #tryCleaning(): void {
    if (Atomics.load(this.#state, RUNS) === BUSY) return;
    const isClean = this.#tries > 0 && Atomics.load(this.#state, CLEANED) > this.#cleaned;
    if (isClean || this.#tries >= CLEAN_TRIES) {
      clearInterval(this.#cleaning);
      this.#cleaning = undefined;
      return;
    }
    this.#tries++;
    this.#cleaned = Atomics.load(this.#state, CLEANED);
    this.#begin('TRUNCATE', true);
  }

  /**
   * For long writes, between two steps: occasionally waits until the whole log has been checkpointed. Only then does
   * SQLite restart the log; otherwise it would grow for as long as the work continues.
   */
  async rest(): Promise<void> {
    if (performance.now() - this.#emptied < STRETCH_MS) return;
    await this.#ended(); // the previous one may have begun before the last write
    this.#begin();
    await this.#ended();
    this.#emptied = performance.now();
  }

  /** Waits for a checkpoint in progress: the connection that closes last removes the log. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
    clearInterval(this.#cleaning);
    underWay.delete(this.#state);
    Atomics.wait(this.#state, RUNS, BUSY, PATIENCE_MS);
  }

  async #ended(): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (Atomics.load(this.#state, RUNS) === BUSY && performance.now() < until) await sleep(ASK_MS);
  }

  /** TRUNCATE: does nothing while somebody reads or writes. */
  #begin(mode: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE', cleans = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (Atomics.compareExchange(this.#state, RUNS, IDLE, BUSY) === BUSY) return this.soon();
    underWay.add(this.#state);
    thread ??= startThread();
    thread.postMessage({ path: this.#path, state: this.#state, mode, cleans });
  }
}
