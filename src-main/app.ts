import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { AnalysisService } from './analysis/analysis-service.ts';
import { libraryDocuments } from './analysis/library-documents.ts';
import { Engine, type Model } from './engine/engine.ts';
import { AnswerService } from './chat/answer-service.ts';
import { Anticipation } from './chat/anticipation.ts';
import { calibrationTexts, libraryTexts } from './chat/calibration-texts.ts';
import { ChatService } from './chat/chat-service.ts';
import { libraryPassages } from './chat/library-passages.ts';
import { readSuggestions } from './chat/suggestions.ts';
import { CalibrationService, type CalibrationRun } from './fusion/calibration/calibration-service.ts';
import { CostModel } from './fusion/controller/cost-model.ts';
import { FirstUse } from './fusion/controller/first-use.ts';
import { Planner } from './fusion/controller/planner.ts';
import { StoredPrefixes } from './fusion/stored-prefixes.ts';
import { applyRestore } from './backup/apply-restore.ts';
import { BackupService } from './backup/backup-service.ts';
import { CacheService } from './cache/cache-service.ts';
import { WarmStart } from './cache/warm-start.ts';
import { ChunkStore, type VerifyReport } from './kvstore/store.ts';
import { Catalogue } from './library/catalogue.ts';
import { Library } from './library/library.ts';
import { LibraryService } from './library/library-service.ts';
import type { Parser } from './library/parser/parser-process.ts';
import { chooseModel } from './models/catalogue.ts';
import type { ActiveModel } from './models/active-model.ts';
import { ModelService } from './models/model-service.ts';
import { traceOf } from './platform/failure.ts';
import { fileLogger, type Logger } from './platform/logger.ts';
import { defaultDataDir, ensureWritableDir, resolvePaths, type Paths } from './platform/paths.ts';
import { programVersion } from './platform/root.ts';
import { EventBus } from './platform/event-bus.ts';
import { Gate } from './platform/gate.ts';
import { SettingsService } from './platform/settings-service.ts';
import { activeChunkSets } from './retrieval/active-sets.ts';
import { indexRetrieval } from './retrieval/index-retrieval.ts';
import { SearchIndex } from './retrieval/search-index.ts';
import { SearchService } from './retrieval/search-service.ts';
import type { Calibration, CalibrationRequest } from '../src-shared/contract/calibration.ts';
import type { Settings, SettingsInput } from '../src-shared/settings.ts';

export interface AppOptions {
  /** Folder for everything Kvasir writes. Default: the platform's convention. */
  dataDir?: string | undefined;
  /** Settings that hold for this run only, on top of the settings file. */
  overrides?: Partial<SettingsInput> | undefined;
  /** Reads documents in a process apart; for hosts that start processes in a way of their own. */
  parser?: Parser | undefined;
}

export interface OpenLibraryOptions {
  root: string;
  /** Default: the demo model. */
  modelPath?: string | undefined;
}

/** A library with the model that reads it and the service that answers from it. */
export interface Workspace {
  model: Model;
  library: Library;
  answers: AnswerService;
  chunkTokens: number;
}

/** All of Kvasir but its hosts. */
export class App {
  readonly paths: Paths;
  readonly settings: SettingsService;
  /** What windows are told. */
  readonly events = new EventBus((error) => this.log.error('listener-failed', { error: traceOf(error) }));
  /** Who may use the model: questions before precomputing. */
  readonly gate = new Gate();
  readonly log: Logger;
  readonly engine: Engine;
  readonly store: ChunkStore;
  /** The models people can choose from, and the one that answers now. */
  readonly models: ModelService;
  /** Passages for questions. */
  readonly search: SearchService;
  /** What is stored, for people to see and change. */
  readonly cache: CacheService;
  /** Conversations. */
  readonly chat: ChatService;
  /** Documents read window by window, and batches of questions. */
  readonly analysis: AnalysisService;
  /** Libraries, their documents, and the queue that reads and precomputes them. */
  readonly libraries: LibraryService;
  readonly backups: BackupService;
  /** How well models stand blending. */
  readonly calibration: CalibrationService<ActiveModel>;
  /** Brings in what the next question is likely to find. */
  readonly anticipation: Anticipation;
  readonly warmStart: WarmStart;
  /** How prompts are blended. */
  readonly planner: Planner;
  /** Beginnings of prompts that outlive a restart. */
  readonly prefixes: StoredPrefixes;
  /** Measures models that are new here. */
  readonly firstUse: FirstUse;
  /** Of the program. */
  readonly version = programVersion();
  readonly #catalogue: Catalogue;
  readonly #models = new Map<string, Promise<Model>>();
  readonly #workspaces: Workspace[] = [];
  readonly #analyses: AnalysisService[] = [];

