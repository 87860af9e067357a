import type { Settings } from '../../../src-shared/settings.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { DeviceService } from '../../devices/device-service.ts';
import type { Embedder, Engine, Model } from '../../engine/engine.ts';
import type { Core } from '../../platform/core.ts';
import { throttled } from '../../platform/event-bus.ts';
import { failureOf } from '../../platform/failure.ts';
import type { ActiveEmbedder, ActiveModel, EmbedderSource, ModelSource } from '../active-model.ts';
import { modelName, roleOf } from '../registry/entry.ts';
import type { KnownModels } from '../registry/known-models.ts';
import { DEMO_MODEL_ID, type ModelRegistry, type ModelRow } from '../registry/model-registry.ts';
import { isOnServer, type ServerModels } from '../sources/servers/server-models.ts';
import { ChatModel } from './chat-model.ts';
import { EmbeddingModel } from './embedding-model.ts';
import type { Trials } from './trial/trials.ts';

interface ModelLoaderOptions extends Core {
  engine: Pick<Engine, 'loadModel' | 'loadEmbedder'>;
  devices: Pick<DeviceService, 'packs' | 'load' | 'onChange'>;
  known: KnownModels;
  registry: ModelRegistry;
  servers: Pick<ServerModels, 'load'>;
  trials: Trials;
}

/** Minimum time between two reports of loading progress, in milliseconds. */
const PROGRESS_MS = 200;

/** Loads models: the chat model that answers, and the embedding model, if there is one. */
export class ModelLoader implements ModelSource, EmbedderSource {
  readonly #options: ModelLoaderOptions;
  readonly #chat: ChatModel;
  readonly #embedding = new EmbeddingModel((row) => this.#loadEmbedder(row));
  readonly #releases: ((model: Model) => unknown)[] = [];
  readonly #unsubscribe: (() => void)[];

