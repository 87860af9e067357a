import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { InspectedModel, ModelDetail, ModelEntry } from '../../src-shared/contract/models.ts';
import type { AddedServer } from '../../src-shared/contract/servers.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { DeviceService } from '../devices/device-service.ts';
import type { Embedder, Engine, Model } from '../engine/engine.ts';
import { throttled } from '../platform/event-bus.ts';
import { failureOf } from '../platform/failure.ts';
import type { SetAside } from '../platform/database.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Paths } from '../platform/paths.ts';
import type { ActiveEmbedder, ActiveModel, EmbedderSource, ModelSource } from './active-model.ts';
import { chooseModel } from './model-defaults.ts';
import { ChatModel } from './chat-model.ts';
import { describeModel } from './describe.ts';
import { Downloads } from './downloads/downloads.ts';
import { EmbeddingModel } from './embedding-model.ts';
import { entryOf, inspectedOf, modelName, roleOf, withAdapter } from './entry.ts';
import { FoundModels } from './found/found-models.ts';
import type { Place } from './found/places.ts';
import { Hub } from './hub/hub.ts';
import type { Memory } from './fit.ts';
import { KnownModels, type Trouble } from './known-models.ts';
import { ModelFiles, modifiedMs, whereItLies } from './model-files.ts';
import { filesOf } from './model-parts.ts';
import { DEMO_MODEL_ID, ModelRegistry, type ModelRow } from './registry.ts';
import type { Core } from '../platform/core.ts';
import { isOnServer, ServerModels } from './servers/server-models.ts';
import { Trials } from './trial/trials.ts';
import { tryFile, type TryFile } from './trial/try-file.ts';
import { WeightsCheck } from './weights-check.ts';
import { WeightsTable } from './weights-table.ts';

/** The engine functions that the service uses. */
export type ModelEngine = Pick<
  Engine,
  'inspect' | 'inspectAside' | 'fingerprint' | 'checkAdapter' | 'loadModel' | 'loadEmbedder' | 'devices'
>;

interface ModelServiceOptions extends Core {
  engine: ModelEngine;
  devices: Pick<DeviceService, 'current' | 'packs' | 'load' | 'onChange'>;
  paths: Pick<Paths, 'data' | 'demoModel' | 'startingPoints' | 'hubToken' | 'serverKeys'>;
  /** The system's keyring, for the hub token and server keys; if the host has one. */
  keyring?: Keyring | undefined;
  /** Releases what other services hold of a model's memory before it is disposed. */
  beforeDispose: (model: Model) => Promise<void>;
  /** Deletes the KV of a model whose weights turned out to be different; false if some of it is in use. */
  forgetKv: (active: ActiveModel) => Promise<boolean>;
  /** Memory of this machine in bytes. Default: from the system. */
  memory?: () => Memory;
  /** Tests files that libllama runs. Default: in another Node process. */
  tryFile?: TryFile | undefined;
  /** Folders where other programs keep models. Default: modelPlaces(). */
  places?: (() => Promise<Place[]>) | undefined;
  /** Called if the model list could not be read. */
  onSetAside?: ((what: SetAside) => void) | undefined;
}

/** A shorter answer is too short to measure decode speed. */
const TELLING_TOKENS = 16;

/** Minimum time between two reports of loading progress, in milliseconds. */
const PROGRESS_MS = 200;

/**
 * Adds, describes, loads and removes models. Other services get the current one from it (ModelSource). The class is
 * long because it is the only interface to the models, with many short methods.
 */
export class ModelService implements ModelSource, EmbedderSource {
  readonly downloads: Downloads;
  readonly files: ModelFiles;
  readonly registry: ModelRegistry;
  readonly trials: Trials;
  /** Models of other programs. */
  readonly found: FoundModels;
  /** Models on a hub. */
  readonly hub: Hub;
  /** Models that are on servers. */
  readonly servers: ServerModels;
  readonly #options: ModelServiceOptions;
  readonly #chat: ChatModel;
  readonly #embedding: EmbeddingModel;
  readonly #known: KnownModels;
  readonly #weights: WeightsCheck<ActiveModel>;
  readonly #unsubscribe: (() => void)[];

