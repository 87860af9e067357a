import { join } from 'node:path';
import { AnalysisService } from './analysis/analysis-service.ts';
import { libraryDocuments } from './analysis/library-documents.ts';
import { DeviceService } from './devices/device-service.ts';
import { installedPacks, removeOtherReleases } from './devices/packs/installed.ts';
import { PackService } from './devices/packs/pack-service.ts';
import { readPins } from './devices/packs/pins.ts';
import { packageRegistry } from './devices/packs/registry.ts';
import { askDevices, type AskDevices } from './devices/trial/ask-devices.ts';
import { Engine, type Model } from './engine/engine.ts';
import { packFiles } from './engine/packs.ts';
import { Prefetcher } from './chat/prefetcher.ts';
import { libraryTexts } from './answering/calibration-prompts.ts';
import { ChatService } from './chat/chat-service.ts';
import { CompletionService } from './completions/completion-service.ts';
import { VectorService } from './completions/vector-service.ts';
import { libraryPassages } from './answering/library-passages.ts';
import { remakePrompt } from './answering/remade-prompt.ts';
import { readSuggestions, suggestionsAbout } from './chat/suggestions.ts';
import { nearestAt } from './fusion/calibration/choose.ts';
import { UNCALIBRATED } from './fusion/planning/controller.ts';
import { CalibrationService } from './fusion/calibration/calibration-service.ts';
import { CostModel } from './fusion/planning/cost-model.ts';
import { FirstUse } from './fusion/planning/first-use.ts';
import { Planner } from './fusion/planning/planner.ts';
import type { WatchedPrompt } from './fusion/watching/memory-prompts.ts';
import { WatchService, type Drift } from './fusion/watching/watch-service.ts';
import { answersAtOnce } from './fusion/model.ts';
import { StoredPrefixes } from './fusion/stored-prefixes.ts';
import { applyRestore } from './backup/apply-restore.ts';
import { BackupService } from './backup/backup-service.ts';
import { ChunkArchive } from './cache/archive.ts';
import { CacheService } from './cache/cache-service.ts';
import { WarmStart } from './cache/warm-start.ts';
import { ChunkStore, type SharedTier } from './kvstore/store.ts';
import { SharingService } from './sharing/sharing-service.ts';
import { Catalogue } from './catalogue/catalogue.ts';
import { LibraryService } from './library/library-service.ts';
import { ParserProcess } from './library/parser/parser-process.ts';
import type { SpawnParser } from './library/parser/spawn.ts';
import { SentDocuments } from './library/sent-documents.ts';
import { strategyBefore } from './models/model-defaults.ts';
import type { ActiveModel } from './models/active-model.ts';
import { ModelService } from './models/model-service.ts';
import type { TryFile } from './models/trial/try-file.ts';
import type { Keyring } from './platform/keyring.ts';
import { isAborted } from './platform/abort.ts';
import { systemClock } from './platform/clock.ts';
import { findDamage } from './platform/damaged-database.ts';
import type { SetAside } from './platform/database.ts';
import { traceOf } from './platform/failure.ts';
import { fileLogger, type Logger } from './platform/logger.ts';
import { onBattery } from './platform/power.ts';
import { defaultDataDir, ensureWritableDir, resolvePaths, type Paths } from './platform/paths.ts';
import { makePrivate } from './platform/private-data.ts';
import { programVersion } from './platform/root.ts';
import { EventBus } from './platform/event-bus.ts';
import { Gate } from './platform/gate.ts';
import { SettingsService } from './platform/settings-service.ts';
import { activeChunkSets } from './retrieval/active-sets.ts';
import { SearchService } from './retrieval/search-service.ts';
import type { StrategyChoice } from '../src-shared/strategy.ts';
import type { Failure } from '../src-shared/contract/common.ts';
import { KvasirError } from '../src-shared/errors.ts';
import type { Settings, SettingsInput } from '../src-shared/settings.ts';
import { damagedFailure, SCHEMAS, setAsideFailure } from './databases.ts';
import { removeLeftovers } from './leftovers.ts';
import { Workspaces } from './workspaces.ts';
import type { Core } from './platform/core.ts';

