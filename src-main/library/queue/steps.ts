import type { DocumentPhase, QueueStatus } from '../../../src-shared/contract/libraries.ts';
import { KvasirError, type ErrorCode } from '../../../src-shared/errors.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow, WorkingPhase } from '../../catalogue/document-table.ts';
import type { Place } from '../../catalogue/place-table.ts';
import type { ChunkCache } from '../../fusion/model.ts';
import type { CostModel } from '../../fusion/planning/cost-model.ts';
import { systemClock } from '../../platform/clock.ts';
import { unlessAborted } from '../../platform/abort.ts';
import { failureOf } from '../../platform/failure.ts';
import type { Gate } from '../../platform/gate.ts';
import type { Logger } from '../../platform/logger.ts';
import type { DocumentIndexer } from '../../retrieval/types.ts';
import { CacheCounts } from './cache-counts.ts';
import { DocumentCutter } from './cutter.ts';
import { Meter } from './meter.ts';
import { DocumentPrecomputer, type ChunkDone, type ChunkTokens } from './precomputer.ts';
import type { DocumentReader, ReadOutcome } from './reader.ts';
import type { DocumentRecogniser } from './recogniser.ts';
import { placeTarget, type ChunkModel, type Target } from './targets.ts';

/** The dependencies of steps, whoever runs them. */
export interface StepParts {
  catalogue: Catalogue;
  store: ChunkCache;
  reader: DocumentReader;
  recogniser: DocumentRecogniser;
  gate: Gate;
  log: Logger;
  /** Embeds chunks when an embedding model is in use. */
  indexer?: DocumentIndexer | undefined;
  /** Decides whether computing a chunk is faster than fetching it from other machines. */
  costs?: CostModel | undefined;
  onLibraryChanged: (libraryId: number) => void;
}

export interface StepsOptions extends StepParts {
  /** The model that computes, if it is loaded now. */
  models: { readonly active: ChunkModel | undefined };
  /** The model, and the target that chunks are created for. Rejects when no model can be loaded. */
  ready: () => Promise<{ active: ChunkModel; target: Target }>;
  /** The only library whose documents are processed; absent: all except those that somebody else is working on. */
  libraryId?: number;
  held?: ReadonlySet<number>;
  onStatus?: () => void;
  onRead?: (outcome: ReadOutcome) => void;
  /** A chunk was computed and stored; its token count. */
  onComputed?: (tokens: number) => void;
  /** A chunk was fetched from the shared cache instead; its token count. */
  onFetched?: (tokens: number) => void;
  /** The disk budget could not hold chunks; their token count. */
  onLeftOut?: (tokens: number) => void;
}

export type WorkerName = 'read' | 'recognise' | 'cut' | 'index' | 'compute';
type CurrentDocument = NonNullable<QueueStatus['current']>;

/** UTF-16 units of a text that is chunked so quickly that it need not wait for questions to be answered. */
const SHORT_TEXT = 262_144;

/** Failures of the environment: whoever runs the steps handles them; no document is at fault. */
const BLOCKING: readonly ErrorCode[] = [
  'DISK_FULL',
  'STORE_READ_ONLY',
  'STORE_IN_USE',
  'DATABASE_HELD',
  'MODEL_NOT_FOUND',
  'MODEL_INVALID',
  'MODEL_UNSUPPORTED',
  'MODEL_TOO_LARGE',
  'MODEL_CHANGED',
  'OUT_OF_MEMORY',
];

/**
 * The steps of a document from its file to its KV. Each step processes the next document whose row requests it (small and new ones first),
 * and writes the next step into the row; false when no row requests it. Vectors and KV of a long document are computed in several steps, so
 * that a document with a higher priority does not wait. ABORTED, and the failures of the environment; a document's own failure is written
 * into its row.
 */
export class DocumentSteps {
  readonly meter: Meter;
  readonly current = new Map<WorkerName, CurrentDocument>();
  readonly #options: StepsOptions;
  /** Documents in progress. */
  readonly #taken = new Set<{ libraryId: number; end: Promise<void> }>();
  readonly #counts: CacheCounts;
  readonly #cutter: DocumentCutter;
  readonly #precomputer: DocumentPrecomputer;

