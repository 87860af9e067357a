import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { ParsedInputOf } from '../../../../src-shared/contract/contract.ts';
import type { HubSource } from '../../../../src-shared/contract/hub.ts';
import type { Failure } from '../../../../src-shared/contract/common.ts';
import type { Download } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { throttled, type EventBus } from '../../../platform/event-bus.ts';
import { failureOf } from '../../../platform/failure.ts';
import type { Database } from '../../../platform/database.ts';
import type { ModelFiles } from '../../registry/model-files.ts';
import { DownloadTable, type DownloadFile, type DownloadRow } from './download-table.ts';
import { FileFetch, type FetchedFile, type FetchOptions } from '../../../platform/download/file-fetch.ts';
import { Speed } from '../../../platform/download/speed.ts';

interface DownloadsOptions extends FetchOptions<ModelFiles> {
  database: Database;
  events: EventBus;
  /** Adds a finished file as a model and returns its id. MODEL_INVALID. */
  onFinished: (path: string, source: HubSource | null) => Promise<string>;
  /** Explains a failure if the files are on a hub. */
  explain?: ((error: unknown, source: HubSource) => Promise<unknown>) | undefined;
}

/** A download request: the files of one model. */
interface DownloadRequest {
  name: string;
  source: HubSource | null;
  files: Pick<DownloadFile, 'url' | 'sha256' | 'bytesTotal'>[];
}

interface Job {
  row: DownloadRow;
  fetch: FileFetch;
  speed: Speed;
  /** Set while the job is running. */
  running: { controller: AbortController; ended: Promise<void> } | undefined;
  /** Id of the finished model; null until then. */
  modelId: string | null;
  announce: ReturnType<typeof throttled>;
}

const UNFINISHED: ReadonlySet<Download['state']> = new Set(['queued', 'downloading', 'verifying']);
const PARALLEL = 2;
/** Minimum time between two events of one download, in milliseconds. */
const EVENT_MS = 200;

