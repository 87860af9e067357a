import { basename } from 'node:path/posix';
import type {
  HubEntry,
  HubFile,
  HubInfo,
  HubRepository,
  StartingPoint,
} from '../../../../src-shared/contract/hub.ts';
import type { Engine, GgufInfo } from '../../../engine/engine.ts';
import type { Download } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { EventBus } from '../../../platform/event-bus.ts';
import { failureOf } from '../../../platform/failure.ts';
import type { Logger } from '../../../platform/logger.ts';
import { RecentStore } from '../../../platform/recent-store.ts';
import type { SettingsService } from '../../../platform/settings-service.ts';
import type { Downloads } from '../downloads/downloads.ts';
import { inspectedOf } from '../../registry/entry.ts';
import type { KnownModels } from '../../registry/known-models.ts';
import { stemOf } from '../../registry/model-parts.ts';
import type { ModelRegistry } from '../../registry/model-registry.ts';
import { expectedSpeed } from './expected-speed.ts';
import { HubApi, type RepositoryInfo } from './hub-api.ts';
import { sortFiles, type Quantisation } from './hub-files.ts';
import type { HubToken } from './hub-token.ts';
import { recommended } from './recommend.ts';
import { hubFailure } from './refusals.ts';
import { readRemoteHeader, type RemoteHeader } from './remote-header.ts';
import { entryOf, roleBy } from './repository-entry.ts';
import { machineOf, suggestionsFor, type Suggestion } from './starting-points.ts';

interface HubOptions {
  settings: SettingsService;
  events: EventBus;
  log: Logger;
  engine: Pick<Engine, 'inspect' | 'devices'>;
  known: Pick<KnownModels, 'fit' | 'memory'>;
  registry: Pick<ModelRegistry, 'all'>;
  downloads: Pick<Downloads, 'addFiles'>;
  /** Temporary folder for headers while they are read. */
  dir: string;
  startingPoints: string;
  token: HubToken;
  timeoutMs?: number | undefined;
}

/** A repository's files at one commit, which never change. */
type Files = ReturnType<typeof sortFiles>;

/** Settings that affect requests and the assessment of files. */
const JUDGED_BY = ['hubAddress', 'contextTokens', 'conversationDtype'] as const;

/** Number of repositories and headers cached. */
const REMEMBERED = 50;

/**
 * Models on a hub with the Hugging Face API: search, repositories, downloads. Sends requests only when the user asks.
 */
export class Hub {
  /** Stops listening to settings. */
  readonly close: () => void;
  readonly #options: HubOptions;
  readonly #api: HubApi;
  readonly #files = new RecentStore<Files>(REMEMBERED);
  #headers = new RecentStore<RemoteHeader>(REMEMBERED);

