import type { Failure } from '../src-shared/contract/common.ts';
import type { ProfileInput } from '../src-shared/contract/command.ts';
import type { KvDtype } from '../src-shared/kv-dtype.ts';
import type { StrategyChoice } from '../src-shared/strategy.ts';
import { AnalysisService } from './analysis/analysis-service.ts';
import { libraryDocuments } from './analysis/library-documents.ts';
import { libraryTexts } from './answering/calibration-prompts.ts';
import { libraryPassages } from './answering/library-passages.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { ChatService } from './chat/chat-service.ts';
import type { Model } from './engine/engine.ts';
import type { CalibrationFile } from './fusion/calibration/calibration-file.ts';
import { CalibrationService } from './fusion/calibration/calibration-service.ts';
import { FormatGate } from './fusion/calibration/format-gate.ts';
import { Planner } from './fusion/planning/planner.ts';
import type { StoredPrefixes } from './fusion/stored-prefixes.ts';
import type { WatchService } from './fusion/watching/watch-service.ts';
import type { WatchTable } from './fusion/watching/watch-table.ts';
import type { ChunkStore } from './kvstore/store.ts';
import {
  LocalModels,
  type ActiveModel,
  type EmbedderSource,
  type ModelSource,
} from './models/active-model.ts';
import type { ChosenModels } from './models/chosen-models.ts';
import type { ModelLoader } from './models/loader/model-loader.ts';
import type { Core } from './platform/core.ts';
import { Disposables } from './platform/disposables.ts';
import { EventBus } from './platform/event-bus.ts';
import { traceOf } from './platform/failure.ts';
import type { TableService } from './library/tables/table-service.ts';
import type { Paths } from './platform/paths.ts';
import { adjustedFailure } from './platform/settings.ts';
import type { SettingsService } from './platform/settings-service.ts';
import { activeChunkSets } from './retrieval/active-sets.ts';
import { SearchService } from './retrieval/search-service.ts';
import type { SearchThread } from './retrieval/search-thread.ts';
import type { VectorIndexes } from './retrieval/vector-indexes.ts';

/** The parts of the app that profiles share with it. */
interface SharedParts extends Core {
  paths: Paths;
  catalogue: Catalogue;
  vectorIndexes: VectorIndexes;
  searches: SearchThread;
  tables: TableService;
  store: ChunkStore;
  loader: ModelLoader;
  chosenModels: ChosenModels;
  /** All that are open. */
  profiles: Set<Profile>;
  planner: Planner;
  prefixes: StoredPrefixes;
  calibrationFile: CalibrationFile;
  watching: Pick<WatchService, 'answered'>;
  watched: WatchTable;
  unmeasured(model: Pick<Model, 'info' | 'path'>): StrategyChoice | undefined;
  /** Why a model's chunks are stored in f16 instead of a number format; undefined if they need not be. */
  refusesFormat(active: ActiveModel, dtype: KvDtype): Failure | undefined;
}

/**
 * The services of a client with its own model and settings. Nobody else sees its conversations, analyses and events, which last as long as
 * the profile; libraries, stored chunks, costs and calibrations are the app's.
 */
export class Profile {
  readonly settings: SettingsService;
  readonly events: EventBus;
  readonly active: ActiveModel;
  readonly models: ModelSource & EmbedderSource;
  readonly search: SearchService;
  readonly chat: ChatService;
  readonly analysis: AnalysisService;
  readonly calibration: CalibrationService<ActiveModel<Model>>;
  /** Settings that cannot be used as given. */
  readonly found: readonly Failure[];
  readonly #app: SharedParts;
  readonly #opened: Disposables;
  #closing: Promise<void> | undefined;

  /** BAD_ARGUMENT, and the errors of Engine.loadModel. */
  static async open(
    app: SharedParts,
    { settings: overrides = {}, ...choice }: ProfileInput,
  ): Promise<Profile> {
    let settings = app.settings.with(overrides);
    const found = settings.adjusted.filter(({ name }) => name in overrides).map(adjustedFailure);
    const opened = new Disposables(app.log);
    try {
      app.searches.start(); // while the model loads
      const { active, giveBack } = await app.chosenModels.take(choice, settings);
      opened.add({ close: giveBack });
      const refused = app.refusesFormat(active, settings.current.dtype);
      if (refused) {
        found.push(refused);
        settings = app.settings.with({ ...overrides, dtype: 'f16' });
      }
      await app.loader.useEmbedder();
      const profile = new Profile(app, { settings, found, active, opened });
      app.profiles.add(profile);
      return profile;
    } catch (error) {
      await opened.close().catch(() => undefined); // logged
      throw error;
    }
  }

  private constructor(
    app: SharedParts,
    own: Pick<Profile, 'settings' | 'found' | 'active'> & { opened: Disposables },
  ) {
    const { catalogue, searches, vectorIndexes, store, prefixes, gate, log } = app;
    const { settings, active, opened } = own;
    this.#app = app;
    this.#opened = opened;
    this.settings = settings;
    this.found = own.found;
    this.active = active;
    this.events = new EventBus((error) => log.error('listener-failed', { error: traceOf(error) }));
    this.models = {
      active,
      current: () => Promise.resolve(active),
      onChange: () => () => undefined,
      get embedder() {
        return app.loader.embedder;
      },
      get reranker() {
        return app.loader.reranker;
      },
      onEmbedderChange: (listener) => app.loader.onEmbedderChange(listener),
    };
    const core: Core = { settings, events: this.events, gate, log };
    const { models } = this;
    const localModels = new LocalModels(models);
    const sets = activeChunkSets(catalogue, models);
    this.search = opened.add(
      new SearchService({ catalogue, searches, vectors: vectorIndexes, sets, models, gate, log }),
    );
    this.calibration = new CalibrationService({
      ...core,
      models: localModels,
      file: app.calibrationFile,
      texts: libraryTexts({ catalogue, searches, settings, sampleQuestions: app.paths.sampleQuestions }),
    });
    opened.add(new FormatGate({ ...core, calibration: this.calibration, models: localModels }));
    const shared = {
      ...core,
      path: ':memory:',
      models,
      localModels,
      store,
      retrieval: this.search,
      passages: libraryPassages(catalogue, models),
      tables: app.tables,
      planner: new Planner({
        costs: app.planner.costs,
        store,
        calibration: (model, kind) => this.calibration.of(model, kind),
        unmeasured: (model) => app.unmeasured(model),
        leastRatio: (model, libraryIds) => app.watched.leastRatio(model, libraryIds),
      }),
    };
    this.chat = opened.add(new ChatService({ ...shared, prefixes }));
    opened.add({ close: () => this.#endAnswers() });
    const openSession = this.chat.openSession.bind(this.chat);
    this.analysis = opened.add(
      new AnalysisService({ ...shared, documents: libraryDocuments(catalogue), openSession }),
    );
    opened.add(this.calibration);
    this.events.on(({ topic, payload }) => {
      if (topic === 'chat.done' && payload.state === 'done')
        app.watching.answered(this.chat.remade.passing(payload.answerId));
      if (topic === 'calibration.changed') app.events.emit(topic, payload);
    });
  }

  /** Stops its work, and gives the model back once what its answers computed is stored. REQUIRES: no folder is being read for it. */
  close(): Promise<void> {
    this.#closing ??= this.#opened.close().finally(() => this.#app.profiles.delete(this));
    return this.#closing;
  }

  /** Until what they computed is stored. */
  #endAnswers(): Promise<void> {
    for (const { id, busy } of this.chat.list()) if (busy) this.chat.stop(id);
    return this.chat.idle();
  }
}