  /** STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  constructor(options: ModelServiceOptions) {
    this.#options = options;
    this.files = new ModelFiles(join(options.paths.data, 'models'));
    this.registry = new ModelRegistry(join(options.paths.data, 'models.sqlite'), options.onSetAside);
    this.trials = new Trials(this.registry.database, options.tryFile ?? tryFile);
    this.#known = new KnownModels({ ...options, registry: this.registry });
    this.#weights = new WeightsCheck({ ...options, table: new WeightsTable(this.registry.database) });
    this.servers = new ServerModels({
      registry: this.registry,
      keysFile: options.paths.serverKeys,
      keyring: options.keyring,
      onOutcome: (id, { failure, tokensPerSecond }) => {
        if (failure) this.#known.trouble.set(id, { state: 'ready', failure: failureOf(failure) });
        else this.#known.trouble.delete(id);
        if (tokensPerSecond !== undefined) this.registry.setWritingSpeed(id, tokensPerSecond);
        this.#changed();
      },
      onChanged: () => this.#changed(),
    });
    this.#embedding = new EmbeddingModel((row) => this.#loadEmbedder(row));
    this.#chat = new ChatModel({
      gate: options.gate,
      log: options.log,
      load: (row) => this.#loadChat(row),
      describe: (row, model) => ({
        name: withAdapter(modelName(row), row.adapter),
        chunkTokens:
          options.settings.current.chunkTokens ??
          chooseModel(row.path, options.paths).chunkTokens(model.info),
      }),
      candidates: () => this.#candidates(),
      fitsBeside: (row) => this.#known.fit(row).verdict === 'fits',
      beforeDispose: options.beforeDispose,
    });
    this.downloads = new Downloads({
      database: this.registry.database,
      files: this.files,
      events: options.events,
      log: options.log,
      headers: (url) => this.hub.headers(url),
      explain: (error, source) => this.hub.explain(error, source),
      onFinished: async (path, source) => {
        const { id } = await this.import(path, { downloaded: true });
        if (source) this.registry.setSource(id, source);
        return id;
      },
    });
    this.hub = new Hub({
      ...options,
      inspect: (path) => options.engine.inspect(path),
      fit: (header) => this.#known.fit({ header }),
      devices: () => options.engine.devices(),
      memory: () => this.#known.memory(),
      rows: () => this.registry.all(),
      download: (request) => this.downloads.addFiles(request),
      dir: this.files.dir,
      startingPoints: options.paths.startingPoints,
      tokenFile: options.paths.hubToken,
    });
    this.found = new FoundModels({
      engine: options.engine,
      events: options.events,
      places: options.places,
      fit: (header) => this.#known.fit({ header }),
      idOf: (path) => this.registry.byPath(path)?.id,
      add: (path, name) => this.import(path, { name }),
    });
    this.#unsubscribe = [
      this.onChange((active) => {
        if (active.model.info.engine !== 'remote') void this.#weights.check(active);
      }),
      options.settings.onChange((now, before) => this.#onSettings(now, before)),
      options.devices.onChange(() => this.#onDevice()),
      options.events.on((event) => {
        if (event.topic === 'queue.status') this.#noteSpeed('read', event.payload.tokensPerSecond);
        const written = event.topic === 'chat.done' ? event.payload.stats : null;
        // A server's failures are reported by the request that hit them.
        if (written && !written.server && written.answerTokens >= TELLING_TOKENS) {
          this.#noteSpeed('written', written.tokensPerSecond);
        }
      }),
    ];
  }

  /**
   * Loads the selected models in the background; a failure is reported as a notice and on the model's entry. Resumes
   * downloads.
   */
  start(): void {
    this.downloads.start();
    this.current().catch(() => undefined); // reported by #attempt
    const id = this.#options.settings.current.embeddingModel;
    const row = id === undefined ? undefined : this.registry.get(id);
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

  list(): ModelEntry[] {
    return this.#known.all().map((row) => this.#entry(row));
  }

  /** NOT_FOUND. */
  detail(id: string): ModelDetail {
    const row = this.#known.get(id);
    return {
      model: this.#entry(row),
      header: describeModel(row.header).map(([label, value]) => ({ label, value })),
      tensorTypes: row.header.tensorTypes,
    };
  }

  /** The chunk size that a model would use. NOT_FOUND. */
  plan(id: string): { row: ModelRow; chunkTokens: number } {
    const row = this.#known.get(id);
    const suits = chooseModel(row.path, this.#options.paths).chunkTokens(row.header);
    return { row, chunkTokens: this.#options.settings.current.chunkTokens ?? suits };
  }

  /** A file's entry if it were in the list, from its header. MODEL_NOT_FOUND, MODEL_INVALID. */
  inspect(path: string): InspectedModel {
    return inspectedOf({ name: null, path, header: this.#options.engine.inspect(path) });
  }

  /**
   * Adds a GGUF in place, or copies it into the data folder; a known one is read again and keeps its name. CONFLICT if
   * a split model is to be copied, MODEL_NOT_FOUND, MODEL_INVALID, DISK_FULL, STORE_READ_ONLY.
   */
  async import(path: string, { copy = false, downloaded = false, name = '' } = {}): Promise<ModelEntry> {
    this.#options.engine.inspect(path); // before anything is copied
    const source = await whereItLies(path);
    const target = copy && !this.files.owns(source) ? await this.files.copyIn(source) : source;
    const known = this.registry.byPath(target);
    const id = known?.id ?? randomUUID();
    this.#known.read(id, target, downloaded ? 'downloaded' : 'imported');
    if (!known && name !== '') this.registry.rename(id, name);
    const row = this.#known.get(id);
    this.#known.trouble.delete(id);
    this.#changed();
    return this.#entry(row);
  }

  /** Renames a model; '' restores the name in its file. NOT_FOUND. */
  rename(id: string, name: string): ModelEntry {
    this.#known.get(id);
    this.registry.rename(id, name === '' ? null : name);
    const row = this.#known.get(id);
    this.#chat.refresh(row);
    this.#changed();
    return this.#entry(row);
  }

  /** Adds a model on a server; sends nothing. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async addServer(server: AddedServer): Promise<ModelEntry> {
    const id = await this.servers.add(server);
    if (this.active?.id === id) await this.#chat.switchTo(this.#known.get(id));
    return this.#entry(this.#known.get(id));
  }

  /** Changes the key of a model on a server; '' deletes it. NOT_FOUND, BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async setServerKey(id: string, key: string): Promise<ModelEntry> {
    const row = this.#known.get(id);
    if (!isOnServer(row)) throw new KvasirError('BAD_ARGUMENT', `${modelName(row)} is not on a server.`);
    await this.servers.setKey(row, key);
    return this.#entry(row);
  }

  /**
   * Applies a LoRA adapter to a model, or removes it; the current model is reloaded, and if that fails nothing changes.
   * NOT_FOUND, CONFLICT, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED, and the codes of activate().
   */
  async setAdapter(id: string, path: string | null): Promise<ModelEntry> {
    const row = this.#known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError(
        'CONFLICT',
        'Adapters are not supported for the demo model, which is the fallback when another model cannot be loaded.',
        'Import another model.',
      );
    }
    if (isOnServer(row)) {
      const advice = 'Configure the adapter on the server.';
      throw new KvasirError('ADAPTER_UNSUPPORTED', 'Adapters are not supported for remote models.', advice);
    }
    const adapter = path === null ? null : resolve(path);
    if (adapter !== null) this.#options.engine.checkAdapter(adapter, row.path);
    if (this.active?.id === id) await this.#chat.switchTo({ ...row, adapter });
    this.registry.setAdapter(id, adapter);
    const { active } = this;
    if (active?.id === id) this.registry.setFingerprint(id, active.model.info.fingerprint);
    else this.#known.trouble.delete(id); // it may belong to the other adapter
    this.#changed();
    return this.#entry(this.#known.get(id));
  }

  /** Removes a model; deletes its file only if Kvasir created it. The demo model stays. NOT_FOUND, CONFLICT. */
  async remove(id: string): Promise<void> {
    const row = this.#known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError('CONFLICT', 'The demo model is part of Kvasir and cannot be removed.');
    }
    if (this.embedder?.id === id) await this.deactivate(id);
    if (this.active?.id === id) await this.activate(DEMO_MODEL_ID);
    if (isOnServer(row)) await this.servers.removed(id, row.server.address);
    this.registry.remove(id);
    this.#known.trouble.delete(id);
    if (!isOnServer(row) && this.files.owns(row.path))
      for (const file of filesOf(row.path)) rmSync(file, { force: true });
    this.#changed();
  }

  /**
   * Loads a model and makes it the one for answers (or embeddings), now and at the next start; if loading fails, the
   * current one stays. Activating the current one reloads it, because its file may have changed.
   * NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, MODEL_TOO_LARGE, OUT_OF_MEMORY.
   */
  async activate(id: string): Promise<ModelEntry> {
    const row = this.#known.get(id);
    if (roleOf(row.header) === 'embedding') {
      await this.#embedding.use(row);
      this.#options.settings.update({ embeddingModel: id });
    } else {
      await this.#chat.switchTo(row);
      this.#options.settings.update({ chatModel: id });
    }
    this.#changed();
    return this.#entry(this.#known.get(id));
  }

  /** Stops using an embedding model. NOT_FOUND, CONFLICT for a chat model. */
  async deactivate(id: string): Promise<void> {
    const row = this.#known.get(id);
    if (roleOf(row.header) !== 'embedding') {
      throw new KvasirError('CONFLICT', `${modelName(row)} is in use.`, 'Switch to another model first.');
    }
    if (this.embedder?.id === id) await this.#embedding.stop();
    if (this.#options.settings.current.embeddingModel === id)
      this.#options.settings.update({ embeddingModel: null });
    this.#changed();
  }

  /** Disposes of the models once nothing uses them. */
  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.hub.close();
    await this.found.close();
    await this.downloads.close();
    await this.#weights.close();
    await this.#embedding.stop();
    await this.#chat.close();
    this.registry.close();
  }

  get #wanted(): string {
    return this.#options.settings.current.chatModel ?? DEMO_MODEL_ID;
  }

  /** The model in the settings, unless it is missing or crashed the last run; then the demo model. */
  #candidates(): ModelRow[] {
    const demo = this.#known.demo();
    const id = this.#wanted;
    const row = this.registry.get(id);
    if (id === DEMO_MODEL_ID || !row) return [demo];
    if (row.loading === 0) return [row, demo];
    this.#leaveOut(row, 'so it started with the demo model');
    return [demo];
  }