  constructor(options: HubOptions) {
    this.#options = options;
    this.#api = new HubApi({
      address: () => this.#address,
      headers: (url) => options.token.headers(url),
      timeoutMs: options.timeoutMs,
    });
    this.close = options.settings.onChange((now, before) => {
      if (JUDGED_BY.some((key) => now[key] !== before[key])) options.events.emit('hub.changed', {});
    });
  }

  /** Information available without a request. */
  async info(): Promise<HubInfo> {
    const { token } = this.#options;
    return {
      address: this.#address,
      host: new URL(this.#address).host,
      ...(await token.state(this.#address)),
      tokenFile: token.path,
      machine: this.#machine,
    };
  }

  /** Stores a token for the hub in the settings; '' deletes it. BAD_ARGUMENT, STORE_READ_ONLY. */
  async setToken(token: string): Promise<HubInfo> {
    await this.#options.token.set(this.#address, token);
    this.#headers = new RecentStore(REMEMBERED);
    this.#options.events.emit('hub.changed', {});
    return this.info();
  }

  search(query: string, cursor: string): Promise<{ entries: HubEntry[]; next: string }> {
    return this.#asking('', async () => {
      const { entries, next } = await this.#api.search(query, cursor);
      return { entries: entries.map(entryOf), next };
    });
  }

  /**
   * The starting points in the resources for a machine like this, with current data from the hub; missing ones are left
   * out.
   */
  async start(): Promise<StartingPoint[]> {
    const suggestions = suggestionsFor(this.#options.startingPoints, this.#machine);
    const results = await Promise.allSettled(suggestions.map((each) => this.#startingPoint(each)));
    const points = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    for (const result of results) {
      if (result.status !== 'rejected') continue;
      if (points.length === 0) throw result.reason;
      this.#options.log.info('starting-point-left-out', { error: String(result.reason) });
    }
    return points;
  }

  /** A repository with its files and an assessment of its header for this machine. */
  repository(repository: string): Promise<HubRepository> {
    return this.#asking(repository, async () => {
      const listed = await this.#api.info(repository);
      const { models, others } = await this.#filesOf(listed.id, listed.sha);
      const read = await this.#headerOf(listed, models);
      const { header } = read;
      const files = models.map((model) => this.#fileOf(listed.id, model, header));
      const entry = entryOf(listed);
      const role = header ? roleBy(entry.role, header) : entry.role;
      if (isUsable(role, header)) recommend(files);
      return {
        ...entry,
        role,
        revision: listed.sha,
        page: this.#api.page(listed.id),
        header: header && this.#told(listed.id, header),
        failure: read.failure,
        files,
        others,
        bytesPerSecond: read.bytesPerSecond,
      };
    });
  }

  /** HUB_CHANGED: this revision has no such file; DISK_FULL. */
  download(repository: string, revision: string, path: string): Promise<Download> {
    return this.#asking(repository, async () => {
      const { models } = await this.#filesOf(repository, revision);
      const model = models.find(({ files }) => files[0].path === path);
      if (!model) {
        const advice = 'Open the repository again.';
        throw new KvasirError('HUB_CHANGED', `${repository} has no model file ${path}.`, advice);
      }
      const { sha256 } = model.files[0];
      return this.#options.downloads.addFiles({
        name: `${stemOf(basename(path))}.gguf`,
        source: { hub: this.#address, repository, revision, path, sha256 },
        files: model.files.map((file) => ({
          url: this.#api.fileUrl(repository, revision, file.path),
          sha256: file.sha256,
          bytesTotal: file.bytes,
        })),
      });
    });
  }

  get #address(): string {
    return this.#options.settings.current.hubAddress;
  }

  get #machine() {
    const { engine, known } = this.#options;
    return machineOf(engine.devices(), known.memory());
  }

  #startingPoint({ repository, role, quantization }: Suggestion): Promise<StartingPoint[]> {
    return this.#asking(repository, async () => {
      const listed = await this.#api.info(repository);
      const { models } = await this.#filesOf(listed.id, listed.sha);
      const model = models.find((each) => each.quantization === quantization) ?? models[0];
      if (!model) return [];
      const { license, gated } = entryOf(listed);
      const file = this.#fileOf(listed.id, model, null);
      return [{ repository: listed.id, role, license, gated, revision: listed.sha, file }];
    });
  }

  async #filesOf(repository: string, revision: string): Promise<Files> {
    const key = `${this.#address} ${repository} ${revision}`;
    const files = this.#files.get(key) ?? sortFiles(await this.#api.tree(repository, revision));
    this.#files.keep(key, files);
    return files;
  }

  /**
   * One header for all quantisations: from the model with the fewest and smallest files. A failure is reported
   * alongside the rest.
   */
  async #headerOf({ id, sha }: RepositoryInfo & { sha: string }, models: readonly Quantisation[]) {
    const [model] = models.toSorted((a, b) => a.files.length - b.files.length);
    if (!model) return { header: null, bytesPerSecond: null, failure: null };
    // Permission to read one repository does not extend to another with the same file.
    const key = `${id} ${model.files[0].sha256}`;
    try {
      const known = this.#headers.get(key);
      const files = model.files.map((file) => ({ ...file, url: this.#api.fileUrl(id, sha, file.path) }));
      const { engine, dir, token } = this.#options;
      const headers = (url: string) => token.headers(url);
      const read = known ?? (await readRemoteHeader(files, { engine, dir, headers }));
      this.#headers.keep(key, read);
      return { ...read, failure: null };
    } catch (error) {
      const failure = failureOf(await this.#explain(error, id));
      return { header: null, bytesPerSecond: null, failure };
    }
  }

  #fileOf(repository: string, model: Quantisation, header: GgufInfo | null): HubFile {
    const { quantization, bytes, files } = model;
    const own = header && { ...header, fileBytes: bytes };
    return {
      quantization,
      bytes,
      parts: files.length,
      path: files[0].path,
      recommended: null,
      fit: own && this.#options.known.fit({ header: own }),
      speed: own ? expectedSpeed(this.#options.registry.all(), own) : { reading: null, writing: null },
      local: this.#localOf(repository, files[0]),
    };
  }

  /** The local model downloaded from this file, or from an earlier version of the same name. */
  #localOf(repository: string, { path, sha256 }: { path: string; sha256: string }): HubFile['local'] {
    const rows = this.#options.registry.all();
    const same = rows.find(({ source }) => source?.sha256 === sha256);
    const older = rows.find(({ source }) => source?.repository === repository && source.path === path);
    const row = same ?? older;
    return row ? { id: row.id, same: row === same } : null;
  }

  #told(repository: string, header: GgufInfo): NonNullable<HubRepository['header']> {
    const { name: _, role: __, ...inspected } = inspectedOf({ name: null, header, path: repository });
    const { contextTrain, parameterCount } = header;
    return { ...inspected, contextTrain, parameterCount };
  }

  async #asking<T>(repository: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw await this.#explain(error, repository);
    }
  }

  #explain(error: unknown, repository: string): Promise<unknown> {
    return hubFailure(error, { hub: this.#address, repository }, this.#options.token);
  }
}

/** Whether to recommend files: depends on the model's role and on whether an engine supports it. */
function isUsable(role: HubEntry['role'], header: GgufInfo | null): boolean {
  if (role === 'reranker') return header?.reranker ?? true;
  if (role === 'other') return false;
  return header === null || header.embedding || header.unsupportedReason === '';
}

function recommend(files: HubFile[]): void {
  const best = recommended(files);
  const chosen = best && files[best.index];
  if (chosen) chosen.recommended = best.why;
}
