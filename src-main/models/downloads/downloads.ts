import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, rmSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import type { Download } from '../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { throttled, type EventBus } from '../../platform/event-bus.ts';
import { failureOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ModelFiles } from '../model-files.ts';
import { DownloadTable, type DownloadRow } from './download-table.ts';
import { Interrupted } from './request.ts';
import { Speed } from './speed.ts';
import { transfer } from './transfer.ts';
import type { Database } from '../../platform/database.ts';

interface DownloadsOptions {
  database: Database;
  files: ModelFiles;
  events: EventBus;
  log: Logger;
  /** Makes a model of a finished file. MODEL_INVALID. */
  onFinished: (path: string) => Promise<unknown>;
  /** First wait before another attempt, in milliseconds; doubles up to a minute. Default 1000. */
  retryMs?: number;
  /** Default 30,000. */
  stallMs?: number;
}

interface Job {
  row: DownloadRow;
  bytesDone: number;
  speed: Speed;
  /** Set while it is worked on. */
  running: { controller: AbortController; ended: Promise<void> } | undefined;
  announce: ReturnType<typeof throttled>;
}

const UNFINISHED: ReadonlySet<Download['state']> = new Set(['queued', 'downloading', 'verifying']);
const PARALLEL = 2;
/** Attempts in a row that bring nothing. */
const MAX_ATTEMPTS = 6;
const MAX_WAIT_MS = 60_000;
/** Bytes between two looks at the disk's free space. */
const SPACE_CHECK_BYTES = 256 * 1024 * 1024;
/** Milliseconds between two events of one download. */
const EVENT_MS = 200;

