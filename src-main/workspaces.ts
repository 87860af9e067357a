import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { StrategyChoice } from '../src-shared/strategy.ts';
import type { Calibration, CalibrationRequest } from '../src-shared/contract/calibration.ts';
import { AnalysisService, type AnalysisServiceOptions } from './analysis/analysis-service.ts';
import { calibrationTexts } from './answering/calibration-prompts.ts';
import { libraryPassages } from './answering/library-passages.ts';
import { SingleAnswers } from './answering/single-answers.ts';
import type { DeviceService } from './devices/device-service.ts';
import type { Engine, Model } from './engine/engine.ts';
import type { CalibrationRun, CalibrationService } from './fusion/calibration/calibration-service.ts';
import { Planner } from './fusion/planning/planner.ts';
import type { StoredPrefixes } from './fusion/stored-prefixes.ts';
import type { WatchService } from './fusion/watching/watch-service.ts';
import type { WatchTable } from './fusion/watching/watch-table.ts';
import type { ChunkStore } from './kvstore/store.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { FolderLibrary } from './library/folder-library.ts';
import type { LibraryService } from './library/library-service.ts';
import type { ActiveModel } from './models/active-model.ts';
import { withAdapter } from './models/registry/entry.ts';
import type { Trials } from './models/loader/trial/trials.ts';
import type { ServerModels } from './models/sources/servers/server-models.ts';
import { chooseModel } from './models/model-defaults.ts';
import { EventBus } from './platform/event-bus.ts';
import { traceOf } from './platform/failure.ts';
import type { Paths } from './platform/paths.ts';
import type { SettingsService } from './platform/settings-service.ts';
import { SearchService, type SearchServiceOptions } from './retrieval/search-service.ts';
import type { Core } from './platform/core.ts';

interface OpenLibraryOptions {
  root: string;
  /** Settings of this workspace. Default: the app's settings. */
  settings?: SettingsService | undefined;
  /** Default: the demo model. */
  modelPath?: string | undefined;
  /** Path of a LoRA adapter to apply. */
  adapter?: string | undefined;
}

/** A library with the model that reads it and the service that answers from it. */
export interface Workspace {
  model: Model;
  library: FolderLibrary;
  answers: SingleAnswers;
  chunkTokens: number;
  settings: SettingsService;
  planner: Planner;
  /** Events of its analyses. Not the windows' bus: their ids begin at one, as the windows' own do. */
  events: EventBus;
}

/** The resources of an open workspace. */
interface Held {
  /** Key of its model in the map of models. */
  modelKey: string;
  readonly analyses: AnalysisService[];
  readonly searches: SearchService[];
}

interface LoadedModel {
  loading: Promise<Model>;
  /** Workspaces that use it. */
  uses: number;
}

/** The parts of the app that workspaces need. */
interface Parts extends Omit<Core, 'events'> {
  paths: Paths;
  engine: Engine;
  devices: DeviceService;
  trials: Trials;
  servers: ServerModels;
  libraries: LibraryService;
  store: ChunkStore;
  planner: Planner;
  prefixes: StoredPrefixes;
  calibration: CalibrationService<ActiveModel>;
  watching: Pick<WatchService, 'answered'>;
  watched: WatchTable;
  unmeasured(model: Pick<Model, 'info' | 'path'>): StrategyChoice | undefined;
}

interface WorkspacesOptions {
  app: Parts;
  catalogue: Catalogue;
  /** The parts that analyses share with the window's. */
  analysisParts: () => Omit<
    AnalysisServiceOptions,
    'path' | 'models' | 'retrieval' | 'settings' | 'planner' | 'events'
  >;
}

const NO_EMBEDDER: SearchServiceOptions['models'] = {
  embedder: undefined,
  onEmbedderChange: () => () => undefined,
  onChange: () => () => undefined,
};

const nameOf = (model: Model): string => withAdapter(model.info.name, model.adapter);