export type { Workspace } from './workspaces.ts';

interface AppOptions {
  /** The data folder. Default: the platform's convention. */
  dataDir?: string | undefined;
  /** Settings for this run only; they override the settings file. */
  overrides?: Partial<SettingsInput> | undefined;
  /** Starts the process that reads documents; for hosts with another way to start processes. */
  spawnParser?: SpawnParser | undefined;
  /** Tests model files in a separate process; likewise. */
  tryFile?: TryFile | undefined;
  /** Tests GPUs in a separate process; likewise. */
  askDevices?: AskDevices | undefined;
  /** Chunk files of other machines. Default: those in the shared folder or server that the settings name. */
  shared?: SharedTier | undefined;
  /** Pack files for GPUs. Default: those that setup has put here. */
  packs?: readonly string[] | undefined;
  /** The system's keyring, for hosts that have one. */
  keyring?: Keyring | undefined;
  /** Whether the machine runs on battery; for hosts that the system notifies. */
  onBattery?: (() => boolean) | undefined;
}

/** All of Kvasir except its hosts. Long, since every service is constructed here with its dependencies; nothing else is done here. */
export class App {
  readonly paths: Paths;
  readonly settings: SettingsService;
  /** Events for windows. */
  readonly events = new EventBus((error) => this.log.error('listener-failed', { error: traceOf(error) }));
  /** Access to the model: questions before precomputing. */
  readonly gate = new Gate(() => answersAtOnce(this.models.active?.model));
  readonly log: Logger;
  readonly engine: Engine;
  readonly store: ChunkStore;
  /** Chunk files shared by several machines. */
  readonly sharing: SharingService;
  /** Selects the device that models are loaded on. */
  readonly devices: DeviceService;
  /** Packs for GPUs that can be downloaded. */
  readonly packs: PackService;
  /** The available models and the one in use. */
  readonly models: ModelService;
  /** Retrieves passages for questions. */
  readonly search: SearchService;
  /** The store's content, to list and change. */
  readonly cache: CacheService;
  /** Exports and imports a library's stored chunks as one file. */
  readonly archive: ChunkArchive;
  /** Conversations. */
  readonly chat: ChatService;
  /** Answers for API clients. */
  readonly completions: CompletionService;
  /** Vectors for API clients. */
  readonly vectors: VectorService;
  /** Documents sent with API requests. */
  readonly sentDocuments: SentDocuments;
  /** Documents read window by window, and batches of questions. */
  readonly analysis: AnalysisService;
  /** Libraries, their documents, and the queue that reads and precomputes them. */
  readonly libraries: LibraryService;
  readonly backups: BackupService;
  /** Measures answer quality under blending. */
  readonly calibration: CalibrationService<ActiveModel>;
  /** Loads chunks that the next question is likely to find. */
  readonly prefetcher: Prefetcher;
  readonly warmStart: WarmStart;
  /** Plans how prompts are blended. */
  readonly planner: Planner;
  /** Prompt prefixes that survive a restart. */
  readonly prefixes: StoredPrefixes;
  /** Measures models that are new on this machine. */
  readonly firstUse: FirstUse;
  /** Compares a few blended answers with their full prefill during use. */
  readonly watching: WatchService;
  /** Folders for the command line. */
  readonly workspaces: Workspaces;
  /** Kvasir's version. */
  readonly version = programVersion();
  readonly #catalogue: Catalogue;
  /** Problems found at startup, until a window takes them. */
  readonly #found: Failure[];
  readonly #abort = new AbortController();
  #started = false;

