import type { PrecomputePlan } from '../../src-shared/contract/libraries.ts';
import { precomputePlan, type PlanSources } from './queue/precompute-plan.ts';
import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import type { DocumentFailure, LibraryProgress, PrecomputeReport } from '../../src-shared/library.ts';
import type { OutputOf } from '../../src-shared/contract/contract.ts';
import type { KvDtype } from '../engine/engine.ts';
import { chunkKey } from '../kvstore/store.ts';
import { throwIfAborted, unlessAborted } from '../platform/abort.ts';
import { systemClock } from '../platform/clock.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { DocumentSteps, type StepParts, type StepsOptions } from './queue/steps.ts';
import { putBack, targetOf, type ChunkModel, type Target } from './queue/targets.ts';
import { scanRoot, type RootChanges } from './sources/root-scan.ts';
import { requireFolder } from './sources/scan.ts';

export interface ReadFolderOptions extends StepParts, ChunkModel {
  dtype: KvDtype;
  proposal?: PlanSources['proposal'];
  /** The name of a new library. Default: the folder's. */
  name?: string | undefined;
  /** Whether a new library is the sample library. */
  sample?: boolean | undefined;
  /** Where others work on libraries concurrently: runs work on one exclusively. As `work`. */
  alone?: <T>(libraryId: number, work: () => Promise<T>) => Promise<T>;
  /** Where others scan folders concurrently: runs work between their scans. */
  between?: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface ReadFolderRun {
  /** Whether to compute the chunks' KV, too. */
  precompute: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LibraryProgress) => void) | undefined;
  /** Called before KV is computed. */
  onPlan?: ((plan: PrecomputePlan) => void) | undefined;
}

type ProgressRun = Pick<ReadFolderRun, 'signal' | 'onProgress'>;

export type FolderReport = OutputOf<'libraries.read'>;

/**
 * Creates the library of a folder if it is missing, scans for new, edited and deleted files, and runs the queue's steps for this library
 * and a model of the caller's choice until nothing is left to do, whether the queue is paused or not; without `precompute` all steps but
 * the last. A document that cannot be used is reported and the others continue; when none can be used, the first failure is thrown. A
 * failure that makes queue workers wait ends the run; finished work stays. LIBRARY_NOT_FOUND, LIBRARY_EMPTY, ABORTED, DISK_FULL,
 * STORE_READ_ONLY, OUT_OF_MEMORY, every DOCUMENT_… code.
 */
export async function readFolder(
  path: string,
  options: ReadFolderOptions,
  run: ReadFolderRun,
): Promise<FolderReport> {
  await requireFolder(path);
  // A folder of uploads has a library, by the path that the list of libraries names.
  const known = options.catalogue.libraries.ofFolder(path) !== undefined;
  return new FolderReading(known ? path : await realpath(path), options).read(run);
}

class FolderReading {
  readonly #root: string;
  readonly #options: ReadFolderOptions;
  readonly #id: number;
  readonly #rootId: number;
  readonly #target: Target;
  readonly #chunkSetId: number;