/** Downloads model files: resumed after a dropped connection and after a restart, verified, then added as models. */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #table: DownloadTable;
  readonly #jobs = new Map<string, Job>();
  #closing = false;

  constructor(options: DownloadsOptions) {
    this.#options = options;
    this.#table = new DownloadTable(options.database);
    for (const row of this.#table.all()) {
      const job = this.#jobOf(row);
      // A finished file is a model by now; a table from a backup may name files elsewhere.
      const ours = row.files.every((file) => options.files.owns(job.fetch.path(file)));
      if (row.state === 'done' || !ours || row.files.length === 0) this.#table.remove(row.id);
      else {
        job.row = { ...row, state: ['paused', 'failed'].includes(row.state) ? row.state : 'queued' };
        this.#keep(job);
      }
    }
  }

  /** Resumes downloads that an earlier run left unfinished. */
  start(): void {
    this.#next();
  }

  list(): Download[] {
    return [...this.#jobs.values()].map(describe);
  }

  /** Starts a download from a URL, or resumes the existing one of the same URL. DISK_FULL, STORE_READ_ONLY. */
  add({ url, name, sha256 }: ParsedInputOf<'models.download'>, bytes = 0): Promise<Download> {
    const file = { url, sha256: sha256.toLowerCase(), bytesTotal: bytes };
    return this.addFiles({ name: name || fileNameOf(url), source: null, files: [file] });
  }

  /** The same for a model that may have several files. */
  async addFiles({ name, source, files }: DownloadRequest): Promise<Download> {
    const known = [...this.#jobs.values()].find(
      ({ row }) => row.state !== 'done' && row.files[0]?.url === files[0]?.url,
    );
    if (known) {
      if (['paused', 'failed'].includes(known.row.state)) this.resume(known.row.id);
      return describe(known);
    }
    await this.#options.files.requireSpace(files.reduce((sum, { bytesTotal }) => sum + bytesTotal, 0));
    const paths = this.#options.files.freeNames(name, files.length);
    const named = files.map((file, i) => ({ ...file, file: basename(paths[i] ?? ''), validator: '' }));
    const job = this.#jobOf({
      ...{ id: randomUUID(), name, source },
      ...{ files: named, state: 'queued', failure: null },
    });
    this.#keep(job);
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

  /** Cancels a download and deletes its partial files. NOT_FOUND. */
  async cancel(id: string): Promise<void> {
    const job = this.#require(id);
    await this.#stop(job);
    this.#jobs.delete(id);
    this.#release(job);
    this.#table.remove(id);
    if (job.row.state !== 'done') job.fetch.remove({ parts: true });
    this.#options.events.emit('models.changed', {});
    this.#next();
  }

  /** Stops; the next run resumes the downloads. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#jobs.values()].map((job) => this.#stop(job)));
  }

  /** Whether a file is the partial file of a resumable download. */
  isPart(path: string): boolean {
    return [...this.#jobs.values()].some(({ row, fetch }) =>
      row.files.some((file) => fetch.part(file) === path),
    );
  }

  #jobOf(row: DownloadRow): Job {
    const files = row.files.map(({ sha256, ...file }) => ({ ...file, sum: sha256 }));
    const wanted = { files, pinned: row.source !== null };
    const fetch = new FileFetch(this.#options, wanted, {
      onFile: (file, known) => this.#told(job, file, known),
      onBytes: (bytes) => {
        job.speed.add(bytes);
        job.announce();
      },
    });
    const announce = throttled(EVENT_MS, () => this.#options.events.emit('models.download', describe(job)));
    const job: Job = { row, fetch, speed: new Speed(), running: undefined, modelId: null, announce };
    return job;
  }

  /** HUB_CHANGED: the size differs from the one the hub announced. */
  #told(job: Job, file: FetchedFile, known: FetchedFile): void {
    if (job.row.source && file.bytesTotal !== known.bytesTotal) {
      throw new KvasirError(
        'HUB_CHANGED',
        `${file.file} changed on ${job.row.source.repository} after the download started.`,
        'Cancel the download, and open the repository again.',
      );
    }
    const { url, bytesTotal, validator } = file;
    const files = job.row.files.map((each) => (each.url === url ? { ...each, bytesTotal, validator } : each));
    this.#set(job, 'downloading', { files });
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
    const { source, id } = job.row;
    const ended = this.#work(job, controller.signal)
      .catch(async (error: unknown) => {
        if (controller.signal.aborted) return;
        const { explain } = this.#options;
        const failure = failureOf(source && explain ? await explain(error, source) : error);
        this.#options.log.warn('download-failed', { id, name: job.row.name, error: String(error) });
        this.#fail(job, failure);
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

  async #work(job: Job, signal: AbortSignal): Promise<void> {
    const { fetch } = job;
    this.#set(job, 'downloading');
    await fetch.receive(signal);
    this.#set(job, 'verifying');
    await fetch.verify(signal);
    const path = await fetch.place();
    try {
      job.modelId = await this.#options.onFinished(path, job.row.source);
    } catch (error) {
      fetch.remove({ parts: false }); // not a model: nothing to resume
      throw error;
    }
    this.#release(job);
    this.#set(job, 'done');
  }

  /** Nobody else gets the names of its files: receive() takes a file under such a name for the download's. */
  #keep(job: Job): void {
    this.#jobs.set(job.row.id, job);
    for (const file of job.row.files) this.#options.files.reserved.add(job.fetch.path(file));
  }

  #release({ row, fetch }: Job): void {
    for (const file of row.files) this.#options.files.reserved.delete(fetch.path(file));
  }

  #set(job: Job, state: Download['state'], changes: Partial<DownloadRow> = {}): void {
    job.row = { ...job.row, failure: null, ...changes, state };
    if (state !== 'downloading') job.speed = new Speed();
    this.#table.put(job.row);
    job.announce();
  }

  /** A table that cannot be written, as on a full disk, has an earlier state: the next start resumes the download. */
  #fail(job: Job, failure: Failure): void {
    try {
      this.#set(job, 'failed', { failure });
    } catch (error) {
      this.#options.log.warn('download-not-stored', { id: job.row.id, error: String(error) });
      job.announce();
    }
  }

  #require(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw new KvasirError('NOT_FOUND', 'Download not found.');
  }
}

function describe({ row, fetch, speed, modelId }: Job): Download {
  const { id, name, files, source, state, failure } = row;
  const known = files.every(({ bytesTotal }) => bytesTotal > 0);
  const bytesTotal = known ? files.reduce((sum, file) => sum + file.bytesTotal, 0) : 0;
  const bytesPerSecond = speed.perSecond();
  const bytesDone = state === 'done' ? Math.max(bytesTotal, fetch.bytesDone) : fetch.bytesDone;
  const left = bytesTotal > 0 && bytesPerSecond > 0 ? (bytesTotal - bytesDone) / bytesPerSecond : null;
  return {
    ...{ id, name, state, failure, modelId, bytesTotal, bytesDone, bytesPerSecond },
    url: files[0]?.url ?? '',
    source: source && { repository: source.repository, path: source.path },
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