  private constructor(
    parts: Pick<App, 'paths' | 'settings' | 'log' | 'engine' | 'store'>,
    catalogue: Catalogue,
    parser: Parser | undefined,
  ) {
    this.paths = parts.paths;
    this.settings = parts.settings;
    this.log = parts.log;
    this.engine = parts.engine;
    this.store = parts.store;
    const { paths, settings, log, engine, store, events, gate } = this;
    settings.onChange((now) => events.emit('settings.changed', now));
    const beforeDispose = async (model: Model): Promise<void> => {
      this.chat.releaseModel(model);
      await this.analysis.releaseModel(model);
      await store.forget(model);
    };
    this.models = new ModelService({ paths, settings, log, engine, events, gate, beforeDispose });
    this.#catalogue = catalogue;
    this.search = new SearchService({
      database: catalogue.database,
      sets: activeChunkSets(catalogue.database, this.models),
      pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
      models: this.models,
      gate,
      log,
    });
    this.calibration = new CalibrationService({
      path: paths.calibrations,
      texts: libraryTexts({ catalogue, settings, sampleQuestions: paths.sampleQuestions }),
      models: this.models,
      ...{ settings, events, gate },
    });
    this.planner = new Planner({
      costs: new CostModel(paths.costs),
      store,
      calibration: (model) => this.calibration.of(model),
    });
    this.prefixes = new StoredPrefixes({
      ...{ store, gate },
      onBackgroundError: (error) => log.warn('prefix-not-kept', { error: String(error) }),
    });
    this.cache = new CacheService({
      dir: paths.store,
      ...{ catalogue, store, settings, events, log },
      models: this.models,
    });
    this.backups = new BackupService({ data: paths.data, program: this.version, log });
    this.chat = new ChatService({
      path: paths.conversations,
      models: this.models,
      retrieval: this.search,
      passages: libraryPassages(catalogue),
      planner: this.planner,
      prefixes: this.prefixes,
      suggestions: () =>
        catalogue.libraries.list().some(({ sample }) => sample)
          ? readSuggestions(paths.sampleSuggestions)
          : [],
      ...{ store, settings, events, gate, log },
    });
    this.analysis = new AnalysisService({
      path: paths.analyses,
      models: this.models,
      retrieval: this.search,
      ...this.#analysisParts(),
    });
    this.libraries = new LibraryService({
      ...{ catalogue, store, settings, events, gate, log, paths },
      models: this.models,
      indexer: this.search,
      parser,
    });
    this.firstUse = new FirstUse({
      ...{ settings, events, gate, log },
      models: this.models,
      costs: this.planner.costs,
      calibration: this.calibration,
      dir: paths.data,
    });
    this.anticipation = new Anticipation({
      ...{ store, settings, events, gate, log },
      models: this.models,
      conversation: (id) => this.chat.get(id),
      retrieval: this.search,
      passages: libraryPassages(catalogue),
    });
    this.warmStart = new WarmStart({
      ...{ store, settings, events, gate, log },
      models: this.models,
      rehearse: (signal) => this.chat.rehearse(signal),
    });
  }