  constructor(options: StepsOptions) {
    const { catalogue, store, models, gate, costs } = options;
    this.#options = options;
    this.meter = new Meter(systemClock);
    this.#counts = new CacheCounts(catalogue, store);
    this.#cutter = new DocumentCutter(catalogue);
    this.#precomputer = new DocumentPrecomputer({ catalogue, store, models, gate, costs });
  }

  /** From a file to its text. */
  read(signal?: AbortSignal): Promise<boolean> {
    return this.#process('waiting', (document) => this.#read(document, signal));
  }

  /** From pages that are pictures to their text: the next page of one document. */
  recognise(signal?: AbortSignal): Promise<boolean> {
    return this.#process('recognising', (document) => this.#recognise(document, signal));
  }

  /** From a text to chunks that questions find by their words. */
  cut(signal?: AbortSignal): Promise<boolean> {
    return this.#process('chunking', (document) => this.#cut(document, signal));
  }

  /** From chunks to their vectors, when an embedding model is in use: the next few. */
  index(signal?: AbortSignal): Promise<boolean> {
    return this.#process('indexing', (document) => this.#index(document, signal));
  }

  /** From chunks to their KV: of a place that was asked for, else of one document, until something else takes precedence. */
  async compute(signal?: AbortSignal): Promise<boolean> {
    const { models, ready } = this.#options;
    const document = this.#next('precomputing');
    if (!document && !models.active?.model.blends) return false;
    // Where only places are left, whoever else needs a model reports that none can be loaded.
    const loaded = document ? ready() : ready().catch(() => undefined);
    const target = (await unlessAborted(loaded, signal))?.target;
    if (!target) return false;
    const place = this.#nextPlace(target);
    const placed = place && this.#options.catalogue.documents.get(place.documentId);
    if (placed) return this.#take(placed, () => this.#computePlace(placed, place, target, signal));
    if (!document) return false;
    return this.#take(document, () => this.#compute(document, target, signal));
  }

  /** Whether a document of a library is in progress. */
  isAt(libraryId: number): boolean {
    return [...this.#taken].some((each) => each.libraryId === libraryId);
  }

  /** Resolves when none is. */
  async hasLeft(libraryId: number): Promise<void> {
    await Promise.all([...this.#taken].filter((each) => each.libraryId === libraryId).map(({ end }) => end));
  }

  async #read(document: DocumentRow, signal: AbortSignal | undefined): Promise<void> {
    await this.#step('read', document, async () => {
      this.#show('read', document, 'reading');
      const outcome = await this.#options.reader.read(document, signal);
      this.#options.onRead?.(outcome);
      if (outcome === 'failed') this.#finished(document);
    });
  }

