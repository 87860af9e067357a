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

/** What the service needs of the engine. */
export type ModelEngine = Pick<
  Engine,
  'inspect' | 'inspectAside' | 'fingerprint' | 'checkAdapter' | 'loadModel' | 'loadEmbedder' | 'devices'
>;

interface ModelServiceOptions extends Core {
  engine: ModelEngine;
  devices: Pick<DeviceService, 'current' | 'packs' | 'load' | 'onChange'>;
  paths: Pick<Paths, 'data' | 'demoModel' | 'startingPoints' | 'hubToken' | 'serverKeys'>;
  /** The system's, for the token of the hub and keys of servers; where a host has one. */
  keyring?: Keyring | undefined;
  /** Ends what others keep of a model's memory, before it is disposed. */
  beforeDispose: (model: Model) => Promise<void>;
  /** Deletes what was computed with a model whose weights turned out to be others; false when some of it is in use. */
  forgetKv: (active: ActiveModel) => Promise<boolean>;
  /** Bytes on this machine. Default: what the system says. */
  memory?: () => Memory;
  /** Tries files that libllama runs. Default: in another Node process. */
  tryFile?: TryFile | undefined;
  /** Where other programs keep models. Default: as modelPlaces() says. */
  places?: (() => Promise<Place[]>) | undefined;
  /** Told when the list of models could not be read. */
  onSetAside?: ((what: SetAside) => void) | undefined;
}

/** An answer that is shorter says little of how fast the model writes. */
const TELLING_TOKENS = 16;

/** Milliseconds between two reports of how far loading is. */
const PROGRESS_MS = 200;

/**
 * The models Kvasir knows: adds, describes, loads and forgets them. Others take the one in use from it (ModelSource). Long for its
 * many short methods: it is the one face of the models.
 */
