import { join } from 'node:path';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { PackName, PackOffer } from '../../../src-shared/contract/devices.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Core } from '../../platform/core.ts';
import { FileFetch, type FetchedFile, type Folder } from '../../platform/download/file-fetch.ts';
import { requireSpace } from '../../platform/space.ts';
import { throttled } from '../../platform/event-bus.ts';
import { notFetchedFailure } from '../failures.ts';
import { releaseFolder } from './installed-packs.ts';
import { hasDriver, type PackPin, type PackPins } from './pins.ts';
import { packageAddress } from './registry.ts';
import { unpack } from './unpack.ts';

interface PackServiceOptions extends Pick<Core, 'events' | 'log'> {
  pins: PackPins;
  /** Folder for downloads, with a subfolder for each release. */
  dir: string;
  /** URL of the registry to download packages from. DOWNLOAD_FAILED. */
  registry: () => Promise<string>;
  isInstalled: (library: string) => boolean;
  /** Called with the path of a new pack. */
  onInstalled: (path: string) => void;
  /** Delay before the first retry, in milliseconds. Default 250: the user is waiting. */
  retryMs?: number | undefined;
}

/** The download of one pack, or its result. */
interface Job {
  state: Exclude<PackOffer['state'], 'offered'>;
  failure: Failure | null;
  /** 0 until the server has sent the size. */
  bytes: number;
  fetch: FileFetch | undefined;
  controller: AbortController;
  ended: Promise<void>;
}

/** Minimum time between two progress events, in milliseconds. */
const EVENT_MS = 200;

/**
 * Downloads GPU packs on request, verifies them against the pinned checksum, unpacks them and reports them to the
 * owner.
 */
export class PackService {
  readonly #options: PackServiceOptions;
  readonly #dir: string;
  readonly #jobs = new Map<PackName, Job>();
  readonly #announce: ReturnType<typeof throttled>;

  constructor(options: PackServiceOptions) {
    this.#options = options;
    this.#dir = releaseFolder(options.dir, options.pins.release);
    this.#announce = throttled(EVENT_MS, () => options.events.emit('devices.offers', this.offers()));
  }

  /** Most GPUs work with Vulkan; CUDA is offered to machines with NVIDIA's driver. */
  offers(): PackOffer[] {
    const { pins, isInstalled } = this.#options;
    return pins.pins.flatMap((pin) => {
      const { pack, title, library, bytes, needs } = pin;
      const driver = hasDriver(pin, pins);
      if (isInstalled(library) || (pack === 'cuda' && !driver)) return [];
      const job = this.#jobs.get(pack);
      const { state = 'offered', failure = null } = job ?? {};
      const bytesDone = job?.fetch?.bytesDone ?? 0;
      return [{ pack, title, driver, needs, state, failure, bytes: job?.bytes || bytes, bytesDone }];
    });
  }

  /** Starts or restarts the download of a pack. NOT_FOUND. */
  fetch(pack: PackName): void {
    const pin = this.#pinOf(pack);
    if (this.#options.isInstalled(pin.library))
      throw new KvasirError('NOT_FOUND', `The ${pin.title} pack is already installed.`);
    const known = this.#jobs.get(pack);
    if (known && known.state !== 'failed') return;
    const controller = new AbortController();
    const job: Job = {
      ...{ state: 'fetching', failure: null, bytes: 0, fetch: undefined },
      ...{ controller, ended: Promise.resolve() },
    };
    this.#jobs.set(pack, job);
    job.ended = this.#run(pin, job);
    this.#announce();
  }

  /** Cancels the download and deletes the partial file. */
  async cancel(pack: PackName): Promise<void> {
    const job = this.#jobs.get(pack);
    if (!job) return;
    job.controller.abort(new KvasirError('ABORTED', 'The download was cancelled.'));
    await job.ended;
    this.#jobs.delete(pack);
    this.#clear(job);
    this.#announce();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#jobs.keys()].map((pack) => this.cancel(pack)));
    this.#announce.cancel();
  }

  async #run(pin: PackPin, job: Job): Promise<void> {
    const { log, pins, onInstalled } = this.#options;
    try {
      const path = await this.#install(pin, job, job.controller.signal);
      this.#jobs.delete(pin.pack);
      log.info('pack-installed', { path });
      onInstalled(path);
    } catch (error) {
      if (job.controller.signal.aborted) return;
      job.state = 'failed';
      job.failure = notFetchedFailure(pin, pins.release, error);
      log.warn('pack-not-fetched', { ...job.failure });
    }
    this.#announce();
  }

  /** Returns the path of the pack; the file gets its name once it is complete. Resumes a failed download. */
  async #install(pin: PackPin, job: Job, signal: AbortSignal): Promise<string> {
    const folder = {
      dir: this.#dir,
      requireSpace: (bytes: number) => requireSpace(this.#dir, bytes, `The ${pin.title} pack`),
    };
    await folder.requireSpace(pin.bytes);
    const url = packageAddress(await this.#options.registry(), pin.name, this.#options.pins.release);
    signal.throwIfAborted();
    const file = { url, file: `${pin.library}.tgz`, sum: pin.sum, bytesTotal: 0, validator: '' };
    const fetch = this.#fetchOf(folder, file, job);
    job.fetch = fetch;
    await fetch.receive(signal);
    await fetch.verify(signal);
    job.state = 'unpacking';
    this.#announce();
    const path = join(this.#dir, pin.library);
    await unpack(fetch.part(file), pin.member, path, signal);
    fetch.remove({ parts: true });
    return path;
  }

  #fetchOf(files: Folder, file: FetchedFile, job: Job): FileFetch {
    const { log, retryMs = 250 } = this.#options;
    return new FileFetch(
      { files, log, retryMs },
      { files: [file], pinned: true },
      {
        onFile: ({ bytesTotal }) => void (job.bytes = bytesTotal),
        onBytes: () => this.#announce(),
      },
    );
  }

  /** A file that cannot be removed now is deleted at the next start. */
  #clear({ fetch }: Job): void {
    try {
      fetch?.remove({ parts: true });
    } catch (error) {
      this.#options.log.warn('pack-not-removed', { dir: this.#dir, error: String(error) });
    }
  }

  #pinOf(pack: PackName): PackPin {
    const pin = this.#options.pins.pins.find((each) => each.pack === pack);
    if (pin) return pin;
    throw new KvasirError('NOT_FOUND', `The ${pack} pack is not available for this machine.`);
  }
}
