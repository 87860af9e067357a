import { BackupService } from '../backup/backup-service.ts';
import { ChunkArchive } from '../cache/archive.ts';
import { CacheFolderService } from '../cache/cache-folders.ts';
import { CacheService } from '../cache/cache-service.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { SCHEMAS } from '../databases.ts';
import { ExportService } from '../export/export-service.ts';
import { LibraryService } from '../library/library-service.ts';
import { PAGE_LIMITS, ParserProcess } from '../library/parser/parser-process.ts';
import { TableService } from '../library/tables/table-service.ts';
import { SentDocuments } from '../library/sent-documents.ts';
import { WeightsCheck } from '../models/loader/weights-check.ts';
import { WeightsTable } from '../models/loader/weights-table.ts';
import type { Model } from '../engine/engine.ts';
import type { ActiveModel } from '../models/active-model.ts';
import type { Disposables } from '../platform/disposables.ts';
import type { Answers } from './answers.ts';
import type { Base } from './base.ts';
import type { Models } from './models.ts';

/** Workbooks and other tables as rows. */
export function openTables(
  { host, core: { settings } }: Base,
  catalogue: Catalogue,
  own: Disposables,
): TableService {
  const parser = new ParserProcess({}, host.spawnParser);
  return own.add(new TableService({ catalogue, settings, parser, spawnQuery: host.spawnQuery }));
}

/** Stored chunks, libraries, documents that other programs send, and backups of it all. */
export function openDocuments(
  base: Base,
  catalogue: Catalogue,
  { loader, localModels, known, registry }: Models,
  { search, planner, formats, chat, analysis }: Answers,
  own: Disposables,
) {
  const { paths, host, core, engine, store, version, onFound } = base;
  const { settings, events, gate, log } = core;
  const cache = own.add(
    new CacheService({
      ...{ settings, events, log },
      ...{ dir: paths.store, catalogue, store, models: loader, known, formats },
    }),
  );
  const cacheFolders = own.add(
    new CacheFolderService({
      ...{ settings, events, log, store, planner, models: localModels },
      ...{ data: paths.data, dir: paths.store },
      topK: () => settings.current.topK ?? search.usualTopK,
    }),
  );
  const archive = new ChunkArchive({ store, files: engine, catalogue });
  const backups = new BackupService({ data: paths.data, program: version, schemas: SCHEMAS, log, events });
  const libraries = own.add(
    new LibraryService({
      ...core,
      catalogue,
      store,
      paths,
      models: loader,
      indexer: search,
      costs: planner.costs,
      proposal: () => cache.proposal(),
      parser: new ParserProcess({}, host.spawnParser),
      pictures: new ParserProcess(PAGE_LIMITS, host.spawnParser),
      viewer: new ParserProcess({}, host.spawnParser),
      onFound,
    }),
  );
  search.onFound((chunkIds) => libraries.queue.placed((places) => places.found(chunkIds)));
  // A separate process: a request does not wait for the documents of libraries.
  const parser = new ParserProcess({}, host.spawnParser);
  const sentDocuments = own.add(new SentDocuments({ parser, settings, models: loader }));
  const weights = own.add(
    new WeightsCheck<ActiveModel<Model>>({
      table: new WeightsTable(registry.database),
      gate,
      log,
      forgetKv: async ({ model }) => {
        await loader.release(model);
        const all = await cache.forgetModel(model.info.fingerprint);
        await libraries.recompute();
        return all;
      },
    }),
  );
  localModels.onChange((active) => void weights.check(active));
  const exports = new ExportService({
    ...{ data: paths.data, settingsPath: paths.settings, program: version },
    ...{ catalogue, chat, analyses: analysis, models: registry, events },
  });
  return { cache, cacheFolders, archive, backups, exports, libraries, sentDocuments };
}
