import type { Failure } from '../../../src-shared/contract/common.ts';
import type { DocumentPhase, QueueStatus } from '../../../src-shared/contract/libraries.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow } from '../../catalogue/document-table.ts';
import type { KvDtype } from '../../engine/engine.ts';
import type { ModelSource } from '../../models/active-model.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import { failureOf } from '../../platform/failure.ts';
import { predictedMsPerToken } from './precompute-plan.ts';
import { QueueWorker } from './queue-worker.ts';
import { DocumentSteps, type WorkerName, type StepParts } from './steps.ts';
import { TargetKeeper } from './target-keeper.ts';
import { standsFor, type Target } from './targets.ts';

interface QueueOptions extends StepParts {
  models: ModelSource;
  dtype: () => KvDtype;
  onStatus: () => void;
  /** A problem that is no document's failure and that the user should know. */
  onNotice: (failure: Failure) => void;
  /** After a full disk, and when a model could not be loaded. */
  retryMs?: number | undefined;
}

const RETRY_MS = 15_000;

/** Of the workers that work at once, the first is shown. */
const SHOWN = ['read', 'cut', 'index', 'recognise', 'compute'] as const;

/**
 * The durable queue: every document's row stores its next step, and five workers run the steps: one reads files, one recognises the text of
 * pages that are pictures, one splits texts into chunks, one embeds the chunks, one precomputes their KV. They share only the catalogue, so documents can be found by their words as soon
 * as they are chunked, and a killed process resumes where it stopped.
 */