  /** Skips a model that crashed the last run. */
  #leaveOut(row: ModelRow, instead: string): void {
    const error = new KvasirError(
      'ENGINE_FAILED',
      `Kvasir crashed while loading ${modelName(row)}, ${instead}.`,
      'Activate the model again to retry.',
    );
    this.registry.setLoading(row.id, false);
    this.#setTrouble(row.id, { state: 'failed', failure: failureOf(error) });
    this.#notice(error);
  }

  async #loadChat(row: ModelRow): Promise<Model> {
    if (isOnServer(row)) {
      const model = this.servers.load(row);
      this.registry.setFingerprint(row.id, model.info.fingerprint);
      setImmediate(() => this.#changed());
      return model;
    }
    const { engine, settings } = this.#options;
    const { threads } = settings.current;
    return this.#attempt(row, async (device, onProgress) => {
      if (row.header.engine === 'llama') await this.#try(row, { threads, device });
      const model = await engine.loadModel(row.path, {
        threads,
        device,
        kvDtype: settings.current.conversationDtype,
        adapter: row.adapter ?? undefined,
        deviceBudgetBytes: settings.current.deviceBudgetBytes,
        onProgress,
      });
      await this.#tried(model, () => model.tryOut());
      this.registry.setFingerprint(row.id, model.info.fingerprint);
      return model;
    });
  }

  #loadEmbedder(row: ModelRow): Promise<Embedder> {
    const { threads } = this.#options.settings.current;
    return this.#attempt(row, async (device) => {
      await this.#try(row, { threads, device });
      const embedder = await this.#options.engine.loadEmbedder(row.path, { threads, device });
      return this.#tried(embedder, () => embedder.embed(['.']));
    });
  }

  #try(row: ModelRow, how: { threads: number; device: string }): Promise<void> {
    const { packs } = this.#options.devices;
    const file = { path: row.path, name: modelName(row), role: roleOf(row.header), packs };
    return this.trials.require({ ...file, ...how });
  }

  /**
   * A model counts as loaded only once it has computed something: a bad file may make ggml abort the process only then.
   */
  async #tried<T extends { dispose(): void }>(model: T, tryOut: () => Promise<unknown>): Promise<T> {
    try {
      await tryOut();
      return model;
    } catch (error) {
      model.dispose();
      throw error;
    }
  }

  /** Records an attempt to load a model, on its entry and for the next start. */
  async #attempt<T>(
    row: ModelRow,
    load: (device: string, onProgress: (fraction: number) => void) => Promise<T>,
  ): Promise<T> {
    let fraction = 0;
    const tell = throttled(PROGRESS_MS, () =>
      this.#options.events.emit('models.progress', { id: row.id, fraction }),
    );
    this.#setTrouble(row.id, { state: 'loading', failure: null });
    try {
      this.#known.requireFits(row);
      const loaded = await this.#options.devices.load(modelName(row), (device, onGpu) => {
        // A crash on a GPU is attributed to the device and recorded there.
        this.registry.setLoading(row.id, !onGpu);
        return load(device, (value) => {
          fraction = value;
          tell();
        });
      });
      this.#known.trouble.delete(row.id);
      return loaded;
    } catch (error) {
      this.#options.log.warn('model-not-loaded', { path: row.path, error: String(error) });
      this.#known.trouble.set(row.id, { state: 'failed', failure: failureOf(error) });
      if (row.id === this.#wanted && !this.active) this.#notice(error);
      throw error;
    } finally {
      tell.cancel();
      this.registry.setLoading(row.id, false);
      // After the caller has put it in use.
      setImmediate(() => this.#changed());
    }
  }

  #onSettings(now: Settings, before: Settings): void {
    if (now.chunkTokens !== before.chunkTokens) this.#chat.refresh();
    const other = now.threads !== before.threads;
    if (other || now.conversationDtype !== before.conversationDtype) this.#loadChatAgain();
    if (other) this.#loadEmbedderAgain();
  }

  #onDevice(): void {
    this.#loadChatAgain();
    this.#loadEmbedderAgain();
    this.#options.events.emit('hub.changed', {});
    this.#changed();
  }

  #loadChatAgain(): void {
    const row = this.active && this.registry.get(this.active.id);
    if (row) this.#chat.switchTo(row).catch((error: unknown) => this.#notice(error));
  }

  #loadEmbedderAgain(): void {
    const embedding = this.embedder && this.registry.get(this.embedder.id);
    if (embedding) this.#embedding.use(embedding).catch((error: unknown) => this.#notice(error));
  }

  /** Records the current model's prefill or decode speed for estimates; written if it changed by more than a tenth. */
  #noteSpeed(what: 'read' | 'written', tokensPerSecond: number): void {
    const row = this.active && this.registry.get(this.active.id);
    if (!row || !(tokensPerSecond > 0)) return;
    const known = what === 'read' ? row.tokensPerSecond : row.writtenPerSecond;
    if (Math.abs(tokensPerSecond / (known ?? Infinity) - 1) <= 0.1) return;
    if (what === 'read') this.registry.setSpeed(row.id, tokensPerSecond);
    else this.registry.setWritingSpeed(row.id, tokensPerSecond);
  }

  #entry(row: ModelRow): ModelEntry {
    const active = this.active?.id === row.id || this.embedder?.id === row.id;
    const missing = !isOnServer(row) && modifiedMs(row.path) === undefined;
    const rest: Trouble = { state: active ? 'ready' : missing ? 'missing' : 'idle', failure: null };
    return entryOf(row, this.#known.fit(row, active), {
      ...(this.#known.trouble.get(row.id) ?? rest),
      active,
      server: isOnServer(row) ? this.servers.facts(row) : null,
    });
  }

  #setTrouble(id: string, trouble: Trouble): void {
    this.#known.trouble.set(id, trouble);
    this.#changed();
  }

  #changed(): void {
    this.#options.events.emit('models.changed', {});
  }

  #notice(error: unknown): void {
    this.#options.events.emit('app.notice', { level: 'warning', failure: failureOf(error) });
  }
}