  private constructor(
    parts: Pick<App, 'paths' | 'settings' | 'log' | 'engine' | 'store' | 'sharing'>,
    catalogue: Catalogue,
    { spawnParser, tryFile, keyring, ...host }: Omit<AppOptions, 'dataDir' | 'overrides'>,
    found: Failure[],
  ) {
    this.#found = found;
    this.paths = parts.paths;
    this.settings = parts.settings;
    this.log = parts.log;
    this.engine = parts.engine;
    this.store = parts.store;
    this.sharing = parts.sharing;
    const { paths, settings, log, engine, store, events, gate } = this;
    const core: Core = { settings, events, gate, log };
    settings.onChange((now) => events.emit('settings.changed', now));
    this.sharing.onChange(() => events.emit('sharing.changed', {}));
    const beforeDispose = async (model: Model): Promise<void> => {
      this.chat.releaseModel(model);
      await this.analysis.releaseModel(model);
      await store.forget(model);
    };
    const onSetAside = (what: SetAside): void => void found.push(setAsideFailure(what));
    const forgetKv = async ({ model }: ActiveModel): Promise<boolean> => {
      await beforeDispose(model);
      const all = await this.cache.forgetModel(model.info.fingerprint);
      await this.libraries.recompute();
      return all;
    };
    const pins = readPins(paths.packPins);
    found.push(...removeOtherReleases(paths.packs, pins.release, log));
    this.devices = new DeviceService({
      ...core,
      engine,
      packs: installedPacks(host.packs ?? packFiles(), paths.packs, pins),
      path: paths.devices,
      version: this.version,
      demoModel: paths.demoModel,
      ask: host.askDevices ?? askDevices,
      onFound: (failure) => void found.push(failure),
    });
    this.packs = new PackService({
      events,
      log,
      pins,
      dir: paths.packs,
      registry: packageRegistry,
      isInstalled: (library) => this.devices.hasPack(library),
      onInstalled: (path) => this.devices.addPack(path),
    });
    this.models = new ModelService({
      ...core,
      paths,
      engine,
      devices: this.devices,
      tryFile,
      keyring,
      beforeDispose,
      forgetKv,
      onSetAside,
    });
    this.#catalogue = catalogue;
    const sets = activeChunkSets(catalogue, this.models);
    const passages = libraryPassages(catalogue, this.models);
    this.search = new SearchService({
      catalogue,
      sets,
      models: this.models,
      gate,
      log,
    });
    this.calibration = new CalibrationService({
      path: paths.calibrations,
      texts: libraryTexts({ catalogue, settings, sampleQuestions: paths.sampleQuestions }),
      models: this.models,
      settings,
      events,
      gate,
    });
    this.planner = new Planner({
      costs: new CostModel(paths.costs),
      store,
      calibration: (model, kind) => this.calibration.of(model, kind),
      unmeasured: (model) => this.unmeasured(model),
      leastRatio: (model, libraryIds) => this.watching.leastRatio(model, libraryIds),
    });
    store.shared?.onTransfer((transfer) => this.planner.costs.observeTransfer(transfer));
    this.prefixes = new StoredPrefixes({
      store,
      gate,
      onBackgroundError: (error) => log.warn('prefix-not-kept', { error: String(error) }),
    });
    this.cache = new CacheService({
      dir: paths.store,
      catalogue,
      store,
      settings,
      events,
      log,
      models: this.models,
    });
    this.archive = new ChunkArchive({ store, dir: paths.store, files: engine, catalogue });
    this.backups = new BackupService({
      data: paths.data,
      program: this.version,
      schemas: SCHEMAS,
      log,
      events,
    });
    this.chat = new ChatService({
      path: paths.conversations,
      models: this.models,
      retrieval: this.search,
      passages,
      planner: this.planner,
      prefixes: this.prefixes,
      suggestions: () => {
        const asked = catalogue.libraries.asked([]);
        const sample = catalogue.libraries.list().find((library) => library.sample);
        return sample && asked.includes(String(sample.id))
          ? readSuggestions(paths.sampleSuggestions)
          : suggestionsAbout(catalogue.documents.newestTitles(asked, 20));
      },
      store,
      onSetAside,
      ...core,
    });
    this.analysis = new AnalysisService({
      path: paths.analyses,
      models: this.models,
      retrieval: this.search,
      planner: this.planner,
      onSetAside,
      ...core,
      ...this.#analysisParts(),
    });
    this.libraries = new LibraryService({
      catalogue,
      store,
      ...core,
      paths,
      models: this.models,
      indexer: this.search,
      costs: this.planner.costs,
      parser: new ParserProcess({}, spawnParser),
      onFound: (failure) => void found.push(failure),
    });
    this.completions = new CompletionService({
      ...core,
      models: this.models,
      libraries: () => catalogue.libraries.list().map(({ id, name }) => ({ id: String(id), name })),
      retrieval: this.search,
      passages,
      planner: this.planner,
      prefixes: this.prefixes,
      store,
      openSession: this.chat.openSession.bind(this.chat),
      watch: (answer) => this.watching.answered(answer),
    });
    this.vectors = new VectorService(this.models);
    // A separate process: a request does not wait for the documents of libraries.
    const parser = new ParserProcess({}, spawnParser);
    this.sentDocuments = new SentDocuments({ parser, settings, models: this.models });
    this.firstUse = new FirstUse({
      ...core,
      models: this.models,
      costs: this.planner.costs,
      calibration: this.calibration,
      dir: paths.data,
    });
    this.watching = new WatchService({
      ...core,
      path: paths.watching,
      models: this.models,
      known: {
        modelIds: () => this.models.list().map(({ id }) => id),
        libraries: () => this.libraries.list(),
      },
      answers: this.chat.remade,
      remakePrompt: (prompt, signal) => this.#remakePrompt(prompt, signal),
      onBattery: host.onBattery ?? onBattery,
      measuring: () => this.calibration.status().running,
      onSetAside,
    });
    this.prefetcher = new Prefetcher({
      store,
      ...core,
      models: this.models,
      conversation: (id) => this.chat.get(id),
      retrieval: this.search,
      passages,
    });
    this.warmStart = new WarmStart({
      store,
      ...core,
      models: this.models,
      warmUp: (signal) => this.chat.warmUp(signal),
    });
    this.workspaces = new Workspaces({
      app: this,
      catalogue,
      analysisParts: () => this.#analysisParts(),
    });
  }