  /** BAD_ARGUMENT, ENGINE_FAILED, STORE_READ_ONLY, STORE_IN_USE, STORE_VERSION, STORE_CORRUPT, DISK_FULL. */
  static async open({ dataDir = defaultDataDir(), overrides = {}, parser }: AppOptions = {}): Promise<App> {
    const paths = resolvePaths(dataDir);
    ensureWritableDir(paths.data);
    const log = fileLogger(paths.log);
    if (applyRestore(paths.data, paths.store)) log.info('restored-from-backup');
    const settings = new SettingsService(paths.settings, overrides);
    const engine = Engine.open();
    const store = await openStore(paths, settings.current, engine, log);
    try {
      return new App({ paths, settings, log, engine, store }, Catalogue.open(paths.catalogue), parser);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, LIBRARY_NOT_FOUND. */
  async openLibrary({ root, modelPath }: OpenLibraryOptions): Promise<Workspace> {
    const { store } = this;
    const settings = this.settings.current;
    const choice = chooseModel(modelPath, this.paths);
    const model = await this.#loadModel(choice.path, settings.threads || choice.threads);
    const chunkTokens = settings.chunkTokens ?? choice.chunkTokens(model.info);
    const { dtype, maxFileBytes } = settings;
    const library = await Library.open({
      root,
      catalogue: this.#catalogue,
      store,
      model,
      chunkTokens,
      dtype,
      maxFileBytes,
    });
    const answers = new AnswerService({
      model,
      store,
      planner: this.planner,
      prefixes: this.prefixes,
      catalogue: this.#catalogue,
      index: new SearchIndex(this.#catalogue.database, library.chunkSetId),
      dtype,
      contextTokens: settings.contextTokens,
      systemPrompt: settings.systemPrompt,
      storeMisses: settings.storeMisses,
      onBackgroundError: (error) => this.log.warn('miss-not-stored', { error: String(error) }),
    });
    const workspace = { model, library, answers, chunkTokens };
    this.#workspaces.push(workspace);
    return workspace;
  }

  /** Analyses with a workspace's model, which are not kept. */
  analysesOf({ model, library, chunkTokens }: Workspace): AnalysisService {
    const active = { name: model.info.name, model, chunkTokens };
    const analyses = new AnalysisService({
      path: ':memory:',
      models: { active, current: () => Promise.resolve(active) },
      retrieval: indexRetrieval(new SearchIndex(this.#catalogue.database, library.chunkSetId)),
      ...this.#analysisParts(),
    });
    this.#analyses.push(analyses);
    return analyses;
  }

  /** Measures how well a workspace's model stands blending, on its library, which was read before. As CalibrationService.run. */
  calibrate(
    { model, library }: Workspace,
    request: CalibrationRequest,
    run: CalibrationRun,
  ): Promise<Calibration> {
    const sample = library.root === realpathSync(this.paths.sampleLibrary);
    const texts = calibrationTexts({
      model,
      catalogue: this.#catalogue,
      chunkSetId: library.chunkSetId,
      library: basename(library.root),
      settings: this.settings.current,
      count: request.prompts,
      questions: sample ? this.paths.sampleQuestions : undefined,
    });
    return this.calibration.measure({ name: model.info.name, model }, texts, request, run);
  }

  /**
   * Checks every chunk file. What opening the store found wrong belongs to the report: it was wrong when the user asked.
   */
  async verifyStore(): Promise<VerifyReport> {
    const report = await this.store.verify();
    const { quarantined, newerFormat } = this.store.recovery;
    return {
      ...report,
      corrupt: [...quarantined.map(({ file, reason }) => ({ key: file, reason })), ...report.corrupt],
      newerFormat: [...new Set([...newerFormat, ...report.newerFormat])],
    };
  }

  /** Begins the work nobody waits for: loads the models in use, watches folders, goes on with the queue. Not for the command line. */
  start(): void {
    this.firstUse.start();
    this.models.start();
    this.libraries.start();
  }

  /** Ends background work, frees models, closes the store. A step that fails keeps none of the others from being taken. */
  async close(): Promise<void> {
    const steps: (() => unknown)[] = [
      () => this.calibration.close(),
      () => this.firstUse.close(),
      () => this.libraries.close(),
      () => this.warmStart.close(),
      () => this.anticipation.close(),
      () => this.analysis.close(),
      ...this.#analyses.map((analyses) => () => analyses.close()),
      () => this.chat.close(),
      ...this.#workspaces.map(
        ({ answers }) =>
          () =>
            answers.close(),
      ),
      () => this.prefixes.stop(),
      () => this.search.close(),
      () => this.cache.close(),
      () => this.models.close(),
      ...[...this.#models.values()].map((loading) => () => this.#dispose(loading)),
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

  #analysisParts() {
    const { store, settings, events, gate, log, chat } = this;
    return {
      passages: libraryPassages(this.#catalogue),
      documents: libraryDocuments(this.#catalogue),
      planner: this.planner,
      openSession: chat.openSession.bind(chat),
      ...{ store, settings, events, gate, log },
    };
  }

  #loadModel(path: string, threads: number): Promise<Model> {
    const known = this.#models.get(path);
    if (known) return known;
    const { device, conversationDtype: kvDtype } = this.settings.current;
    const loading = this.engine.loadModel(path, { threads, device, kvDtype });
    this.#models.set(path, loading);
    return loading;
  }

  async #dispose(loading: Promise<Model>): Promise<void> {
    const model = await loading.catch(() => undefined); // whoever asked for it was told
    if (!model) return;
    await this.store.forget(model);
    model.dispose();
  }
}

function openStore(paths: Paths, settings: Settings, engine: Engine, log: Logger): Promise<ChunkStore> {
  return ChunkStore.open({
    dir: paths.store,
    diskBudgetBytes: settings.diskBudgetBytes,
    ramBudgetBytes: settings.memoryBudgetBytes,
    policy: settings.eviction,
    files: engine,
    log: (level, message, fields) =>
      log[level](message, { details: fields === undefined ? undefined : JSON.stringify(fields) }),
  });
}