  constructor(root: string, options: ReadFolderOptions) {
    const { libraries, chunkTable } = options.catalogue;
    const { name = basename(root) || root, sample } = options;
    this.#root = root;
    this.#options = options;
    this.#id = libraries.ofFolder(root) ?? libraries.create(name, sample);
    this.#rootId =
      libraries.roots(this.#id).find(({ path }) => path === root)?.id ??
      libraries.addRoot(this.#id, { kind: 'folder', path: root, watched: false });
    this.#target = targetOf(options, options.dtype);
    this.#chunkSetId = chunkTable.setId({ libraryId: this.#id, ...this.#target });
  }

  async read(run: ReadFolderRun): Promise<FolderReport> {
    const turn = { begun: false };
    const { alone = <T>(_: number, work: () => Promise<T>) => work() } = this.#options;
    const reading = alone(this.#id, async () => {
      throwIfAborted(run.signal);
      turn.begun = true;
      return this.#read(run);
    });
    try {
      return await unlessAborted(reading, run.signal);
    } catch (error) {
      reading.catch(() => undefined); // its turn comes, and it ends immediately
      if (!turn.begun) throw error;
      return reading; // the model is in use until it has ended
    }
  }

  async #read({ precompute, ...run }: ReadFolderRun): Promise<FolderReport> {
    const { catalogue } = this.#options;
    run.onProgress?.({ phase: 'scanning', done: 0, total: 0, tokens: 0, secondsLeft: undefined });
    const changes = await this.#scan(run.signal);
    await putBack(catalogue, this.#id, this.#target, precompute);
    const updated = await this.#readAndCut(changes.files, run);
    const { chunks } = catalogue.chunkTable.counts(this.#chunkSetId);
    const skipped = changes.skipped.flatMap(({ path, reason }) => (reason === 'kind' ? [path] : []));
    if (chunks === 0) throw nothingToRead(this.#root, [...changes.failures, ...this.#failures()], skipped);
    const plan = precompute
      ? await precomputePlan(this.#options, this.#options.dtype, this.#options, this.#id)
      : null;
    if (plan) run.onPlan?.(plan);
    const precomputed = plan && (await this.#precompute(run));
    const failed = this.#failures();
    const documents = changes.files - failed.length;
    const failures = [...changes.failures, ...failed];
    return {
      libraryId: String(this.#id),
      root: this.#root,
      sync: { documents, updated, removed: changes.removed, chunks, failures, skipped },
      precompute: precomputed,
    };
  }

  async #scan(signal: AbortSignal | undefined): Promise<RootChanges> {
    const { catalogue } = this.#options;
    const root = catalogue.libraries.root(this.#rootId);
    if (!root) throw new KvasirError('LIBRARY_NOT_FOUND', `The library of ${this.#root} was deleted.`);
    const { between = <T>(work: () => Promise<T>) => work() } = this.#options;
    const changes = await between(() => scanRoot(catalogue, root, { signal, retryFailed: true }));
    catalogue.libraries.setFailure(root.id, null);
    return changes;
  }

  /** Returns how many documents have a new text. */
  async #readAndCut(total: number, { signal, onProgress }: ProgressRun): Promise<number> {
    let updated = 0;
    const steps = this.#steps({ onRead: (outcome) => (updated += outcome === 'new' ? 1 : 0) });
    for (let done = 0, more = true; more;) {
      throwIfAborted(signal);
      onProgress?.({ phase: 'reading', done, total, tokens: 0, secondsLeft: undefined });
      const read = await steps.read(signal);
      const recognised = await steps.recognise(signal);
      const cut = await steps.cut(signal);
      if (cut) done++;
      // Documents with pages that are pictures are recognised after their own text.
      const indexed = !read && !recognised && !cut && (await steps.index(signal));
      more = read || recognised || cut || indexed;
    }
    const failure = this.#options.catalogue.libraries.root(this.#rootId)?.failure;
    if (failure) throw new KvasirError(failure.code, failure.message, failure.advice);
    return updated;
  }

  async #precompute({ signal, onProgress }: ProgressRun): Promise<PrecomputeReport> {
    const { store, model, dtype } = this.#options;
    const distinct = await this.#distinctChunks(signal);
    const missing = [...distinct].filter(([key]) => !store.has(key));
    const totalTokens = missing.reduce((sum, [, tokens]) => sum + tokens, 0);
    const started = systemClock.now();
    let computed = 0;
    let tokens = 0;
    let leftOut = 0;
    const fetched = { chunks: 0, tokens: 0 };
    const tell = (): void => {
      const msLeft =
        ((systemClock.now() - started) / tokens) * (totalTokens - leftOut - fetched.tokens - tokens);
      const secondsLeft = tokens > 0 ? msLeft / 1000 : undefined;
      onProgress?.({ phase: 'precomputing', done: computed, total: missing.length, tokens, secondsLeft });
    };
    const steps = this.#steps({
      onLeftOut: (more) => (leftOut += more),
      onFetched: (more) => {
        fetched.chunks++;
        fetched.tokens += more;
      },
      onComputed: (more) => {
        computed++;
        tokens += more;
        tell();
      },
    });
    tell();
    while (await steps.compute(signal)) throwIfAborted(signal);
    return {
      chunks: distinct.size,
      computed,
      fetched: fetched.chunks,
      stored: distinct.size - missing.length,
      tokens,
      bytes: tokens * model.bytesPerToken(dtype),
      ms: systemClock.now() - started,
      overBudgetBytes: leftOut * model.bytesPerToken(dtype),
    };
  }

  /** The store's keys of all chunks, with their token counts. */
  async #distinctChunks(signal: AbortSignal | undefined): Promise<Map<string, number>> {
    const chunks = new Map<string, number>();
    const slice = new TimeSlice();
    for (const { tokens, lead } of this.#options.catalogue.chunks(this.#chunkSetId)) {
      chunks.set(chunkKey({ ...this.#target, tokens, lead }), tokens.length);
      await slice.step(signal);
    }
    return chunks;
  }

  #steps(told: Pick<StepsOptions, 'onRead' | 'onComputed' | 'onFetched' | 'onLeftOut'>): DocumentSteps {
    const active = this.#options;
    const ready = { active, target: this.#target };
    return new DocumentSteps({
      ...active,
      ...told,
      libraryId: this.#id,
      models: { active },
      ready: () => Promise.resolve(ready),
    });
  }

  #failures(): DocumentFailure[] {
    const { documents } = this.#options.catalogue;
    return documents.failed(this.#id).flatMap((id) => {
      const { path = '', failure } = documents.get(id) ?? {};
      return failure ? { path, code: failure.code, message: failure.message } : [];
    });
  }
}

function nothingToRead(
  root: string,
  failures: readonly DocumentFailure[],
  skipped: readonly string[],
): KvasirError {
  const [first] = failures;
  if (!first) {
    const kinds = [...new Set(skipped.map((path) => extname(path)))]
      .filter((kind) => kind !== '')
      .slice(0, 5);
    const others = kinds.length > 0 ? `; Kvasir does not read ${kinds.join(', ')} files` : '';
    const message = `The folder ${root} has no document with text in it${others}.`;
    return new KvasirError('LIBRARY_EMPTY', message, 'Add documents to it, or name another folder.');
  }
  const others = failures.length > 1 ? ` (and ${failures.length - 1} more could not be read either)` : '';
  const message = `No document of ${root} can be used: ${first.message.replace(/\.$/, '')}${others}.`;
  return new KvasirError(first.code, message, 'Fix the file, or name another folder.');
}