  /** BAD_ARGUMENT, ENGINE_FAILED, STORE_READ_ONLY, STORE_IN_USE, STORE_VERSION, STORE_CORRUPT, DISK_FULL. */
  static async open(options: AppOptions = {}): Promise<App> {
    const { dataDir = defaultDataDir(), overrides = {} } = options;
    const paths = resolvePaths(dataDir);
    ensureWritableDir(paths.data);
    makePrivate(paths.data);
    let wantsDebug = (): boolean => false; // until the settings are read
    const forced = process.env['KVASIR_LOG'] === 'debug';
    const log = fileLogger(paths.log, () => (forced || wantsDebug() ? 'debug' : 'info'));
    const found: Failure[] = [];
    const { restored, failure } = applyRestore(paths.data, paths.store);
    if (restored) log.info('restored-from-backup');
    if (failure) found.push(failure);
    const settings = new SettingsService(paths.settings, overrides);
    wantsDebug = () => settings.current.logAnswers;
    found.push(...settings.found);
    const engine = Engine.open();
    const { keyring } = options;
    const sharing = new SharingService({ settings, secrets: paths.sharingSecrets, keyring, log });
    const store = await openStore(paths, settings.current, engine, log, options.shared ?? sharing);
    try {
      const parts = { paths, settings, log, engine, store, sharing };
      const app = await withRoom(store, log, () => {
        const catalogue = Catalogue.open(paths.catalogue, (what) => found.push(setAsideFailure(what)));
        try {
          return new App(parts, catalogue, options, found);
        } catch (error) {
          catalogue.close();
          throw error;
        }
      });
      removeLeftovers(paths.data, (path) => app.models.downloads.isPart(path), log);
      for (const each of found) log.error('found-at-start', { ...each });
      return app;
    } catch (error) {
      await sharing.close();
      await store.close();
      throw error;
    }
  }

