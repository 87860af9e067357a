import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Calibration, CalibrationRequest } from '../src-shared/contract/calibration.ts';
import { AnalysisService, type AnalysisServiceOptions } from './analysis/analysis-service.ts';
import { calibrationTexts } from './answering/calibration-prompts.ts';
import { libraryPassages } from './answering/library-passages.ts';
import { SingleAnswers } from './answering/single-answers.ts';
import type { DeviceService } from './devices/device-service.ts';
import type { Engine, Model } from './engine/engine.ts';
import type { CalibrationRun, CalibrationService } from './fusion/calibration/calibration-service.ts';
import type { Planner } from './fusion/planning/planner.ts';
import type { StoredPrefixes } from './fusion/stored-prefixes.ts';
import type { ChunkStore } from './kvstore/store.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { FolderLibrary } from './library/folder-library.ts';
import type { LibraryService } from './library/library-service.ts';
import type { ActiveModel } from './models/active-model.ts';
import { withAdapter } from './models/entry.ts';
import type { ModelService } from './models/model-service.ts';
import { chooseModel } from './models/model-defaults.ts';
import type { Paths } from './platform/paths.ts';
import { SearchService, type SearchServiceOptions } from './retrieval/search-service.ts';
import type { Core } from './platform/core.ts';

interface OpenLibraryOptions {
  root: string;
  /** Default: the demo model. */
  modelPath?: string | undefined;
  /** File of a LoRA adapter to put on it. */
  adapter?: string | undefined;
}

/** A library with the model that reads it and the service that answers from it. */
export interface Workspace {
  model: Model;
  library: FolderLibrary;
  answers: SingleAnswers;
  chunkTokens: number;
}

/** What workspaces need of the app. */
interface Parts extends Omit<Core, 'events'> {
  paths: Paths;
  engine: Engine;
  devices: DeviceService;
  models: Pick<ModelService, 'trials' | 'servers'>;
  libraries: LibraryService;
  store: ChunkStore;
  planner: Planner;
  prefixes: StoredPrefixes;
  calibration: CalibrationService<ActiveModel>;
}

interface WorkspacesOptions {
  app: Parts;
  catalogue: Catalogue;
  /** What analyses share with the window's. */
  analysisParts: () => Omit<AnalysisServiceOptions, 'path' | 'models' | 'retrieval'>;
}

const NO_EMBEDDER: SearchServiceOptions['models'] = {
  embedder: undefined,
  onEmbedderChange: () => () => undefined,
  onChange: () => () => undefined,
};

const nameOf = (model: Model): string => withAdapter(model.info.name, model.adapter);

/** Folders that are read and asked one by one, each with a model of its choice: what the command line works with. */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #models = new Map<string, Promise<Model>>();
  readonly #open: Workspace[] = [];
  readonly #analyses: AnalysisService[] = [];
  readonly #searches: SearchService[] = [];

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  /** What Engine.loadModel says, and LIBRARY_NOT_FOUND. A model on a server is named as the list of models does, or by address#model. */
  async open({ root, modelPath, adapter }: OpenLibraryOptions): Promise<Workspace> {
    const { app, catalogue } = this.#options;
    const { store, planner, prefixes } = app;
    const settings = app.settings.current;
    const choice = chooseModel(modelPath, app.paths);
    const model = await this.#loadModel(choice.path, adapter, settings.threads || choice.threads);
    const chunkTokens = settings.chunkTokens ?? choice.chunkTokens(model.info);
    const library = await app.libraries.openFolder(root, { model, chunkTokens });
    const answers = new SingleAnswers({
      model,
      store,
      planner,
      prefixes,
      name: nameOf(model),
      settings: app.settings,
      retrieval: this.#wordsOnly(library, chunkTokens),
      passages: libraryPassages(catalogue),
      onBackgroundError: (error) => app.log.warn('miss-not-stored', { error: String(error) }),
    });
    const workspace = { model, library, answers, chunkTokens };
    this.#open.push(workspace);
    return workspace;
  }

  /** Analyses with a workspace's model, which are not kept. */
  analysesOf({ model, library, chunkTokens }: Workspace): AnalysisService {
    const { analysisParts } = this.#options;
    const active = { name: nameOf(model), model, chunkTokens };
    const analyses = new AnalysisService({
      path: ':memory:',
      models: { active, current: () => Promise.resolve(active) },
      retrieval: this.#wordsOnly(library, chunkTokens),
      ...analysisParts(),
    });
    this.#analyses.push(analyses);
    return analyses;
  }

  /** Measures how well a workspace's model stands blending, on its library, which was read before. As CalibrationService.run. */
  calibrate(
    { model, library, chunkTokens }: Workspace,
    request: CalibrationRequest,
    run: CalibrationRun,
  ): Promise<Calibration> {
    const { app, catalogue } = this.#options;
    const sample = library.root === realpathSync(app.paths.sampleLibrary);
    const texts = calibrationTexts({
      model,
      catalogue,
      chunkTokens,
      chunkSetId: library.chunkSetId,
      library: basename(library.root),
      settings: app.settings.current,
      count: request.prompts,
      questions: sample ? app.paths.sampleQuestions : undefined,
    });
    return app.calibration.measure({ name: nameOf(model), model }, texts, request, run);
  }

  /** What is to be closed before conversations are. */
  closeAnalyses(): (() => Promise<void>)[] {
    return this.#analyses.map((analyses) => () => analyses.close());
  }

  /** And behind them. */
  closeAnswers(): (() => Promise<void>)[] {
    return [...this.#open.map(({ answers }) => answers), ...this.#searches].map((each) => () => each.close());
  }

  /** Frees the models; nothing may use them any more. */
  closeModels(): (() => Promise<void>)[] {
    return [...this.#models.values()].map((loading) => () => this.#dispose(loading));
  }

  /** Search in one library, without vectors: no embedding model is loaded here. */
  #wordsOnly({ chunkSetId }: FolderLibrary, chunkTokens: number): SearchService {
    const { app, catalogue } = this.#options;
    const search = new SearchService({
      catalogue,
      sets: { chunkTokens, chunkSets: () => [chunkSetId] },
      models: NO_EMBEDDER,
      gate: app.gate,
      log: app.log,
    });
    this.#searches.push(search);
    return search;
  }

  #loadModel(path: string, adapter: string | undefined, threads: number): Promise<Model> {
    const { servers } = this.#options.app.models;
    const row = servers.find(path);
    if (row) return Promise.resolve(servers.load(row));
    const key = JSON.stringify([path, adapter]);
    const known = this.#models.get(key);
    if (known) return known;
    const loading = this.#load(path, adapter, threads);
    this.#models.set(key, loading);
    return loading;
  }

  async #load(path: string, adapter: string | undefined, threads: number): Promise<Model> {
    const { engine, devices, models, settings } = this.#options.app;
    const { conversationDtype: kvDtype, deviceBudgetBytes } = settings.current;
    const name = basename(path);
    await devices.settled();
    return devices.load(name, async (device) => {
      if (engine.inspect(path).engine === 'llama') {
        const { packs } = devices;
        await models.trials.require({ path, name, role: 'chat', threads, device, packs });
      }
      return engine.loadModel(path, { threads, device, kvDtype, adapter, deviceBudgetBytes });
    });
  }

  async #dispose(loading: Promise<Model>): Promise<void> {
    const model = await loading.catch(() => undefined); // whoever asked for it was told
    if (!model) return;
    await this.#options.app.store.forget(model);
    model.dispose();
  }
}