  constructor(options: ModelLoaderOptions) {
    this.#options = options;
    const { gate, log, known, settings, devices } = options;
    this.#chat = new ChatModel({
      known,
      gate,
      log,
      load: (row) => this.#loadChat(row),
      candidates: () => this.#candidates(),
      beforeDispose: (model) => this.release(model),
    });
    this.#unsubscribe = [
      settings.onChange((now, before) => this.#onSettings(now, before)),
      devices.onChange(() => {
        this.#reloadChat();
        this.#reloadEmbedder();
        known.changed();
      }),
    ];
  }

  /** Loads the selected models in the background; a failure is reported as a notice and on the model's entry. */
  start(): void {
    this.current().catch(() => undefined); // reported by #attempt
    const { settings, registry } = this.#options;
    const id = settings.current.embeddingModel;
    const row = id === undefined ? undefined : registry.get(id);
    if (row?.loading === 1) this.#leaveOut(row, 'so search goes by words alone');
    else if (row) this.#embedding.use(row).catch((error: unknown) => this.#notice(error));
  }

  get active(): ActiveModel | undefined {
    return this.#chat.active;
  }

  current(): Promise<ActiveModel> {
    return this.#chat.current();
  }

  onChange(listener: (active: ActiveModel) => void): () => void {
    return this.#chat.onChange(listener);
  }

  get embedder(): ActiveEmbedder | undefined {
    return this.#embedding.embedder;
  }

  onEmbedderChange(listener: (active: ActiveEmbedder | undefined) => void): () => void {
    return this.#embedding.onEmbedderChange(listener);
  }

  /** Registers what releases memory of a chat model before it is disposed; called in reverse order. */
  beforeDispose(release: (model: Model) => unknown): void {
    this.#releases.unshift(release);
  }

  /** Releases what services hold of a chat model's memory. */
  async release(model: Model): Promise<void> {
    for (const release of this.#releases) await release(model);
  }

  /**
   * Loads a model and makes it the one for answers (or embeddings), now and at the next start; if loading fails, the
   * current one stays. Activating the current one reloads it, because its file may have changed.
   * NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, MODEL_TOO_LARGE, OUT_OF_MEMORY.
   */
  async activate(id: string): Promise<void> {
    const { known, settings } = this.#options;
    const row = known.get(id);
    if (roleOf(row.header) === 'embedding') {
      await this.#embedding.use(row);
      settings.update({ embeddingModel: id });
    } else {
      await this.#chat.switchTo(row);
      settings.update({ chatModel: id });
    }
    known.changed();
  }

  /** Stops using an embedding model. NOT_FOUND, CONFLICT for a chat model. */
  async deactivate(id: string): Promise<void> {
    const { known, settings } = this.#options;
    const row = known.get(id);
    if (roleOf(row.header) !== 'embedding') {
      throw new KvasirError('CONFLICT', `${modelName(row)} is in use.`, 'Switch to another model first.');
    }
    if (this.embedder?.id === id) await this.#embedding.stop();
    if (settings.current.embeddingModel === id) settings.update({ embeddingModel: null });
    known.changed();
  }

  /** Reloads the chat model if it is this one: its adapter or its server has changed. Errors as activate(). */
  async reload(row: ModelRow): Promise<void> {
    if (this.active?.id === row.id) await this.#chat.switchTo(row);
  }

  /** Announces a new name of the chat model. */
  refresh(row: ModelRow): void {
    this.#chat.refresh(row);
  }

  /** Disposes of the models once nothing uses them. */
  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    await this.#embedding.stop();
    await this.#chat.close();
  }

  get #selected(): string {
    return this.#options.settings.current.chatModel ?? DEMO_MODEL_ID;
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

  async #loadChat(row: ModelRow): Promise<Model> {
    const { engine, registry, servers, known } = this.#options;
    if (isOnServer(row)) {
      const model = servers.load(row);
      registry.setFingerprint(row.id, model.info.fingerprint);
      setImmediate(() => known.changed());
      return model;
    }
    const { threads, conversationDtype, deviceBudgetBytes } = this.#options.settings.current;
    return this.#attempt(row, async (device, onProgress) => {
      if (row.header.engine === 'llama') await this.#try(row, device);
      const model = await engine.loadModel(row.path, {
        threads,
        device,
        kvDtype: conversationDtype,
        adapter: row.adapter ?? undefined,
        deviceBudgetBytes,
        onProgress,
      });
      await disposeOnFailure(model, () => model.tryOut());
      registry.setFingerprint(row.id, model.info.fingerprint);
      return model;
    });
  }

  #loadEmbedder(row: ModelRow): Promise<Embedder> {
    const { engine, settings } = this.#options;
    return this.#attempt(row, async (device) => {
      await this.#try(row, device);
      const embedder = await engine.loadEmbedder(row.path, { threads: settings.current.threads, device });
      await disposeOnFailure(embedder, () => embedder.embed(['.']));
      return embedder;
    });
  }

  #try(row: ModelRow, device: string): Promise<void> {
    const { trials, devices, settings } = this.#options;
    return trials.require({
      path: row.path,
      name: modelName(row),
      role: roleOf(row.header),
      threads: settings.current.threads,
      device,
      packs: devices.packs,
    });
  }

  /** Places a model on a device and loads it there; records the attempt on its entry and for the next start. */
  async #attempt<T>(
    row: ModelRow,
    load: (device: string, onProgress: (fraction: number) => void) => Promise<T>,
  ): Promise<T> {
    const { known, registry, devices, events, log } = this.#options;
    let fraction = 0;
    const report = throttled(PROGRESS_MS, () => events.emit('models.progress', { id: row.id, fraction }));
    known.trouble.set(row.id, { state: 'loading', failure: null });
    known.changed();
    try {
      known.requireFits(row);
      const loaded = await devices.load(modelName(row), (device, onGpu) => {
        // A crash on a GPU is attributed to the device and recorded there.
        registry.setLoading(row.id, !onGpu);
        return load(device, (value) => {
          fraction = value;
          report();
        });
      });
      known.trouble.delete(row.id);
      return loaded;
    } catch (error) {
      log.warn('model-not-loaded', { path: row.path, error: String(error) });
      known.trouble.set(row.id, { state: 'failed', failure: failureOf(error) });
      if (row.id === this.#selected && !this.active) this.#notice(error);
      throw error;
    } finally {
      report.cancel();
      registry.setLoading(row.id, false);
      // After the caller has put it in use.
      setImmediate(() => known.changed());
    }
  }

  #onSettings(now: Settings, before: Settings): void {
    if (now.chunkTokens !== before.chunkTokens) this.#chat.refresh();
    const otherThreads = now.threads !== before.threads;
    if (otherThreads || now.conversationDtype !== before.conversationDtype) this.#reloadChat();
    if (otherThreads) this.#reloadEmbedder();
  }

  #reloadChat(): void {
    const row = this.active && this.#options.registry.get(this.active.id);
    if (row) this.#chat.switchTo(row).catch((error: unknown) => this.#notice(error));
  }

  #reloadEmbedder(): void {
    const row = this.embedder && this.#options.registry.get(this.embedder.id);
    if (row) this.#embedding.use(row).catch((error: unknown) => this.#notice(error));
  }

  #notice(error: unknown): void {
    this.#options.events.emit('app.notice', { level: 'warning', failure: failureOf(error) });
  }
}

/**
 * A model counts as loaded only once it has computed something: a bad file may make ggml abort the process only then.
 */
async function disposeOnFailure(model: { dispose(): void }, tryOut: () => Promise<unknown>): Promise<void> {
  try {
    await tryOut();
  } catch (error) {
    model.dispose();
    throw error;
  }
}