  /**
   * Starts background work: loads the models in use, watches folders, resumes the queue. Not for single commands. Idempotent; called by
   * whoever shows a window or serves programs.
   */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.firstUse.start();
    this.models.start();
    // Not while the model is loading, which would distort the measurement.
    void this.models
      .current()
      .catch(() => undefined)
      .then(() => this.devices.start());
    if (!this.settings.current.welcomed) void this.#lookForModels();
    this.libraries.start();
    this.watching.start();
    this.sharing.shareStored(this.store, this.paths.store);
    void this.#checkDatabases();
  }

  /** Problems found at startup that no window has taken. */
  get found(): readonly Failure[] {
    return this.#found;
  }

  /** Takes the startup problems that a person must know: damaged data that was set aside. Only one window gets them. */
  takeFound(): Failure[] {
    return this.#found.splice(0);
  }

  /** The strategy for text that no calibration of the model covers; undefined: the controller's default. */
  unmeasured(model: Pick<Model, 'info' | 'path'>): StrategyChoice | undefined {
    return (
      nearestAt(this.calibration.all(model), UNCALIBRATED.ratio) ?? strategyBefore(model.path, this.paths)
    );
  }

  /** Stops background work, frees models, closes the store. A step that fails does not prevent the others. */
  async close(): Promise<void> {
    this.#abort.abort();
    const steps: (() => unknown)[] = [
      () => this.calibration.close(),
      () => this.packs.close(),
      () => this.devices.close(),
      () => this.firstUse.close(),
      () => this.watching.close(),
      () => this.libraries.close(),
      () => this.warmStart.close(),
      () => this.prefetcher.close(),
      () => this.analysis.close(),
      ...this.workspaces.closeAnalyses(),
      () => this.sentDocuments.close(),
      () => this.completions.close(),
      () => this.chat.close(),
      ...this.workspaces.closeAnswers(),
      () => this.prefixes.stop(),
      () => this.search.close(),
      () => this.cache.close(),
      () => this.models.close(),
      ...this.workspaces.closeModels(),
      () => this.sharing.close(),
      () => this.store.close(),
      () => this.#catalogue.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        this.log.error('not-closed', { error: traceOf(error) });
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #remakePrompt(prompt: WatchedPrompt, signal: AbortSignal): Promise<Drift | undefined> {
    const { store, models, settings } = this;
    const { dtype } = settings.current;
    if (!models.active) return undefined;
    return remakePrompt(prompt, { model: models.active.model, store, dtype, signal, clock: systemClock });
  }

  /** Runs before the first question: the first screen offers suggestions. */
  async #lookForModels(): Promise<void> {
    try {
      await this.models.found.search();
    } catch (error) {
      if (!isAborted(error)) this.log.warn('models-not-found', { error: traceOf(error) });
    }
  }

  /** Checks databases that are too large to be read at every start. */
  async #checkDatabases(): Promise<void> {
    for (const name of Object.keys(SCHEMAS)) {
      const path = join(this.paths.data, name);
      try {
        const damage = await findDamage(path, this.#abort.signal);
        if (damage === undefined) continue;
        this.log.error('database-damaged', { path, damage });
        this.events.emit('app.notice', { level: 'error', failure: damagedFailure(path) });
      } catch (error) {
        this.log.warn('database-not-checked', { path, error: traceOf(error) });
      }
    }
  }

  #analysisParts() {
    const { store, gate, log, chat } = this;
    return {
      passages: libraryPassages(this.#catalogue, this.models),
      documents: libraryDocuments(this.#catalogue),
      openSession: chat.openSession.bind(chat),
      store,
      gate,
      log,
    };
  }
}

/** Databases cannot be opened on a full disk. The cache can be recomputed, so chunks are evicted to make room. */
async function withRoom<T>(store: ChunkStore, log: Logger, open: () => T): Promise<T> {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof KvasirError && error.code === 'DISK_FULL')) throw error;
    const { entries, bytes } = await store.evict({ bytes: ROOM_BYTES });
    if (entries === 0) throw error;
    log.warn('cache-made-room', { entries, bytes });
    return open();
  }
}

/** Space for the databases' logs. */
const ROOM_BYTES = 64 * 2 ** 20;

function openStore(
  paths: Paths,
  settings: Settings,
  engine: Engine,
  log: Logger,
  shared: SharedTier,
): Promise<ChunkStore> {
  return ChunkStore.open({
    shared,
    dir: paths.store,
    diskBudgetBytes: settings.diskBudgetBytes,
    ramBudgetBytes: settings.memoryBudgetBytes,
    policy: settings.eviction,
    files: engine,
    log,
  });
}
