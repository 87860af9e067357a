import { realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Failure } from '../../src-shared/contract/common.ts';
import type {
  DocumentInfo,
  LibraryInfo,
  PrecomputePlan,
  QueueStatus,
  SourceRoot,
} from '../../src-shared/contract/libraries.ts';
import type { OutputOf, ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { ModelSource } from '../models/active-model.ts';
import { isAborted, throwIfAborted } from '../platform/abort.ts';
import { throttled } from '../platform/event-bus.ts';
import { RecurringTask } from '../platform/recurring-task.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { systemClock } from '../platform/clock.ts';
import { traceOf } from '../platform/failure.ts';
import type { KvDtype } from '../../src-shared/kv-dtype.ts';
import type { Paths } from '../platform/paths.ts';
import type { DocumentIndexer } from '../retrieval/types.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { DocumentViews } from './document-views.ts';
import { DocumentService, type LibraryStore } from './document-service.ts';
import { readFolder, type FolderReport, type ReadFolderOptions, type ReadFolderRun } from './read-folder.ts';
import { notFound, rowId } from '../platform/ids.ts';
import { formatOf, isDocument, unsupported } from './formats/formats.ts';
import { LibraryEvents } from './library-events.ts';
import type { LibraryRow, RootRow } from '../catalogue/library-table.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { PAGE_LIMITS, ParserProcess, type Parser } from './parser/parser-process.ts';
import { DocumentQueue } from './queue/queue.ts';
import { DocumentRecogniser } from './queue/recogniser.ts';
import { DocumentReader } from './queue/reader.ts';
import { addPath, pathInRoot, resolveExisting } from './sources/added-paths.ts';
import { removeWithCache } from './sources/removal.ts';
import { RootKeeper } from './sources/root-keeper.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import type { StepParts } from './queue/steps.ts';
import { precomputePlan, type PlanSources } from './queue/precompute-plan.ts';
import { chunkSetOf, type ChunkModel } from './queue/targets.ts';
import { UploadFolders } from './sources/upload-folders.ts';
import { safeRelativePath, storeUpload } from './sources/uploads.ts';
import type { Core } from '../platform/core.ts';
import { fetchPage } from './web/fetch-page.ts';
import { addressOf, pagePath } from './web/page-path.ts';

export interface LibraryServiceOptions extends Core {
  catalogue: Catalogue;
  store: LibraryStore;
  models: ModelSource;
  paths: Pick<Paths, 'data' | 'sampleLibrary'>;
  indexer?: DocumentIndexer | undefined;
  costs?: CostModel | undefined;
  proposal?: PlanSources['proposal'];
  parser?: Parser | undefined;
  pictures?: Parser | undefined;
  /** Replaced by tests. */
  fetchPage?: typeof fetchPage | undefined;
  /** Makes the pages of documents that people look at: they do not wait for the queue. */
  viewer?: ParserProcess | undefined;
  /** Called for startup problems that a person must know. */
  onFound?: ((failure: Failure) => void) | undefined;
  /** For tests that cannot wait: see RootKeeper and DocumentQueue. */
  timing?: { quietMs?: number; absentPollMs?: number; retryMs?: number };
}

const RECOUNT_MS = 5000;
/** Time in milliseconds between two removals of deleted words from the search index, each of which writes the whole index. */
const PURGE_MS = 60_000;
const SKIPPED_SHOWN = 1000;
const SAMPLE_NAME = 'Sample library';
const SAMPLE_STATE = 'sample-library';

/**
 * Libraries: their content and their work. Documents and the queue have separate services. Long because of its many short methods: it is
 * the single interface to libraries.
 */
export class LibraryService {
  readonly documents: DocumentService;
  readonly views: DocumentViews;
  readonly queue: DocumentQueue;
  readonly #options: LibraryServiceOptions;
  readonly #catalogue: Catalogue;
  readonly #uploads: UploadFolders;
  readonly #parser: Parser;
  /** Recognises pages: a long scan delays no other document. */
  readonly #pictures: Parser;
  readonly #steps: StepParts;
  readonly #roots: RootKeeper;
  readonly #abort = new AbortController();
  /** Turns of those who work on a library outside the queue. */
  readonly #turns = new Map<number, SerialQueue>();
  readonly #told: LibraryEvents;
  readonly #recount: ReturnType<typeof throttled>;
  readonly #purge: RecurringTask;
  readonly #ends: (() => void)[] = [];
  #recounting: Promise<void> = Promise.resolve();
  #recovering: Promise<void> = Promise.resolve();
  #removing: Promise<unknown> = Promise.resolve();
  #evictions = 0;
  #diskBudget = 0;

  constructor(options: LibraryServiceOptions) {
    const { catalogue, store, models, gate, events, settings, log, timing = {} } = options;
    this.#options = options;
    this.#catalogue = catalogue;
    this.#uploads = new UploadFolders(catalogue, join(options.paths.data, 'libraries'));
    this.#uploads.place();
    this.#parser = options.parser ?? new ParserProcess();
    this.#told = new LibraryEvents({ events, log }, () => this.queue.status());
    this.#purge = new RecurringTask({
      work: (signal) => gate.background((stop) => this.#purgeWords(stop), signal),
      pauseMs: PURGE_MS,
      onFailed: (error) => log.warn('words-not-purged', { error: traceOf(error) }),
    });
    this.#recount = throttled(RECOUNT_MS, () => this.#recountLater());
    const onLibraryChanged = (id: number): void => this.#told.changed(id);
    const maxFileBytes = (): number => settings.current.maxFileBytes;
    const reader = new DocumentReader({ catalogue, parser: this.#parser, maxFileBytes });
    this.#pictures = options.pictures ?? new ParserProcess(PAGE_LIMITS);
    const recogniser = new DocumentRecogniser({ catalogue, parser: this.#pictures, settings, log });
    const viewer = options.viewer ?? new ParserProcess();
    this.views = new DocumentViews({ catalogue, parser: viewer, maxFileBytes });
    this.#steps = {
      catalogue,
      store,
      reader,
      recogniser,
      gate,
      log,
      indexer: options.indexer,
      costs: options.costs,
      onLibraryChanged,
    };
    this.queue = new DocumentQueue({
      ...this.#steps,
      models,
      dtype: () => settings.current.dtype,
      retryMs: timing.retryMs,
      onStatus: () => this.#told.status(),
      onNotice: (failure) => events.emit('app.notice', { level: 'warning', failure }),
    });
    this.documents = new DocumentService({
      catalogue,
      store,
      queue: this.queue,
      models,
      gate,
      uploadFolder: (root) => this.#uploads.ownFolder(root),
      onLibraryChanged,
      onRemoved: () => this.#purge.soon(),
    });
    this.#roots = new RootKeeper({
      catalogue,
      events,
      log,
      ...timing,
      onChange: (libraryId, { removed }) => {
        this.#told.changed(libraryId);
        if (removed > 0) {
          this.queue.removed();
          this.#purge.soon();
        } else this.queue.kick();
      },
    });
  }

  /** Creates the sample library on the very first start; starts watching folders and running the queue. */
  start(): void {
    this.#addSample();
    this.#catalogue.libraries.removeExcludedFiles();
    this.#recovering = this.#recoverUploads();
    for (const id of this.#catalogue.libraries.doomed())
      this.#remove(id).catch((error: unknown) => {
        if (!isAborted(error)) this.#options.log.error('library-not-deleted', { error: traceOf(error) });
      });
    const { events, settings } = this.#options;
    this.#ends.push(
      settings.onChange((now, before) => {
        if (now.dtype !== before.dtype || now.chunkTokens !== before.chunkTokens) this.queue.refresh();
        if (now.recognise && !before.recognise) this.#catalogue.documents.reopenScans();
        if (now.recognise !== before.recognise) this.queue.kick();
      }),
      events.on(({ topic }) => {
        if (topic !== 'cache.changed') return;
        if (this.#hasEvicted()) this.#recount(); // others evict, too; the counts in lists follow
        if (this.#hasMoreRoom()) this.queue.fill();
      }),
    );
    this.#hasMoreRoom();
    this.queue.start();
    this.#roots.start();
    this.#purge.soon(); // what an earlier process could not finish
    this.#recount();
  }

  /** Finishes deletions that a crash interrupted, and restores upload libraries that a damaged catalogue lost. */
  async #recoverUploads(): Promise<void> {
    const { log, onFound } = this.#options;
    try {
      await this.#uploads.removeDiscarded();
      const recovered = await this.#uploads.recover();
      if (recovered === 0) return;
      onFound?.(recoveredFailure(recovered));
      this.#told.changed();
      for (const root of this.#catalogue.libraries.roots())
        if (root.kind === 'managed') void this.#roots.scan(root.id);
    } catch (error) {
      log.error('uploads-not-recovered', { error: traceOf(error) });
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    for (const end of this.#ends.splice(0)) end();
    await this.#recovering;
    await this.#removing;
    await this.#roots.stop();
    this.#parser.close();
    this.#pictures.close();
    this.views.close();
    await this.queue.stop();
    await this.#recounting;
    await this.#purge.close();
    this.#recount.cancel();
    this.#told.close();
  }

  list(): LibraryInfo[] {
    return this.#catalogue.libraries.list().map((row) => this.#info(row));
  }

  create(name: string): LibraryInfo {
    const id = this.#catalogue.libraries.create(name);
    this.#told.changed();
    return this.#info(this.#library(String(id)));
  }

  /** NOT_FOUND. */
  rename(id: string, name: string): LibraryInfo {
    const library = this.#library(id);
    this.#catalogue.libraries.update(library.id, { ...library, name });
    this.#told.changed(library.id);
    return this.#info({ ...library, name });
  }

  /**
   * Reads the library that consists of exactly this folder (default: the sample library) for a model that need not be the one in use, while
   * the queue leaves it alone. Errors as readFolder().
   */
  async read(
    path = this.#options.paths.sampleLibrary,
    target: Pick<ReadFolderOptions, 'model' | 'chunkTokens' | 'dtype'>,
    run: ReadFolderRun,
  ): Promise<FolderReport> {
    const [root, sampleRoot] = await Promise.all(
      [path, this.#options.paths.sampleLibrary].map((each) => realpath(each).catch(() => each)),
    );
    const sample = root === sampleRoot;
    if (sample) this.#addSample();
    return readFolder(
      path,
      {
        ...this.#steps,
        ...target,
        proposal: this.#options.proposal,
        ...(sample && { name: SAMPLE_NAME, sample }), // the user may have deleted it
        alone: (libraryId, work) => this.#alone(libraryId, work),
        between: (work) => this.#roots.between(work),
      },
      run,
    );
  }

  /** What a model has left to compute, of one library or of all; null if its passages cannot be blended. */
  plan(active: ChunkModel, dtype: KvDtype, id?: string): Promise<PrecomputePlan | null> {
    const libraryId = id === undefined ? undefined : rowId(id, 'library');
    return precomputePlan(active, dtype, this.#options, libraryId);
  }

  /** Runs work on a library's documents, after earlier requests, while the queue leaves it alone. */
  #alone<T>(libraryId: number, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(libraryId) ?? new SerialQueue();
    this.#turns.set(libraryId, turns);
    return turns.run(async () => {
      const giveBack = await this.queue.leave(libraryId);
      try {
        return await work();
      } finally {
        giveBack();
      }
    });
  }

  /**
   * Deletes a library with its chunks and the KV that no other library shares; users' own files stay. It disappears from lists and searches
   * immediately; if the process ends first, the next start finishes the rest. NOT_FOUND, ABORTED by close().
   */
  async delete(id: string): Promise<void> {
    const library = this.#library(id);
    this.#catalogue.libraries.doom(library.id);
    for (const root of this.#catalogue.libraries.roots(library.id)) this.#roots.unfollow(root.id);
    this.queue.interrupt();
    this.#told.changed();
    await this.#remove(library.id);
  }

  /** Deletes the content of a doomed library; one library at a time. ABORTED. */
  #remove(id: number): Promise<void> {
    const { libraries, documents } = this.#catalogue;
    const removed = this.#removing.then(async () => {
      const { signal } = this.#abort;
      await removeWithCache(this.#catalogue, this.#options.store, documents.idsOfLibrary(id), signal);
      throwIfAborted(signal);
      await this.#uploads.discard(libraries.roots(id), () => libraries.remove(id));
      this.#told.changed();
      this.queue.removed();
      this.#purge.soon();
    });
    this.#removing = removed.catch(() => undefined);
    return removed;
  }

  /** Adds files and folders by path, and queues their documents. NOT_FOUND, LIBRARY_NOT_FOUND. */
  async addPaths({ id, paths, watch }: ParsedInputOf<'libraries.addPaths'>): Promise<LibraryInfo> {
    const library = this.#library(id);
    const found = await Promise.all(paths.map(resolveExisting));
    const folders = this.#catalogue.libraries.roots(library.id).filter(({ kind }) => kind === 'folder');
    const touched = new Set<number>();
    const slice = new TimeSlice();
    for (const { path, kind } of found) {
      const root = addPath(this.#catalogue.libraries, library.id, { kind, path, watched: watch }, folders);
      if (kind === 'folder') folders.push(root);
      touched.add(root.id);
      this.#roots.follow(root);
      await slice.step();
    }
    for (const rootId of touched) void this.#roots.scan(rootId);
    this.#told.changed(library.id);
    return this.#info(library);
  }

  /** Removes a root, with its documents and the KV that no other shares; as delete() does a library. NOT_FOUND, ABORTED by close(). */
  async removeRoot(id: string, rootId: string): Promise<LibraryInfo> {
    const library = this.#library(id);
    const root = this.#root(library, rootId);
    const doomed = this.#catalogue.libraries.doomRoot(root.id);
    this.#roots.unfollow(root.id);
    this.queue.interrupt();
    await this.#remove(doomed);
    this.#told.changed(library.id);
    return this.#info(library);
  }

  /** NOT_FOUND. */
  setWatched(id: string, rootId: string, watched: boolean): LibraryInfo {
    const library = this.#library(id);
    const root = this.#root(library, rootId);
    this.#catalogue.libraries.setWatched(root.id, watched);
    this.#roots.follow({ ...root, watched });
    if (watched) void this.#roots.scan(root.id);
    this.#told.changed(library.id);
    return this.#info(library);
  }

  /** Files of a root that are not documents of its library, the first thousand of them. NOT_FOUND. */
  skipped(id: string, rootId: string): OutputOf<'libraries.skipped'> {
    const files = this.#roots.skipped(this.#root(this.#library(id), rootId).id);
    return { total: files.length, files: files.slice(0, SKIPPED_SHOWN) };
  }

  /** Ids of a library's documents at or below paths, after pending scans. NOT_FOUND. */
  async documentsBelow(id: string, paths: readonly string[]): Promise<string[]> {
    const library = this.#library(id);
    const places = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
    const found = new Set<number>();
    for (const root of this.#catalogue.libraries.roots(library.id)) {
      const inside = places.flatMap((path) => pathInRoot(root.path, path) ?? []);
      if (inside.length === 0) continue;
      await this.#roots.scan(root.id);
      for (const path of inside)
        for (const documentId of this.#catalogue.documents.idsBelow(root.id, path)) found.add(documentId);
    }
    return [...found].map(String);
  }

  /** Resolves when every root has been scanned. NOT_FOUND. */
  async rescan(id: string): Promise<void> {
    const library = this.#library(id);
    const roots = this.#catalogue.libraries.roots(library.id);
    await Promise.all(roots.map((root) => this.#roots.scan(root.id)));
  }

  /**
   * Accepts a file from a window: stores it in the data folder, then queues it. `relativePath` may contain folders. Returns the document's
   * id. NOT_FOUND, BAD_ARGUMENT, DOCUMENT_UNSUPPORTED, DOCUMENT_TOO_LARGE, DISK_FULL, STORE_READ_ONLY, ABORTED.
   */
  async receiveUpload(libraryId: string, relativePath: string, stream: Readable): Promise<string> {
    const library = this.#library(libraryId);
    const path = safeRelativePath(relativePath);
    if (!isDocument(path)) throw unsupported(path); // a scan would drop it
    const root = this.#uploads.of(library.id);
    return String(await this.#store(library, root, { path, stream, address: null }));
  }

  /**
   * Fetches a page from the internet and queues it; one that the library has from this address is replaced. NOT_FOUND, the errors of
   * fetchPage and storeUpload.
   */
  async addAddress(id: string, url: string): Promise<DocumentInfo> {
    const library = this.#library(id);
    const address = addressOf(url);
    const { fetchPage: fetched = fetchPage } = this.#options;
    const { bytes, format } = await fetched(address, this.#abort.signal);
    const { documents } = this.#catalogue;
    const root = this.#uploads.of(this.#library(id).id);
    const known = documents.ofAddress(library.id, address);
    const path = pagePath(
      address,
      format,
      (one) => (documents.ofPath(root.id, one)?.address ?? address) === address,
    );
    const isOtherKind = known !== undefined && known.path !== path;
    if (isOtherKind) documents.rename(known.id, { path, format });
    const stream = Readable.from([bytes]);
    const documentId = await this.#store(library, root, { path, stream, address });
    // Not before the new file is there: a full disk must not cost the old one.
    if (isOtherKind) await rm(join(root.path, known.path), { force: true });
    return this.documents.get(String(documentId));
  }

  /** NOT_FOUND; the errors of addAddress. */
  async refetch(documentId: string): Promise<DocumentInfo> {
    const { address, libraryId } = this.documents.get(documentId);
    if (address === null) throw notFound('page');
    return this.addAddress(libraryId, address);
  }

  /** Stores a file in a root of uploads and queues it; the document's id. NOT_FOUND, the errors of storeUpload. */
  async #store(
    library: LibraryRow,
    root: RootRow,
    { path, stream, address }: { path: string; stream: Readable; address: string | null },
  ): Promise<number | undefined> {
    const { libraries, documents } = this.#catalogue;
    libraries.include(root.id, path); // first: a scan deletes files that are excluded and present
    await storeUpload(root.path, path, stream, this.#options.settings.current.maxFileBytes);
    if (!libraries.root(root.id)) {
      // The library, or its uploads, were deleted meanwhile.
      await rm(root.path, { recursive: true, force: true });
      throw notFound('library');
    }
    const { size, mtimeMs } = await stat(join(root.path, path));
    const id = this.#catalogue.durable(() => {
      documents.queueFile(library.id, root.id, { path, format: formatOf(path), bytes: size, mtimeMs });
      const row = documents.ofPath(root.id, path);
      if (row) documents.setAddress(row.id, address, address === null ? null : systemClock.wall());
      return row?.id;
    });
    this.#told.changed(library.id);
    this.queue.kick();
    return id;
  }

  /** Retries failed documents, in one library or in all. NOT_FOUND. */
  retryFailed(libraryId: string | undefined): QueueStatus {
    const library = libraryId === undefined ? undefined : this.#library(libraryId).id;
    this.queue.retry(this.#catalogue.documents.failed(library));
    for (const { id } of this.#catalogue.libraries.list()) this.#told.changed(id);
    return this.queue.status();
  }

  /** Needed KV was deleted: it is recomputed. */
  async recompute(): Promise<void> {
    this.#recountLater();
    await this.#recounting;
    this.queue.fill();
  }

  #addSample(): void {
    const { libraries } = this.#catalogue;
    if (this.#catalogue.state(SAMPLE_STATE) !== undefined) return; // deleted ones stay deleted
    const path = this.#options.paths.sampleLibrary;
    this.#catalogue.transaction(() => {
      const known = libraries.ofFolder(path); // from the command line
      if (known === undefined) libraries.create(SAMPLE_NAME, true);
      else libraries.update(known, { name: SAMPLE_NAME, sample: true });
      const sample = libraries.list().find((library) => library.sample);
      if (sample) libraries.addRoot(sample.id, { kind: 'folder', path, watched: true });
      this.#catalogue.setState(SAMPLE_STATE, 'made');
    });
  }

  #info({ id, name, sample }: LibraryRow): LibraryInfo {
    const phases = this.#catalogue.documents.phaseCounts(id);
    const documents = [...phases.values()].reduce((sum, n) => sum + n, 0);
    const failed = phases.get('failed') ?? 0;
    const setId = chunkSetOf(this.#catalogue, id, this.queue.target);
    const counts = this.#catalogue.chunkTable.counts(setId ?? 0);
    return {
      id: String(id),
      name,
      sample,
      documents,
      failed,
      roots: this.#catalogue.libraries
        .roots(id)
        .map((root) => rootInfo(root, this.#roots.skipped(root.id).length)),
      pending: documents - failed - (phases.get('ready') ?? 0),
      chunks: counts.chunks,
      cachedChunks: counts.cachedChunks,
      tokens: counts.tokens,
      cacheBytes: counts.cachedBytes,
    };
  }

  #library(id: string): LibraryRow {
    const library = this.#catalogue.libraries.get(rowId(id, 'library'));
    if (!library) throw notFound('library');
    return library;
  }

  #root(library: LibraryRow, id: string): RootRow {
    const root = this.#catalogue.libraries.root(rowId(id, 'folder'));
    if (root?.libraryId !== library.id) throw notFound('folder');
    return root;
  }

  /** Whether chunks have left the store since the last call; the queue itself counts added ones. */
  #hasEvicted(): boolean {
    const { evictions } = this.#options.store.stats();
    const more = evictions !== this.#evictions;
    this.#evictions = evictions;
    return more;
  }

  /** Whether the disk budget has grown since the last call. */
  #hasMoreRoom(): boolean {
    const { diskBudgetBytes } = this.#options.store.stats();
    const more = diskBudgetBytes > this.#diskBudget;
    this.#diskBudget = diskBudgetBytes;
    return more;
  }

  /** ABORTED. */
  async #purgeWords(signal: AbortSignal): Promise<void> {
    const slice = new TimeSlice();
    await this.#catalogue.purge(() => slice.step(signal));
  }

  #recountLater(): void {
    this.#recounting = this.#recounting
      .then(() => this.queue.recount(this.#abort.signal))
      .catch((error: unknown) => {
        if (!this.#abort.signal.aborted) this.#options.log.warn('recount-failed', { error: String(error) });
      });
  }
}

function recoveredFailure(libraries: number): Failure {
  const them = libraries === 1 ? 'a library' : `${libraries} libraries`;
  return {
    code: 'STORE_CORRUPT',
    message: `Uploaded files without a library were found: the list of libraries was lost or replaced. They are now in ${them} named "Recovered files".`,
    advice: 'Rename what you want to keep, and delete the rest.',
  };
}

function rootInfo({ id, kind, path, watched, failure }: RootRow, skipped: number): SourceRoot {
  return { id: String(id), kind, path, watched, failure, skipped };
}
