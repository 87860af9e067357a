import type { Failure } from '../../../src-shared/contract/common.ts';
import type { DocumentPhase, QueueStatus } from '../../../src-shared/contract/libraries.ts';
import { KvasirError, type ErrorCode } from '../../../src-shared/errors.ts';
import type { KvDtype } from '../../engine/engine.ts';
import type { ModelSource } from '../../models/active-model.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { failureOf } from '../../platform/failure.ts';
import type { Gate } from '../../platform/gate.ts';
import type { Logger } from '../../platform/logger.ts';
import type { DocumentIndexer } from '../../retrieval/types.ts';
import { CacheCounts } from './cache-counts.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { DocumentCutter } from './cutter.ts';
import type { DocumentRow, WorkingPhase } from '../../catalogue/document-table.ts';
import { Lane } from './lane.ts';
import { Meter } from './meter.ts';
import { DocumentPrecomputer, type LibraryStore } from './precomputer.ts';
import type { DocumentReader } from './reader.ts';
import { TargetKeeper } from './target-keeper.ts';
import type { Target } from './targets.ts';

export interface QueueOptions {
  catalogue: Catalogue;
  store: LibraryStore;
  reader: DocumentReader;
  models: ModelSource;
  gate: Gate;
  dtype: () => KvDtype;
  log: Logger;
  /** Makes vectors where an embedding model is in use. */
  indexer?: DocumentIndexer | undefined;
  onStatus: () => void;
  onLibraryChanged: (libraryId: number) => void;
  /** Something that is no document's failure and that the user should know. */
  onNotice: (failure: Failure) => void;
  clock?: Clock;
  /** After a full disk, and where a model could not be loaded. */
  retryMs?: number;
}

/** Failures of the surroundings: the queue waits for them to pass, no document is to blame. */
const BLOCKING: readonly ErrorCode[] = [
  'DISK_FULL',
  'STORE_READ_ONLY',
  'STORE_IN_USE',
  'MODEL_NOT_FOUND',
  'MODEL_INVALID',
  'MODEL_UNSUPPORTED',
  'MODEL_TOO_LARGE',
  'OUT_OF_MEMORY',
];
const RETRY_MS = 15_000;

type LaneName = 'read' | 'cut' | 'compute';
type Current = NonNullable<QueueStatus['current']>;

/**
 * The durable queue: every document's row says what is to be done with it next, and three lanes do it: one reads files,
 * one cuts and indexes what has been read, one precomputes what has been cut. They share nothing but the catalogue, so
 * that documents can be found long before all KV is computed, and a killed process goes on where it was.
 */
export class DocumentQueue {
  readonly #options: QueueOptions;
  readonly #lanes: Record<LaneName, Lane>;
  readonly #counts: CacheCounts;
  readonly #cutter: DocumentCutter;
  readonly #precomputer: DocumentPrecomputer;
  readonly #targets: TargetKeeper;
  readonly #meter: Meter;
  readonly #clock: Clock;
  readonly #blocked = new Map<LaneName, Failure>();
  readonly #current = new Map<LaneName, Current>();
  #paused: boolean;
  #overBudgetTold = false;
  #unsubscribe: () => void = () => undefined;

