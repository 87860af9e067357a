import { AnalysisService } from '../analysis/analysis-service.ts';
import { libraryDocuments } from '../analysis/library-documents.ts';
import { libraryTexts } from '../answering/calibration-prompts.ts';
import { libraryPassages } from '../answering/library-passages.ts';
import { recomputePrompt } from '../answering/recompute-prompt.ts';
import { textMarksOf } from '../answering/text-marks.ts';
import { WaitingPrompts } from '../answering/waiting-prompts.ts';
import { WarmStart } from '../cache/warm-start.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ChatService } from '../chat/chat-service.ts';
import { Prefetcher } from '../chat/prefetcher.ts';
import { readSuggestions, suggestionsAbout } from '../chat/suggestions.ts';
import { CompletionService } from '../completions/completion-service.ts';
import { VectorService } from '../completions/vector-service.ts';
import type { KvDtype, Model } from '../engine/engine.ts';
import { CalibrationFile } from '../fusion/calibration/calibration-file.ts';
import { CalibrationService } from '../fusion/calibration/calibration-service.ts';
import { FormatGate, refusal } from '../fusion/calibration/format-gate.ts';
import { nearestAt } from '../fusion/calibration/choose.ts';
import { UNCALIBRATED } from '../fusion/planning/controller.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import { FirstUse } from '../fusion/planning/first-use.ts';
import { Planner } from '../fusion/planning/planner.ts';
import { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { WatchService } from '../fusion/watching/watch-service.ts';
import { WatchTable } from '../fusion/watching/watch-table.ts';
import type { TableService } from '../library/tables/table-service.ts';
import { LocalModels, type ActiveModel } from '../models/active-model.ts';
import { strategyBefore } from '../models/model-defaults.ts';
import { systemClock } from '../platform/clock.ts';
import type { Disposables } from '../platform/disposables.ts';
import { onBattery } from '../platform/power.ts';
import { activeChunkSets } from '../retrieval/active-sets.ts';
import { SearchService } from '../retrieval/search-service.ts';
import { SearchThread } from '../retrieval/search-thread.ts';
import { VectorIndexes } from '../retrieval/vector-indexes.ts';
import { ownTools } from '../tools/own/own-tools.ts';
import type { McpServers } from '../tools/servers/mcp-servers.ts';
import type { Base } from './base.ts';
import type { Models } from './models.ts';

export type Answers = ReturnType<typeof openAnswers>;

/** Search, blending, and what answers: conversations, analyses and requests of other programs. */
export function openAnswers(
  base: Base,
  catalogue: Catalogue,
  { known, loader, localModels, models }: Models,
  tables: TableService,
  mcpServers: McpServers,
  own: Disposables,
) {
  const { paths, host, core, engine, store, onSetAside } = base;
  const { settings, events, gate, log } = core;
  const sets = activeChunkSets(catalogue, loader);
  const searches = own.add(new SearchThread(paths.catalogue));
  const vectorIndexes = own.add(new VectorIndexes(catalogue.vectors, engine, searches));
  const search = own.add(
    new SearchService({ catalogue, searches, vectors: vectorIndexes, sets, models: loader, gate, log }),
  );
  const calibrationFile = new CalibrationFile(paths.calibrations);
  const calibration = own.add(
    new CalibrationService({
      file: calibrationFile,
      texts: libraryTexts({ catalogue, searches, settings, sampleQuestions: paths.sampleQuestions }),
      models: localModels,
      settings,
      events,
      gate,
    }),
  );
  const refusesFormat = (active: ActiveModel, dtype: KvDtype) => {
    const local = LocalModels.ofActive(active);
    return local && refusal(calibration, local, dtype);
  };
  const formats = own.add(new FormatGate({ calibration, models: localModels, settings, events }));
  const watched = own.add(WatchTable.open(paths.watching, onSetAside));
  /** The strategy for text that no calibration of the model covers; undefined: the controller's default. */
  const unmeasured = (model: Pick<Model, 'info' | 'path'>) =>
    nearestAt(calibration.all(model), UNCALIBRATED.ratio) ?? strategyBefore(model.path, paths);
  const planner = new Planner({
    costs: new CostModel(paths.costs),
    store,
    calibration: (model, kind) => calibration.of(model, kind),
    unmeasured,
    leastRatio: (model, libraryIds) => watched.leastRatio(model, libraryIds),
  });
  store.shared?.onTransfer((transfer) => planner.costs.observeTransfer(transfer));
  const onBackgroundError = (error: unknown) => log.warn('prefix-not-kept', { error: String(error) });
  const prefixes = new StoredPrefixes({ store, gate, onBackgroundError });
  own.add({ close: () => prefixes.stop() });
  const passages = libraryPassages(catalogue, loader);
  const libraries = () => catalogue.libraries.list().map(({ id, name }) => ({ id: String(id), name }));
  const kvasirTools = ownTools({ catalogue, retrieval: search, passages, tables });
  const waiting = new WaitingPrompts({ models: loader, store, words: search, passages, settings, log });
  const chat = own.add(
    new ChatService({
      ...core,
      path: paths.conversations,
      models: loader,
      localModels,
      retrieval: search,
      passages,
      tables,
      toolSources: [kvasirTools, mcpServers],
      planner,
      prefixes,
      suggestions: () => {
        const asked = catalogue.libraries.asked([]);
        const sample = catalogue.libraries.list().find((library) => library.sample);
        return sample && asked.includes(String(sample.id))
          ? readSuggestions(paths.sampleSuggestions)
          : suggestionsAbout(catalogue.documents.newestTitles(asked, 20));
      },
      store,
      waiting,
      onSetAside,
    }),
  );
  loader.beforeDispose((model) => chat.releaseModel(model));
  localModels.onChange(({ id, model }) => known.setTextMarks(id, textMarksOf(model)));
  const openSession = chat.openSession.bind(chat);
  const analysis = own.add(
    new AnalysisService({
      ...core,
      path: paths.analyses,
      models: loader,
      retrieval: search,
      passages,
      documents: libraryDocuments(catalogue),
      store,
      planner,
      openSession,
      onSetAside,
    }),
  );
  loader.beforeDispose((model) => analysis.releaseModel(model));
  const watching = own.add(
    new WatchService({
      ...core,
      table: watched,
      models: localModels,
      known: { modelIds: () => models.list().map(({ id }) => id), libraries },
      answers: chat.remade,
      remakePrompt: async (prompt, signal) => {
        const { dtype } = settings.current;
        const model = localModels.active?.model;
        return model && recomputePrompt(prompt, { model, store, dtype, signal, clock: systemClock });
      },
      onBattery: host.onBattery ?? onBattery,
      measuring: () => calibration.status().running,
    }),
  );
  const completions = own.add(
    new CompletionService({
      ...core,
      models: loader,
      listed: () => models.list(),
      libraries,
      retrieval: search,
      passages,
      tables,
      planner,
      prefixes,
      store,
      openSession,
      waiting,
      watch: (answer) => watching.answered(answer),
    }),
  );
  const vectors = new VectorService(loader, () => models.list());
  const prefetcher = own.add(
    new Prefetcher({
      ...core,
      store,
      models: localModels,
      conversation: (id) => chat.get(id),
      retrieval: search,
      passages,
    }),
  );
  const warmStart = own.add(
    new WarmStart({ ...core, store, models: localModels, warmUp: (signal) => chat.warmUp(signal) }),
  );
  const firstUse = own.add(
    new FirstUse({ ...core, models: localModels, costs: planner.costs, calibration, dir: paths.data }),
  );
  return {
    ...{
      search,
      searches,
      vectorIndexes,
      calibration,
      calibrationFile,
      watched,
      unmeasured,
      planner,
      prefixes,
      formats,
      refusesFormat,
    },
    ...{ chat, kvasirTools, analysis, watching, completions, vectors, prefetcher, warmStart, firstUse },
  };
}