/**
 * Folders that are read and queried one by one, each with a model of its choice; used by the command line. Several may be open
 * concurrently, next to the window's own model and libraries.
 */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #models = new Map<string, LoadedModel>();
  readonly #open = new Map<Workspace, Held>();

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  /** Errors of Engine.loadModel, and LIBRARY_NOT_FOUND. A remote model is named as in the list of models, or by address#model. */
  async open(options: OpenLibraryOptions): Promise<Workspace> {
    const { app } = this.#options;
    const { settings = app.settings, modelPath, adapter } = options;
    const choice = chooseModel(modelPath, app.paths);
    const { threads } = settings.current;
    const modelKey = JSON.stringify([choice.path, adapter, threads]);
    const held: Held = { modelKey, analyses: [], searches: [] };
    try {
      const model = await this.#takeModel(modelKey, () => this.#load(choice.path, adapter, threads));
      const chunkTokens = settings.current.chunkTokens ?? choice.chunkTokens(model.info);
      const workspace = await this.#make({ ...options, settings, model, chunkTokens }, held);
      this.#open.set(workspace, held);
      return workspace;
    } catch (error) {
      await this.#leaveModel(modelKey);
      throw error;
    }
  }

  /** Stops its work, and frees its model unless another workspace uses it, too. */
  async close(workspace: Workspace): Promise<void> {
    const held = this.#open.get(workspace);
    if (!held || !this.#open.delete(workspace)) return;
    for (const analyses of held.analyses) await analyses.close();
    await workspace.answers.close();
    for (const search of held.searches) await search.close();
    await this.#options.app.prefixes.idle(); // they are exported from the model
    await this.#leaveModel(held.modelKey);
  }

  /** Analyses with a workspace's model; they are not stored. */
  analysesOf(workspace: Workspace): AnalysisService {
    const { model, chunkTokens, settings, planner, events } = workspace;
    const { analysisParts } = this.#options;
    const held = this.#heldBy(workspace);
    const active = { name: nameOf(model), model, chunkTokens };
    const analyses = new AnalysisService({
      path: ':memory:',
      models: { active, current: () => Promise.resolve(active) },
      retrieval: this.#wordsOnly(workspace, held),
      settings,
      planner,
      events,
      ...analysisParts(),
    });
    held.analyses.push(analyses);
    return analyses;
  }

  /**
   * Measures answer quality under blending with a workspace's model, on its library, which was read before. Errors as
   * CalibrationService.run.
   */
  calibrate(
    { model, library, chunkTokens, settings }: Workspace,
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
      settings: settings.current,
      count: request.prompts,
      questions: sample ? app.paths.sampleQuestions : undefined,
    });
    const { dtype } = settings.current;
    return app.calibration.measure({ name: nameOf(model), model }, texts, request, { dtype, ...run });
  }

  /** Closes all workspaces, without waiting for prefixes to be stored. */
  async closeAll(): Promise<void> {
    await this.#options.app.prefixes.stop();
    for (const workspace of [...this.#open.keys()]) await this.close(workspace);
    for (const { loading } of this.#models.values()) await this.#dispose(loading);
  }

  async #make(
    given: OpenLibraryOptions & Pick<Workspace, 'settings' | 'model' | 'chunkTokens'>,
    held: Held,
  ): Promise<Workspace> {
    const { app, catalogue } = this.#options;
    const { store, prefixes, gate } = app;
    const { root, settings, model, chunkTokens } = given;
    const library = await app.libraries.openFolder(root, {
      model,
      chunkTokens,
      dtype: settings.current.dtype,
    });
    const planner = this.#plannerFor(settings);
    const answers = new SingleAnswers({
      model,
      store,
      planner,
      prefixes,
      settings,
      gate,
      log: app.log,
      name: nameOf(model),
      retrieval: this.#wordsOnly({ library, chunkTokens }, held),
      passages: libraryPassages(catalogue),
      watch: (answer) => app.watching.answered(answer),
      onBackgroundError: (error) => app.log.warn('miss-not-stored', { error: String(error) }),
    });
    const events = new EventBus((error) => app.log.error('listener-failed', { error: traceOf(error) }));
    return { model, library, answers, chunkTokens, settings, planner, events };
  }

  /** The app's planner, for a workspace's number format. */
  #plannerFor(settings: SettingsService): Planner {
    const { app } = this.#options;
    const { planner, store, calibration, watched } = app;
    return new Planner({
      costs: planner.costs,
      store,
      calibration: (model, kind) => calibration.of(model, kind, settings.current.dtype),
      unmeasured: (model) => app.unmeasured(model),
      leastRatio: (model, libraryIds) => watched.leastRatio(model, libraryIds),
    });
  }

  /** Search in one library, without vectors: no embedding model is loaded here. */
  #wordsOnly(
    { library, chunkTokens }: Pick<Workspace, 'library' | 'chunkTokens'>,
    held: Held,
  ): SearchService {
    const { app, catalogue } = this.#options;
    const search = new SearchService({
      catalogue,
      sets: { chunkTokens, chunkSets: () => [library.chunkSetId] },
      models: NO_EMBEDDER,
      gate: app.gate,
      log: app.log,
    });
    held.searches.push(search);
    return search;
  }

  #heldBy(workspace: Workspace): Held {
    const held = this.#open.get(workspace);
    if (!held) throw new TypeError('workspace: it is closed');
    return held;
  }

  #takeModel(key: string, load: () => Promise<Model>): Promise<Model> {
    const known = this.#models.get(key) ?? { loading: load(), uses: 0 };
    known.uses++;
    this.#models.set(key, known);
    return known.loading;
  }

  async #leaveModel(key: string): Promise<void> {
    const known = this.#models.get(key);
    if (!known || --known.uses > 0) return;
    this.#models.delete(key);
    await this.#dispose(known.loading);
  }

  async #load(path: string, adapter: string | undefined, threads: number): Promise<Model> {
    const { engine, devices, servers, trials, settings } = this.#options.app;
    const onServer = servers.find(path);
    if (onServer) return servers.load(onServer);
    const { conversationDtype: kvDtype, deviceBudgetBytes } = settings.current;
    const name = basename(path);
    await devices.settled();
    return devices.load(name, async (device) => {
      if (engine.inspect(path).engine === 'llama') {
        const { packs } = devices;
        await trials.require({ path, name, role: 'chat', threads, device, packs });
      }
      return engine.loadModel(path, { threads, device, kvDtype, adapter, deviceBudgetBytes });
    });
  }

  async #dispose(loading: Promise<Model>): Promise<void> {
    const model = await loading.catch(() => undefined); // its failure was already reported to whoever requested it
    if (!model) return;
    await this.#options.app.store.forget(model);
    model.dispose();
  }
}