export class DocumentQueue {
  readonly #options: QueueOptions;
  readonly #workers: Record<WorkerName, QueueWorker>;
  readonly #steps: DocumentSteps;
  readonly #targets: TargetKeeper;
  /** Libraries that somebody else is working on. */
  readonly #held = new Set<number>();
  readonly #blocked = new Map<WorkerName, Failure>();
  #paused: boolean;
  #started = false;
  /** Whether the meter knows the usual length of documents. */
  #learnt = false;
  #overBudgetTold = false;
  #unsubscribe: () => void = () => undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
    const held = this.#held;
    this.#targets = new TargetKeeper({ ...options, held, onAdopted: (changed) => this.#onAdopted(changed) });
    this.#steps = new DocumentSteps({
      ...options,
      held,
      ready: () => this.#targets.ready(),
      onLeftOut: () => this.#tellOverBudget(),
    });
    this.#paused = options.catalogue.state('paused') === 'true';
    this.#workers = {
      read: this.#worker('read', 'cut', 'recognise'),
      recognise: this.#worker('recognise', 'cut'),
      cut: this.#worker('cut', 'index'),
      index: this.#worker('index', 'compute', 'recognise'),
      compute: this.#worker('compute'),
    };
  }

  /** The target that chunks are created for: the model in use, or until one is loaded, the last one in use. */
  get target(): Target | undefined {
    return this.#targets.target;
  }

  start(): void {
    this.#started = true;
    this.#unsubscribe = this.#options.models.onChange(() => this.refresh());
    for (const worker of Object.values(this.#workers)) worker.start();
    this.refresh();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await Promise.all(Object.values(this.#workers).map((worker) => worker.stop()));
    await this.#targets.idle();
  }

  /** There may be new work. */
  kick(): void {
    for (const worker of Object.values(this.#workers)) worker.kick();
    this.#options.onStatus();
  }

  /** Questions or people asked for a place: its KV is computed first. A place that cannot be noted is computed in its turn. */
  placed(note: (places: Catalogue['places']) => void): void {
    try {
      note(this.#options.catalogue.places);
    } catch (error) {
      this.#options.log.warn('place-not-noted', { error: String(error) });
    }
    this.#workers.compute.kick();
  }

  /** Another model, chunk size or number format may be in use. */
  refresh(): void {
    for (const name of ['cut', 'index', 'compute'] as const) this.#workers[name].interrupt();
    this.#targets.refresh();
  }

  /** Leaves a library to somebody else, who may process its documents for another model, until the returned function is called. */
  async leave(libraryId: number): Promise<() => void> {
    this.#held.add(libraryId);
    if (this.#steps.isAt(libraryId)) this.interrupt();
    await this.#steps.hasLeft(libraryId);
    await this.#targets.idle();
    return () => {
      this.#held.delete(libraryId);
      if (!this.#started) return;
      const { target } = this.#targets;
      // Its documents' phases apply to the last target they were processed for.
      if (target && standsFor(this.#options.catalogue, libraryId, target)) this.kick();
      else this.#targets.refresh();
    };
  }

  /** Interrupts current steps, to be repeated; for work on rows that are about to be deleted. */
  interrupt(): void {
    for (const worker of Object.values(this.#workers)) worker.interrupt();
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

  /** Documents were removed: nothing is left to do for them. */
  removed(): void {
    this.#steps.meter.prune((id) => this.#options.catalogue.documents.get(id) !== undefined);
    this.kick();
  }

  /** The disk budget has been raised: chunks that did not fit are computed now. */
  fill(): void {
    this.#overBudgetTold = false;
    const { target } = this.#targets;
    if (!target?.blends) return;
    this.#options.catalogue.documents.reopen(target);
    this.#expectMissing(target);
    this.kick();
  }

  /** Recounts every document's stored chunks. ABORTED. */
  async recount(signal: AbortSignal): Promise<void> {
    const { target } = this.#targets;
    if (!target) return;
    for (const id of await this.#steps.recount(target, signal)) this.#options.onLibraryChanged(id);
  }

  status(): QueueStatus {
    const counts = this.#options.catalogue.documents.phaseCounts();
    const of = (...phases: DocumentPhase[]): number =>
      phases.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
    const { current, meter } = this.#steps;
    const reading = current.has('read') ? 1 : 0;
    // While the model changes, ready documents are ready for the previous one.
    const stale = this.#targets.changing ? of('ready') : 0;
    const waiting = Math.max(0, of('waiting') - reading) + stale;
    const active = of('recognising', 'chunking', 'indexing', 'precomputing') + reading;
    if (waiting + active === 0) meter.endRun();
    const { documents } = this.#options.catalogue;
    const uncut = waiting + active === 0 ? 0 : meter.estimate(documents.unprepared());
    const room = this.#room(uncut);
    const toCompute = this.#targets.target?.blends === false ? 0 : meter.tokensLeft + uncut;
    const { done, tokensDone, tokensPerSecond } = meter;
    return {
      paused: this.#paused,
      waiting,
      active,
      failed: of('failed'),
      done,
      total: waiting + active + done,
      current: SHOWN.map((name) => current.get(name)).find((each) => each) ?? null,
      tokensDone,
      tokensTotal: tokensDone + Math.min(toCompute, room),
      tokensLeftOut: waiting + active === 0 ? this.#leftOut() : 0,
      tokensPerSecond,
      secondsLeft: waiting + active === 0 ? null : meter.secondsLeft(uncut, room, this.#predicted()),
      blocked: this.#paused ? null : ([...this.#blocked.values()][0] ?? null),
    };
  }

  /** The document's phase as shown to people. */
  phaseOf({ id, phase }: Pick<DocumentRow, 'id' | 'phase'>): DocumentPhase {
    return phase === 'waiting' && this.#steps.current.get('read')?.documentId === String(id)
      ? 'reading'
      : phase;
  }

  #worker(name: WorkerName, ...next: WorkerName[]): QueueWorker {
    return new QueueWorker({
      step: async (signal) => {
        const worked = !this.#paused && (await this.#steps[name](signal));
        if (worked) for (const each of next) this.#workers[each].kick();
        if (this.#blocked.delete(name) || !worked) this.#options.onStatus();
        return worked;
      },
      onError: (error) => this.#onError(name, error),
    });
  }

  /** Failures that arrive here concern the environment, or are a bug. */
  #onError(name: WorkerName, error: unknown): number {
    this.#blocked.set(name, failureOf(error));
    this.#options.log.warn('queue-blocked', { worker: name, error: String(error) });
    this.#options.onStatus();
    return this.#options.retryMs ?? RETRY_MS;
  }

  #onAdopted(changed: boolean): void {
    const { target } = this.#targets;
    const { meter } = this.#steps;
    if (changed || !this.#learnt) {
      if (changed) meter.reset();
      meter.learn(this.#options.catalogue.documents.cutSizes());
      this.#learnt = true;
    }
    if (target) this.#expectMissing(target);
    for (const { id } of this.#options.catalogue.libraries.list()) this.#options.onLibraryChanged(id);
    this.kick();
  }

  #expectMissing(target: Target): void {
    if (!target.blends) return;
    for (const { id, tokens } of this.#options.catalogue.documents.missing(target))
      this.#steps.meter.expect(id, tokens);
  }

  /** Estimated tokens of ready documents without KV because the disk budget could not hold it. */
  #leftOut(): number {
    const { target } = this.#targets;
    return target?.blends === true ? this.#options.catalogue.documents.leftOut(target) : 0;
  }

  #predicted(): number | null {
    const { models, costs } = this.#options;
    const { active } = models;
    return active?.model.blends ? predictedMsPerToken({ ...active, model: active.model }, costs) : null;
  }

  /** Tokens that the disk budget has room for; `uncut`: tokens of documents that were not chunked yet. */
  #room(uncut: number): number {
    const { store, catalogue, models } = this.#options;
    const { target } = this.#targets;
    const perToken = target ? (models.active?.model.bytesPerToken(target.dtype) ?? 0) : 0;
    const { bytes, diskBudgetBytes } = store.stats();
    if (!target || perToken === 0) return Infinity;
    if (bytes + (this.#steps.meter.tokensLeft + uncut) * perToken <= diskBudgetBytes) return Infinity;
    const own = catalogue.chunkTable.cachedBytes(target.fingerprint, target.chunkTokens); // those of other models may go
    return Math.max(0, Math.floor((diskBudgetBytes - own) / perToken));
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#options.catalogue.setState('paused', String(paused));
    this.#options.onStatus();
  }

  #tellOverBudget(): void {
    if (this.#overBudgetTold) return;
    this.#overBudgetTold = true;
    const budget = formatBytes(this.#options.store.stats().diskBudgetBytes);
    this.#options.onNotice({
      code: 'CACHE_FULL',
      message: `The cache is full: its budget of ${budget} on disk cannot hold all documents. The rest is computed when a question needs it.`,
      advice:
        'Raise the budget on the Cache screen, or store the cache as q8_0; the missing part is then computed.',
    });
  }
}