  async #recognise(document: DocumentRow, signal: AbortSignal | undefined): Promise<void> {
    await this.#step('recognise', document, async () => {
      const { recogniser, gate, catalogue } = this.#options;
      if (!recogniser.isOn) {
        catalogue.documents.advance(document.id, 'recognising', 'chunking');
        return;
      }
      const { done, total } = recogniser.progress(document);
      this.#show('recognise', document, 'recognising', done, total);
      // It waits for questions, but a page that is begun is finished: its process has a low priority.
      if (await gate.background(() => recogniser.next(document, signal), signal)) return;
      await recogniser.merge(document);
    });
  }

  async #cut(document: DocumentRow, signal: AbortSignal | undefined): Promise<void> {
    const { target, active } = await unlessAborted(this.#options.ready(), signal);
    await this.#step('cut', document, async () => {
      const { gate, indexer, catalogue } = this.#options;
      const chunkSetId = this.#chunkSet(document, target);
      this.#show('cut', document, 'chunking');
      const cutTarget = { chunkSetId, chunkTokens: target.chunkTokens, model: active.model };
      const cut = (each?: AbortSignal): Promise<void> =>
        this.#stillWith(active, () => this.#cutter.cut(document, cutTarget, each));
      if ((document.textLength ?? 0) <= SHORT_TEXT) await cut(signal);
      else await gate.background(cut, signal);
      const { missingTokens } = await this.#counts.count(document, target, signal);
      if (!catalogue.documents.advance(document.id, 'chunking', 'indexing')) return;
      const { tokens } = catalogue.chunkTable.counts(chunkSetId, document.id);
      this.meter.learn([{ ...document, textLength: document.textLength ?? 0, tokens }]);
      if (target.blends) this.meter.expect(document.id, missingTokens);
      this.meter.expectVectors(document.id, indexer?.missingTokens(chunkSetId, document.id) ?? 0);
    });
  }

  /** Chunking a short text does not keep the model from being replaced: the text is then chunked for the other one. */
  async #stillWith(active: ChunkModel, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#options.models.active?.model === active.model) throw error;
      throw new KvasirError('ABORTED', 'Another model is in use.');
    }
  }

  async #index(document: DocumentRow, signal: AbortSignal | undefined): Promise<void> {
    const { target } = await unlessAborted(this.#options.ready(), signal);
    await this.#step('index', document, async () => {
      const { gate, indexer, catalogue } = this.#options;
      const chunkSetId = this.#chunkSet(document, target);
      const missing = indexer?.missingTokens(chunkSetId, document.id) ?? 0;
      if (indexer && missing > 0) {
        const { tokens } = catalogue.chunkTable.counts(chunkSetId, document.id);
        this.#show('index', document, 'indexing', tokens - missing, tokens);
        this.meter.expectVectors(document.id, missing);
        const startedAt = systemClock.now();
        const made = await gate.background((each) => indexer.index(chunkSetId, document.id, each), signal);
        this.meter.embedded(document.id, made, startedAt);
        if (made > 0) return; // the rest in later steps
      }
      if (this.#options.recogniser.isLeft(document)) {
        catalogue.documents.advance(document.id, 'indexing', 'recognising');
        return;
      }
      const { missingTokens } = await this.#counts.count(document, target, signal);
      const computes = target.blends && missingTokens > 0;
      if (!catalogue.documents.advance(document.id, 'indexing', computes ? 'precomputing' : 'ready')) return;
      const { chunks } = catalogue.chunkTable.counts(chunkSetId, document.id);
      if (computes && chunks > 1) catalogue.places.add(document.id, 0, 'opening');
      if (computes) this.meter.expect(document.id, missingTokens);
      else this.#finished(document);
    });
  }

  async #computePlace(
    document: DocumentRow,
    place: Place,
    target: Target,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#step('compute', document, async () => {
      const { catalogue } = this.#options;
      const startedAt = systemClock.now();
      let stored = false;
      const id = catalogue.chunkTable.at(this.#chunkSet(document, target), document.id, place.position);
      if (id !== undefined) {
        const found = place.reason === 'found';
        const tokens = await this.#precomputer.chunk(id, document, target, signal, found);
        // A place that has no room is computed by the question that needs it.
        this.#measure(document, { ...tokens, leftOutTokens: 0 }, startedAt);
        stored = tokens.computedTokens + tokens.fetchedTokens > 0;
        if (stored) await this.#counts.count(document, target);
      }
      catalogue.places.setTried(place, placeTarget(target));
      return stored;
    });
  }

  async #compute(document: DocumentRow, target: Target, signal: AbortSignal | undefined): Promise<void> {
    await this.#step('compute', document, async () => {
      let startedAt = systemClock.now();
      const onChunk = ({ done, total, ...tokens }: ChunkDone): boolean => {
        this.#measure(document, tokens, startedAt);
        startedAt = systemClock.now();
        this.#show('compute', document, 'precomputing', done, total);
        if (tokens.computedTokens === 0) return true;
        return this.#next('precomputing')?.id === document.id && !this.#nextPlace(target);
      };
      const chunkSetId = this.#chunkSet(document, target);
      const { missingTokens } = await this.#counts.count(document, target, signal);
      this.meter.expect(document.id, missingTokens);
      let whole: boolean;
      try {
        whole = await this.#precomputer.precompute(document, chunkSetId, target, onChunk, signal);
      } finally {
        await this.#counts.count(document, target);
      }
      // After counting, so that a ready document shows how much of it is stored.
      if (whole && this.#options.catalogue.documents.advance(document.id, 'precomputing', 'ready'))
        this.#finished(document);
    });
  }

  #measure(
    { id }: DocumentRow,
    { computedTokens, fetchedTokens, leftOutTokens }: ChunkTokens,
    startedAt: number,
  ): void {
    const { onFetched, onComputed, onLeftOut } = this.#options;
    if (fetchedTokens > 0) {
      this.meter.fetched(id, fetchedTokens);
      onFetched?.(fetchedTokens);
    }
    if (computedTokens > 0) {
      this.meter.computed(id, computedTokens, startedAt);
      onComputed?.(computedTokens);
    }
    if (leftOutTokens > 0) onLeftOut?.(leftOutTokens);
  }

  #nextPlace(target: Target): Place | undefined {
    const { catalogue, libraryId, held = [] } = this.#options;
    return target.blends ? catalogue.places.next(placeTarget(target), libraryId, [...held]) : undefined;
  }

  /** Recounts every document's stored chunks; returns the libraries whose counts have changed. ABORTED. */
  recount(target: Target, signal: AbortSignal): Promise<Set<number>> {
    return this.#counts.countAll(target, signal);
  }

  #next(phase: WorkingPhase): DocumentRow | undefined {
    const { catalogue, libraryId, held = [] } = this.#options;
    return catalogue.documents.next(phase, libraryId, [...held]);
  }

  async #process(phase: WorkingPhase, work: (document: DocumentRow) => Promise<void>): Promise<boolean> {
    const document = this.#next(phase);
    return document !== undefined && this.#take(document, () => work(document));
  }

  async #take({ libraryId }: DocumentRow, work: () => Promise<void>): Promise<boolean> {
    const working = work();
    const taken = { libraryId, end: working.catch(() => undefined) };
    this.#taken.add(taken);
    try {
      await working;
      return true;
    } finally {
      this.#taken.delete(taken);
    }
  }

  /** `work` returns false if nothing changed. An error is the document's failure, unless it comes from the environment. */
  async #step(worker: WorkerName, document: DocumentRow, work: () => Promise<unknown>): Promise<void> {
    const { catalogue, log, onLibraryChanged } = this.#options;
    let after: DocumentRow | undefined;
    let outcome: unknown;
    try {
      outcome = await work();
      after = catalogue.documents.get(document.id);
    } catch (error) {
      if (!catalogue.documents.get(document.id)) return; // deleted meanwhile
      if (error instanceof KvasirError && (error.code === 'ABORTED' || BLOCKING.includes(error.code)))
        throw error;
      log.error('document-failed', { path: document.path, error: String(error) });
      catalogue.documents.setStepFailed(document.id, failureOf(error));
      this.#finished(document);
    } finally {
      // Work that continues in the next step stays visible.
      if (after?.phase !== document.phase) this.current.delete(worker);
    }
    // Windows search again when a library has changed, and each search finds places to compute.
    if (outcome === false) return;
    const isLong = worker === 'index' || worker === 'recognise';
    if (!isLong || after?.phase !== document.phase) onLibraryChanged(document.libraryId);
  }

  #finished(document: DocumentRow): void {
    this.meter.finish(document.id);
    this.#options.onStatus?.();
  }

  #chunkSet({ libraryId }: DocumentRow, target: Target): number {
    return this.#options.catalogue.chunkTable.setId({ libraryId, ...target });
  }

  #show(worker: WorkerName, document: DocumentRow, phase: DocumentPhase, done = 0, total = 1): void {
    const { id, libraryId, path } = document;
    this.current.set(worker, {
      documentId: String(id),
      libraryId: String(libraryId),
      path,
      phase,
      done,
      total,
    });
    this.#options.onStatus?.();
  }
}
