import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Often enough for a log to stay small, and seldom enough that a short program does without the thread. */
const AFTER_MS = 500;
/** SQLite checkpoints by itself, on the thread that writes, beyond so many pages of log. */
export const LOG_PAGES = 16_384;
/** What a log's file keeps for the next writes once all of it is in the database. */
export const LOG_BYTES = 16 * 1024 * 1024;
const PATIENCE_MS = 10_000;
const ASK_MS = 5;
/** How long work that writes at a stretch goes on before it lets the log be emptied. */
const STRETCH_MS = 1000;

const [IDLE, BUSY] = [0, 1];

const CHECKPOINTS_IN_THREAD = `
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const Database = process.getBuiltinModule('node:module').createRequire(workerData)(workerData);
  parentPort.on('message', ({ path, state }) => {
    try {
      const database = new Database(path, { fileMustExist: true });
      try {
        database.pragma('wal_checkpoint(PASSIVE)');
      } finally {
        database.close();
      }
    } catch {
      // Damaged, gone or without room: whoever writes meets it too, and says so.
    }
    Atomics.store(state, 0, ${IDLE});
    Atomics.notify(state, 0);
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
    for (const state of underWay) Atomics.store(state, 0, IDLE); // nobody would
  });
  return worker;
}

/**
 * Brings what a database's log holds into its file, some time after writes, on a thread of its own: there waiting for the disk keeps
 * nobody else waiting. One for each open database in WAL mode; the thread is one for all.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #state = new Int32Array(new SharedArrayBuffer(4));
  #timer: NodeJS.Timeout | undefined;
  #emptied = performance.now();

  constructor(path: string) {
    this.#path = path;
  }

  /** After a write. */
  soon(): void {
    this.#timer ??= setTimeout(() => this.#begin(), AFTER_MS).unref();
  }

  /**
   * For work that writes very much, between two steps: now and then waits until all of the log is in the file. Only then is the log
   * begun anew; otherwise it would grow for as long as the work goes on.
   */
  async rest(): Promise<void> {
    if (performance.now() - this.#emptied < STRETCH_MS) return;
    await this.#ended(); // it may have begun before the last write
    this.#begin();
    await this.#ended();
    this.#emptied = performance.now();
  }

  /** Waits for one under way: whoever closes a database last tidies its log away. */
  close(): void {
    clearTimeout(this.#timer);
    underWay.delete(this.#state);
    Atomics.wait(this.#state, 0, BUSY, PATIENCE_MS);
  }

  async #ended(): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (Atomics.load(this.#state, 0) === BUSY && performance.now() < until) await sleep(ASK_MS);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (Atomics.compareExchange(this.#state, 0, IDLE, BUSY) === BUSY) return this.soon();
    underWay.add(this.#state);
    thread ??= startThread();
    thread.postMessage({ path: this.#path, state: this.#state });
  }
}
