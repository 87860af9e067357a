import type { Settings } from '../../../src-shared/settings.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { DeviceService } from '../../devices/device-service.ts';
import type { Core } from '../../platform/core.ts';
import { failureOf } from '../../platform/failure.ts';
import { SerialQueue } from '../../platform/serial-queue.ts';
import type {
  ActiveEmbedder,
  ActiveModel,
  ActiveReranker,
  EmbedderSource,
  ModelSource,
} from '../active-model.ts';
import { modelName, roleOf, withAdapter } from '../registry/entry.ts';
import type { KnownModels } from '../registry/known-models.ts';
import { DEMO_MODEL_ID, type ModelRegistry, type ModelRow } from '../registry/model-registry.ts';
import { isOnServer, type ServerModels } from '../sources/servers/server-models.ts';
import type { FileLoader } from './file-loader.ts';
import { SearchModel } from './search-model.ts';

type LoadedModel = ActiveModel['model'];

interface ModelLoaderOptions extends Core {
  files: FileLoader;
  servers: Pick<ServerModels, 'load'>;
  devices: Pick<DeviceService, 'onChange'>;
  known: KnownModels;
  registry: ModelRegistry;
}

/** By role: the setting with the model's id, and what its absence means for search. */
const SEARCH_SETTINGS = {
  embedding: { key: 'embeddingModel', without: 'so search goes by words alone' },
  reranker: { key: 'rerankModel', without: 'so search results keep their order' },
} as const;

type SearchRole = keyof typeof SEARCH_SETTINGS;

/**
 * The models in use: the chat model, loaded when first needed and replaced while nobody uses it, and the embedding
 * model and the reranker, if there are any.
 */
export class ModelLoader implements ModelSource, EmbedderSource {
  readonly #options: ModelLoaderOptions;
  readonly #listeners = new Set<(active: ActiveModel) => void>();
  readonly #releases: ((model: LoadedModel) => unknown)[] = [];
  readonly #search: Readonly<Record<SearchRole, SearchModel>>;
  readonly #unsubscribe: (() => void)[];
  #active: ActiveModel | undefined;
  #row: ModelRow | undefined;
  #firstEmbedder: Promise<void> | undefined;
  #starting: Promise<ActiveModel> | undefined;
  /** Serialises loading, replacing and disposing of the chat model. */
  readonly #queue = new SerialQueue();

  constructor(options: ModelLoaderOptions) {
    this.#options = options;
    const { files, settings, devices, known } = options;
    const load = files.embedder.bind(files);
    this.#search = { embedding: new SearchModel(load), reranker: new SearchModel(load) };
    this.#unsubscribe = [
      settings.onChange((now, before) => this.#onSettings(now, before)),
      devices.onChange(() => {
        this.#reloadChat();
        this.#reloadSearch();
        known.changed();
      }),
    ];
  }

  /** Loads the selected models in the background; a failure is reported as a notice and on the model's entry. */
  start(): void {
    this.current().catch(() => undefined); // reported by #install
    void this.useEmbedder();
  }

  /** Loads the selected embedding model and reranker, if there are any; a failure is reported as a notice. */
  useEmbedder(): Promise<void> {
    this.#firstEmbedder ??= this.#startSearch();
    return this.#firstEmbedder;
  }