  constructor(options: QueueOptions) {
    const { catalogue } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#counts = new CacheCounts(catalogue, options.store);
    this.#cutter = new DocumentCutter(catalogue);
    this.#precomputer = new DocumentPrecomputer(options);
    this.#meter = new Meter(this.#clock);
    this.#targets = new TargetKeeper({ ...options, onAdopted: () => this.#onAdopted() });
    this.#paused = catalogue.state('paused') === 'true';
    this.#lanes = {
      read: this.#lane('read', (signal) => this.#read(signal)),
      cut: this.#lane('cut', (signal) => this.#cut(signal)),
      compute: this.#lane('compute', (signal) => this.#compute(signal)),
    };
  }

  /** What chunks are made for: by the model in use, or until one is loaded by the last one that was. */
  get target(): Target | undefined {
    return this.#targets.target;
  }

  start(): void {
    this.#unsubscribe = this.#options.models.onChange(() => this.refresh());
    for (const lane of Object.values(this.#lanes)) lane.start();
    this.refresh();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await Promise.all(Object.values(this.#lanes).map((lane) => lane.stop()));
    await this.#targets.idle();
  }

  /** There may be work. */
  kick(): void {
    for (const lane of Object.values(this.#lanes)) lane.kick();
    this.#options.onStatus();
  }

  /** Another model, chunk size or number format may be in use. */
  refresh(): void {
    this.#lanes.cut.interrupt();
    this.#lanes.compute.interrupt();
    this.#targets.refresh();
  }

  /** Ends what is being done now, to be done again; for work on rows that are going away. */
  interrupt(): void {
    for (const lane of Object.values(this.#lanes)) lane.interrupt();
  }

  pause(): void {
    this.#setPaused(true);
    this.interrupt();
  }

  resume(): void {
    this.#setPaused(false);
    this.#blocked.clear();
    this.kick();
  }

  retry(ids: readonly number[]): void {
    this.#options.catalogue.documents.retry(ids);
    this.kick();
  }

  /** Counts what is stored of every document again. ABORTED. */
  async recount(signal: AbortSignal): Promise<void> {
    const { target } = this.#targets;
    if (!target) return;
    for (const id of await this.#counts.countAll(target, signal)) this.#options.onLibraryChanged(id);
  }

  status(): QueueStatus {
    const counts = this.#options.catalogue.documents.phaseCounts();
    const of = (...phases: DocumentPhase[]): number =>
      phases.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
    const reading = this.#current.has('read') ? 1 : 0;
    const waiting = Math.max(0, of('waiting') - reading);
    const active = of('chunking', 'indexing', 'precomputing') + reading;
    if (waiting + active === 0) this.#meter.endRun();
    const { done, tokensDone, tokensTotal, tokensPerSecond } = this.#meter;
    return {
      paused: this.#paused,
      waiting,
      active,
      failed: of('failed'),
      done,
      total: waiting + active + done,
      current: this.#current.get('compute') ?? this.#current.get('cut') ?? this.#current.get('read') ?? null,
      ...{ tokensDone, tokensTotal, tokensPerSecond },
      secondsLeft: waiting + active === 0 ? null : this.#meter.secondsLeft(waiting),
      blocked: this.#paused ? null : ([...this.#blocked.values()][0] ?? null),
    };
  }

  /** The document's phase as people see it. */
  phaseOf({ id, phase }: Pick<DocumentRow, 'id' | 'phase'>): DocumentPhase {
    return phase === 'waiting' && this.#current.get('read')?.documentId === String(id) ? 'reading' : phase;
  }

  #lane(name: LaneName, step: (signal: AbortSignal) => Promise<boolean>): Lane {
    return new Lane({
      step: async (signal) => {
        const worked = !this.#paused && (await step(signal).finally(() => this.#current.delete(name)));
        if (this.#blocked.delete(name) || !worked) this.#options.onStatus();
        return worked;
      },
      onError: (error) => this.#onError(name, error),
    });
  }

  /** What is left here concerns the surroundings, or is a bug. */
  #onError(name: LaneName, error: unknown): number {
    this.#blocked.set(name, failureOf(error));
    this.#options.log.warn('queue-blocked', { lane: name, error: String(error) });
    this.#options.onStatus();
    return this.#options.retryMs ?? RETRY_MS;
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const { catalogue, reader } = this.#options;
    const document = catalogue.documents.next('waiting');
    if (!document) return false;
    this.#show('read', document, 'reading', 0, 1);
    await this.#blaming(document, async () => {
      if ((await reader.read(document, signal)) === 'failed') this.#finished(document);
    });
    this.#options.onLibraryChanged(document.libraryId);
    this.#lanes.cut.kick();
    return true;
  }

  async #cut(signal: AbortSignal): Promise<boolean> {
    const { documents } = this.#options.catalogue;
    const document = documents.next('indexing') ?? documents.next('chunking');
    if (!document) return false;
    const { target, active } = await this.#targets.ready();
    await this.#blaming(document, async () => {
      const chunkSetId = this.#chunkSet(document, target);
      this.#show('cut', document, document.phase, 0, 1);
      if (document.phase === 'chunking') {
        const { chunkTokens } = target;
        await this.#background(
          (each) => this.#cutter.cut(document, { chunkSetId, chunkTokens, model: active.model }, each),
          signal,
        );
        documents.advance(document.id, 'chunking', 'indexing');
      }
      this.#show('cut', document, 'indexing', 0, 1);
      const { indexer } = this.#options;
      if (indexer) await this.#background((each) => indexer.index(chunkSetId, document.id, each), signal);
      const { missingTokens } = await this.#counts.count(document, target, signal);
      const next = missingTokens > 0 ? 'precomputing' : 'ready';
      if (documents.advance(document.id, 'indexing', next)) {
        if (missingTokens > 0) this.#meter.expect(document.id, missingTokens);
        else this.#finished(document);
      }
    });
    this.#options.onLibraryChanged(document.libraryId);
    this.#lanes.compute.kick();
    return true;
  }

  async #compute(signal: AbortSignal): Promise<boolean> {
    const { catalogue } = this.#options;
    const document = catalogue.documents.next('precomputing');
    if (!document) return false;
    const { target } = await this.#targets.ready();
    await this.#blaming(document, async () => {
      let startedAt = this.#clock.now();
      const onChunk = ({
        done,
        total,
        computedTokens,
      }: {
        done: number;
        total: number;
        computedTokens: number;
      }): void => {
        if (computedTokens > 0) this.#meter.computed(document.id, computedTokens, startedAt);
        startedAt = this.#clock.now();
        this.#show('compute', document, 'precomputing', done, total);
      };
      const chunkSetId = this.#chunkSet(document, target);
      try {
        const fits = await this.#precomputer.precompute(document, chunkSetId, target, onChunk, signal);
        if (!fits) this.#tellOverBudget();
        if (catalogue.documents.advance(document.id, 'precomputing', 'ready')) this.#finished(document);
      } finally {
        await this.#counts.count(document, target);
      }
    });
    this.#options.onLibraryChanged(document.libraryId);
    return true;
  }

  /** Runs a step of one document: what goes wrong with it there is the document's failure, unless it is the surroundings'. */
  async #blaming(document: DocumentRow, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const { documents } = this.#options.catalogue;
      if (!documents.get(document.id)) return; // deleted meanwhile
      if (error instanceof KvasirError && (error.code === 'ABORTED' || BLOCKING.includes(error.code)))
        throw error;
      this.#options.log.error('document-failed', { path: document.path, error: String(error) });
      documents.setStepFailed(document.id, failureOf(error));
      this.#finished(document);
    }
  }

  #finished(document: DocumentRow): void {
    this.#meter.finish(document.id);
    this.#options.onStatus();
  }

  #background(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    return this.#options.gate.background(work, signal);
  }

  #onAdopted(): void {
    for (const { id } of this.#options.catalogue.libraries.list()) this.#options.onLibraryChanged(id);
    this.kick();
  }

  #chunkSet({ libraryId }: DocumentRow, target: Target): number {
    return this.#options.catalogue.chunkTable.setId({ libraryId, ...target });
  }

  #show(
    lane: LaneName,
    { id, libraryId, path }: DocumentRow,
    phase: WorkingPhase | DocumentPhase,
    done: number,
    total: number,
  ): void {
    this.#current.set(lane, {
      documentId: String(id),
      libraryId: String(libraryId),
      path,
      phase,
      done,
      total,
    });
    this.#options.onStatus();
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#options.catalogue.setState('paused', String(paused));
    this.#options.onStatus();
  }

  #tellOverBudget(): void {
    if (this.#overBudgetTold) return;
    this.#overBudgetTold = true;
    this.#options.onNotice({
      code: 'DISK_FULL',
      message:
        'The cache budget cannot hold the KV of all documents; the rest is computed when a question needs it.',
      advice: 'Raise the cache budget, or store KV as q8_0.',
    });
  }
}