export class ModelService implements ModelSource, EmbedderSource {
  readonly downloads: Downloads;
  readonly files: ModelFiles;
  readonly registry: ModelRegistry;
  readonly trials: Trials;
  /** What other programs have. */
  readonly found: FoundModels;
  /** What a hub has. */
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
        // A server's is told by what asks it.
        if (written && !written.server && written.answerTokens >= TELLING_TOKENS) {
          this.#noteSpeed('written', written.tokensPerSecond);
        }
      }),
    ];
  }

  /** Loads the models in use in the background; a failure is told as a notice and on the model's entry. Downloads go on. */
  start(): void {
    this.downloads.start();
    this.current().catch(() => undefined); // told by #attempt
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

  /** What would be used with a model. NOT_FOUND. */
  plan(id: string): { row: ModelRow; chunkTokens: number } {
    const row = this.#known.get(id);
    const suits = chooseModel(row.path, this.#options.paths).chunkTokens(row.header);
    return { row, chunkTokens: this.#options.settings.current.chunkTokens ?? suits };
  }

  /** What a file would be in the list, by its header. MODEL_NOT_FOUND, MODEL_INVALID. */
  inspect(path: string): InspectedModel {
    return inspectedOf({ name: null, path, header: this.#options.engine.inspect(path) });
  }

  /**
   * Adds a GGUF where it lies, or copies it into the data folder; one that is known already is read again, and keeps its name.
   * CONFLICT when a model in several files is to be copied, MODEL_NOT_FOUND, MODEL_INVALID, DISK_FULL, STORE_READ_ONLY.
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

  /** Shows a model under another name; '' brings back the one in its file. NOT_FOUND. */
  rename(id: string, name: string): ModelEntry {
    this.#known.get(id);
    this.registry.rename(id, name === '' ? null : name);
    const row = this.#known.get(id);
    this.#chat.refresh(row);
    this.#changed();
    return this.#entry(row);
  }

  /** Adds a model that is on a server; nothing is sent. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async addServer(server: AddedServer): Promise<ModelEntry> {
    const id = await this.servers.add(server);
    if (this.active?.id === id) await this.#chat.switchTo(this.#known.get(id));
    return this.#entry(this.#known.get(id));
  }

  /** Another key for a model on a server; '' forgets it. NOT_FOUND, BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async setServerKey(id: string, key: string): Promise<ModelEntry> {
    const row = this.#known.get(id);
    if (!isOnServer(row)) throw new KvasirError('BAD_ARGUMENT', `${modelName(row)} is on no server.`);
    await this.servers.setKey(row, key);
    return this.#entry(row);
  }

  /**
   * Puts a LoRA adapter on a model, or takes it off; the model in use is loaded again, and when that fails all stays as it is.
   * NOT_FOUND, CONFLICT, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED, and what activate() says.
   */
  async setAdapter(id: string, path: string | null): Promise<ModelEntry> {
    const row = this.#known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError(
        'CONFLICT',
        'The demo model takes no adapter: Kvasir falls back on it when another model cannot be loaded.',
        'Import a model of your own.',
      );
    }
    if (isOnServer(row)) {
      const advice = 'Have the server put it on.';
      throw new KvasirError('ADAPTER_UNSUPPORTED', 'A model on a server takes no adapter here.', advice);
    }
    const adapter = path === null ? null : resolve(path);
    if (adapter !== null) this.#options.engine.checkAdapter(adapter, row.path);
    if (this.active?.id === id) await this.#chat.switchTo({ ...row, adapter });
    this.registry.setAdapter(id, adapter);
    const { active } = this;
    if (active?.id === id) this.registry.setFingerprint(id, active.model.info.fingerprint);
    else this.#known.trouble.delete(id); // it may have been of the other adapter
    this.#changed();
    return this.#entry(this.#known.get(id));
  }

  /** Forgets a model; deletes its file only when Kvasir put it there. The demo model stays. NOT_FOUND, CONFLICT. */
  async remove(id: string): Promise<void> {
    const row = this.#known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError('CONFLICT', 'The demo model belongs to Kvasir and cannot be removed.');
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
   * Loads a model and makes it the one that answers (or embeds), now and at the next start; when it cannot be loaded, the one in use stays.
   * The one in use is loaded again: its file may be another by now.
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

  /** Stops using an embedding model. NOT_FOUND, CONFLICT for a model that answers. */
  async deactivate(id: string): Promise<void> {
    const row = this.#known.get(id);
    if (roleOf(row.header) !== 'embedding') {
      throw new KvasirError(
        'CONFLICT',
        `${modelName(row)} answers questions: another model has to take its place.`,
        'Activate another model instead.',
      );
    }
    if (this.embedder?.id === id) await this.#embedding.stop();
    if (this.#options.settings.current.embeddingModel === id)
      this.#options.settings.update({ embeddingModel: null });
    this.#changed();
  }

  /** Disposes the models, once nothing uses them. */
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

  /** The model of the settings, unless it is gone or ended the program the last time; then the demo model. */
  #candidates(): ModelRow[] {
    const demo = this.#known.demo();
    const id = this.#wanted;
    const row = this.registry.get(id);
    if (id === DEMO_MODEL_ID || !row) return [demo];
    if (row.loading === 0) return [row, demo];
    this.#leaveOut(row, 'so it started with the demo model');
    return [demo];
  }

  /** Does without a model that ended the program the last time. */
  #leaveOut(row: ModelRow, instead: string): void {
    const error = new KvasirError(
      'ENGINE_FAILED',
      `Kvasir ended while it was loading ${modelName(row)} the last time, ${instead}.`,
      'Activate the model again to try once more.',
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

  /** A model is loaded once it has computed something: a file that makes ggml end the program may do so only then. */
  async #tried<T extends { dispose(): void }>(model: T, tryOut: () => Promise<unknown>): Promise<T> {
    try {
      await tryOut();
      return model;
    } catch (error) {
      model.dispose();
      throw error;
    }
  }

  /** Keeps account of an attempt to load a model, on its entry and for the next start. */
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
        // What ends the program on a GPU is the device's doing, and is kept account of there.
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
      // After whoever asked has it in use.
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

  /** Keeps how fast the model in use precomputes, or writes, for estimates; written when it has changed by more than a tenth. */
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