  async #startSearch(): Promise<void> {
    const { settings, registry, known } = this.#options;
    for (const role of ['embedding', 'reranker'] as const) {
      const { key, without } = SEARCH_SETTINGS[role];
      const id = settings.current[key];
      // The header as it is now: an embedding model's rules, and with them its vectors' identity, follow from it.
      const row = id !== undefined && registry.get(id) ? known.get(id) : undefined;
      if (row?.loading === 1) this.#leaveOut(row, without);
      else if (row) await this.#search[role].use(row).catch((error: unknown) => this.#notice(error));
    }
  }

  get active(): ActiveModel | undefined {
    return this.#active;
  }

  current(): Promise<ActiveModel> {
    if (this.#active) return Promise.resolve(this.#active);
    this.#starting ??= this.#queue.run(() => this.#first()).finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  onChange(listener: (active: ActiveModel) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get embedder(): ActiveEmbedder | undefined {
    return this.#search.embedding.active;
  }

  get reranker(): ActiveReranker | undefined {
    const { active } = this.#search.reranker;
    return active && { id: active.id, reranker: active.embedder };
  }

  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void {
    return this.#search.embedding.onChange(listener);
  }

  /** Registers what releases memory of a chat model before it is disposed; called in reverse order. */
  beforeDispose(release: (model: LoadedModel) => unknown): void {
    this.#releases.unshift(release);
  }

  /** Releases what services hold of a chat model's memory. */
  async release(model: LoadedModel): Promise<void> {
    for (const release of this.#releases) await release(model);
  }

  /**
   * Loads a model and makes it the one for its role (answers, embeddings, reranking), now and at the next start; if loading fails, the
   * current one stays. Activating the current one reloads it, because its file may have changed.
   * NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, MODEL_TOO_LARGE, OUT_OF_MEMORY.
   */
  async activate(id: string): Promise<void> {
    const { known, settings } = this.#options;
    const row = known.get(id);
    const role = roleOf(row.header);
    if (role === 'chat') {
      await this.#switchTo(row);
      settings.update({ chatModel: id });
    } else {
      await this.#search[role].use(row);
      settings.update({ [SEARCH_SETTINGS[role].key]: id });
    }
    known.changed();
  }

  /** Stops using an embedding model or a reranker. NOT_FOUND, CONFLICT for a chat model. */
  async deactivate(id: string): Promise<void> {
    const { known, settings } = this.#options;
    const row = known.get(id);
    const role = roleOf(row.header);
    if (role === 'chat') {
      throw new KvasirError('CONFLICT', `${modelName(row)} is in use.`, 'Switch to another model first.');
    }
    if (this.#search[role].active?.id === id) await this.#search[role].stop();
    const { key } = SEARCH_SETTINGS[role];
    if (settings.current[key] === id) settings.update({ [key]: null });
    known.changed();
  }

  /** Reloads the chat model if it is this one: its adapter or its server has changed. Errors as activate(). */
  async reload(row: ModelRow): Promise<void> {
    if (this.active?.id === row.id) await this.#switchTo(row);
  }

  /** Announces a change of the chat model that needs no loading: another chunk size or name. */
  refresh(row = this.#row): void {
    if (!this.#active || !row || row.id !== this.#active.id) return;
    this.#row = row;
    const next = this.#activeOf(row, this.#active.model);
    if (next.chunkTokens !== this.#active.chunkTokens || next.name !== this.#active.name) this.#tell(next);
  }

  /** Disposes of the models once nothing uses them. */
  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    for (const model of Object.values(this.#search)) await model.stop();
    await this.#queue.run(async () => {
      if (this.#active) await this.#retire(this.#active);
    });
  }

  get #selected(): string {
    return this.#options.settings.current.chatModel ?? DEMO_MODEL_ID;
  }

  async #first(): Promise<ActiveModel> {
    if (this.#active) return this.#active;
    let failure: unknown;
    for (const row of this.#candidates()) {
      try {
        return await this.#install(row);
      } catch (error) {
        failure ??= error; // the requested model's failure is more informative than that of the last candidate
      }
    }
    throw failure;
  }

  /** The model in the settings, unless it is missing or crashed the last run; then the demo model. */
  #candidates(): ModelRow[] {
    const { known, registry } = this.#options;
    const demo = known.demo();
    const id = this.#selected;
    const row = registry.get(id);
    if (id === DEMO_MODEL_ID || !row) return [demo];
    if (row.loading === 0) return [row, demo];
    this.#leaveOut(row, 'so it started with the demo model');
    return [demo];
  }

  /** Skips a model that crashed the last run. */
  #leaveOut(row: ModelRow, instead: string): void {
    const { known, registry } = this.#options;
    const error = new KvasirError(
      'ENGINE_FAILED',
      `Kvasir crashed while loading ${modelName(row)}, ${instead}.`,
      'Activate the model again to retry.',
    );
    registry.setLoading(row.id, false);
    known.trouble.set(row.id, { state: 'failed', failure: failureOf(error) });
    known.changed();
    this.#notice(error);
  }

  /** Loads a chat model and replaces the current one; if loading fails, the current one stays. */
  #switchTo(row: ModelRow): Promise<ActiveModel> {
    return this.#queue.run(async () => {
      const [old, oldRow] = [this.#active, this.#row];
      if (!old || !oldRow) return this.#install(row);
      const { gate, known } = this.#options;
      if (known.fit(row).verdict === 'fits') {
        const model = await this.#load(row);
        return gate.foreground(async () => {
          const next = this.#use(row, model);
          await this.#dispose(old);
          return next;
        });
      }
      return gate.foreground(async () => {
        await this.#retire(old);
        try {
          return await this.#install(row);
        } catch (error) {
          await this.#install(oldRow);
          throw error;
        }
      });
    });
  }

  async #install(row: ModelRow): Promise<ActiveModel> {
    try {
      return this.#use(row, await this.#load(row));
    } catch (error) {
      if (row.id === this.#selected) this.#notice(error);
      throw error;
    }
  }

  async #load(row: ModelRow): Promise<LoadedModel> {
    const { files, servers, registry, known } = this.#options;
    if (!isOnServer(row)) return files.chat(row);
    const model = servers.load(row);
    registry.setFingerprint(row.id, model.info.fingerprint);
    setImmediate(() => known.changed());
    return model;
  }

  #use(row: ModelRow, model: LoadedModel): ActiveModel {
    this.#row = row;
    const active = this.#activeOf(row, model);
    this.#tell(active);
    return active;
  }

  #activeOf(row: ModelRow, model: LoadedModel): ActiveModel {
    const name = withAdapter(modelName(row), row.adapter);
    return { id: row.id, path: row.path, model, name, chunkTokens: this.#options.known.chunkTokens(row) };
  }

  #tell(active: ActiveModel): void {
    this.#active = active;
    for (const listener of [...this.#listeners]) {
      try {
        listener(active);
      } catch (error) {
        this.#options.log.error('model-listener-failed', { error: String(error) });
      }
    }
  }

  #retire(active: ActiveModel): Promise<void> {
    this.#active = undefined;
    this.#row = undefined;
    return this.#dispose(active);
  }

  async #dispose({ model }: ActiveModel): Promise<void> {
    await this.release(model);
    model.dispose();
  }

  #onSettings(now: Settings, before: Settings): void {
    if (now.chunkTokens !== before.chunkTokens) this.refresh();
    const otherThreads = now.threads !== before.threads;
    if (otherThreads || now.conversationDtype !== before.conversationDtype) this.#reloadChat();
    if (otherThreads) this.#reloadSearch();
  }

  #reloadChat(): void {
    const row = this.active && this.#options.registry.get(this.active.id);
    if (row) this.#switchTo(row).catch((error: unknown) => this.#notice(error));
  }

  #reloadSearch(): void {
    for (const model of Object.values(this.#search)) {
      const row = model.active && this.#options.registry.get(model.active.id);
      if (row) model.use(row).catch((error: unknown) => this.#notice(error));
    }
  }

  #notice(error: unknown): void {
    this.#options.events.emit('app.notice', { level: 'warning', failure: failureOf(error) });
  }
}