/**
 * Model files on their way from the web: resumed after a cut and after a restart, checked, then handed on. A little long: all of it is
 * one state machine.
 */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #table: DownloadTable;
  readonly #jobs = new Map<string, Job>();
  #closing = false;

  constructor(options: DownloadsOptions) {
    this.#options = options;
    this.#table = new DownloadTable(options.database);
    for (const row of this.#table.all()) {
      // What is finished is a model by now; a table that came with a backup may name files elsewhere.
      if (row.state === 'done' || !options.files.owns(join(options.files.dir, row.file)))
        this.#table.remove(row.id);
      else this.#add({ ...row, state: ['paused', 'failed'].includes(row.state) ? row.state : 'queued' });
    }
  }

  /** Goes on with what an earlier run left unfinished. */
  start(): void {
    this.#next();
  }

  list(): Download[] {
    return [...this.#jobs.values()].map(describe);
  }

  /** Begins a download; the one of the same address goes on where there is one. DISK_FULL, STORE_READ_ONLY. */
  async add({ url, name, sha256 }: ParsedInputOf<'models.download'>, bytes = 0): Promise<Download> {
    const known = [...this.#jobs.values()].find((job) => job.row.url === url && job.row.state !== 'done');
    if (known) {
      if (['paused', 'failed'].includes(known.row.state)) this.resume(known.row.id);
      return describe(known);
    }
    await this.#options.files.requireSpace(bytes);
    const path = this.#options.files.freeName(name || fileNameOf(url));
    const job = this.#add({
      id: randomUUID(),
      url,
      name: name || fileNameOf(url),
      sha256: sha256.toLowerCase(),
      file: basename(path),
      state: 'queued',
      bytesTotal: bytes,
      validator: '',
      failure: null,
    });
    this.#set(job, 'queued');
    this.#next();
    return describe(job);
  }

  /** NOT_FOUND. */
  async pause(id: string): Promise<void> {
    const job = this.#require(id);
    await this.#stop(job);
    if (UNFINISHED.has(job.row.state)) this.#set(job, 'paused');
    this.#next();
  }

  /** NOT_FOUND. */
  resume(id: string): void {
    const job = this.#require(id);
    if (job.row.state !== 'paused' && job.row.state !== 'failed') return;
    this.#set(job, 'queued');
    this.#next();
  }

  /** Ends a download and deletes what is there of it. NOT_FOUND. */
  async cancel(id: string): Promise<void> {
    const job = this.#require(id);
    await this.#stop(job);
    this.#jobs.delete(id);
    this.#table.remove(id);
    await rm(this.#part(job), { force: true });
    this.#options.events.emit('models.changed', {});
    this.#next();
  }

  /** Stops; the next run goes on. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#jobs.values()].map((job) => this.#stop(job)));
  }

  #add(row: DownloadRow): Job {
    const job: Job = {
      row,
      bytesDone: 0,
      speed: new Speed(),
      running: undefined,
      announce: throttled(EVENT_MS, () => this.#options.events.emit('models.download', describe(job))),
    };
    job.bytesDone = statSync(this.#part(job), { throwIfNoEntry: false })?.size ?? 0;
    this.#jobs.set(row.id, job);
    return job;
  }

  #next(): void {
    if (this.#closing) return;
    const jobs = [...this.#jobs.values()];
    const free = PARALLEL - jobs.filter(({ running }) => running).length;
    const waiting = jobs.filter(({ row, running }) => row.state === 'queued' && !running);
    for (const job of waiting.slice(0, Math.max(0, free))) this.#run(job);
  }

  #run(job: Job): void {
    const controller = new AbortController();
    const ended = this.#work(job, controller.signal)
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        this.#options.log.warn('download-failed', { url: job.row.url, error: String(error) });
        this.#set(job, 'failed', { failure: failureOf(error) });
      })
      .finally(() => {
        job.running = undefined;
        this.#next();
      });
    job.running = { controller, ended };
  }

  async #stop(job: Job): Promise<void> {
    job.running?.controller.abort(new KvasirError('ABORTED', 'The download was stopped.'));
    await job.running?.ended;
  }

  /** Whether a file holds what came so far of a download that can go on. */
  isPart(path: string): boolean {
    return [...this.#jobs.values()].some((job) => this.#part(job) === path);
  }

  async #work(job: Job, signal: AbortSignal): Promise<void> {
    const path = join(this.#options.files.dir, job.row.file);
    // The program ended between the last two steps: take them again.
    if (existsSync(path) && !existsSync(this.#part(job))) await rename(path, this.#part(job));
    this.#set(job, 'downloading');
    await this.#receive(job, signal);
    this.#set(job, 'verifying');
    await this.#verify(job, signal);
    await rename(this.#part(job), path);
    try {
      await this.#options.onFinished(path);
    } catch (error) {
      rmSync(path, { force: true }); // not a model: nothing to go on with
      throw error;
    }
    this.#set(job, 'done');
  }

  /** Attempts until the file is whole; waits longer after each that brought nothing. */
  async #receive(job: Job, signal: AbortSignal): Promise<void> {
    for (let failures = 0; ;) {
      const before = job.bytesDone;
      try {
        await this.#attempt(job, signal);
        return;
      } catch (error) {
        if (!(error instanceof Interrupted) || signal.aborted) throw error;
        failures = job.bytesDone > before ? 1 : failures + 1;
        if (failures >= MAX_ATTEMPTS) throw error;
        const wait = (this.#options.retryMs ?? 1000) * 2 ** (failures - 1);
        this.#options.log.info('download-interrupted', { url: job.row.url, error: error.message });
        await delay(Math.max(error.retryAfterMs, Math.min(wait, MAX_WAIT_MS)), undefined, { signal });
      }
    }
  }

  async #attempt(job: Job, signal: AbortSignal): Promise<void> {
    const { files, stallMs = 30_000 } = this.#options;
    let nextCheck = 0;
    await transfer({
      url: job.row.url,
      part: this.#part(job),
      known: job.row,
      checksummed: job.row.sha256 !== '',
      stallMs,
      signal,
      onRemote: async ({ bytesTotal, validator }, bytesDone) => {
        job.bytesDone = bytesDone;
        this.#set(job, 'downloading', { bytesTotal, validator });
        await files.requireSpace(Math.max(0, bytesTotal - bytesDone));
      },
      onBytes: async (bytesDone) => {
        job.speed.add(bytesDone - job.bytesDone);
        job.bytesDone = bytesDone;
        job.announce();
        if (bytesDone < nextCheck) return;
        nextCheck = bytesDone + SPACE_CHECK_BYTES;
        await files.requireSpace(Math.max(0, job.row.bytesTotal - bytesDone));
      },
    });
  }

  /** CHECKSUM_MISMATCH, after which nothing of the file is kept. */
  async #verify(job: Job, signal: AbortSignal): Promise<void> {
    if (job.row.sha256 === '') return;
    const hash = createHash('sha256');
    await pipeline(createReadStream(this.#part(job)), hash, { signal });
    const found = hash.digest('hex');
    if (found === job.row.sha256) return;
    await rm(this.#part(job), { force: true });
    job.bytesDone = 0;
    throw new KvasirError(
      'CHECKSUM_MISMATCH',
      `What ${new URL(job.row.url).host} sent is not the file that was announced: its SHA-256 is ${found}.`,
      'Check the address and the checksum, then download it again.',
    );
  }

  #set(job: Job, state: Download['state'], changes: Partial<DownloadRow> = {}): void {
    job.row = { ...job.row, failure: null, ...changes, state };
    if (state !== 'downloading') job.speed = new Speed();
    this.#table.put(job.row);
    job.announce();
  }

  #part(job: Job): string {
    return join(this.#options.files.dir, `${job.row.file}.part`);
  }

  #require(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw new KvasirError('NOT_FOUND', 'There is no such download any more.');
  }
}

function describe({ row, bytesDone, speed }: Job): Download {
  const { id, name, url, state, bytesTotal, failure } = row;
  const bytesPerSecond = speed.perSecond();
  const left = bytesTotal > 0 && bytesPerSecond > 0 ? (bytesTotal - bytesDone) / bytesPerSecond : null;
  return {
    id,
    name,
    url,
    state,
    bytesTotal,
    bytesPerSecond,
    failure,
    bytesDone: state === 'done' ? Math.max(bytesDone, bytesTotal) : bytesDone,
    secondsLeft: state === 'downloading' ? left : null,
  };
}

function fileNameOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || 'model.gguf';
  } catch {
    return last;
  }
}
