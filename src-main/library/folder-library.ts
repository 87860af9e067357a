import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import type {
  DocumentFailure,
  LibraryProgress,
  PrecomputeReport,
  SyncReport,
} from '../../src-shared/library.ts';
import type { ChunkRow } from '../catalogue/catalogue.ts';
import type { KvDtype } from '../engine/engine.ts';
import { chunkKey } from '../kvstore/store.ts';
import { throwIfAborted, unlessAborted } from '../platform/abort.ts';
import { systemClock } from '../platform/clock.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { DocumentSteps, type StepParts, type StepsOptions } from './queue/steps.ts';
import { putBack, targetOf, type ChunkModel, type Target } from './queue/targets.ts';
import { scanRoot, type RootChanges } from './sources/root-scan.ts';
import { requireFolder } from './sources/scan.ts';

export interface FolderLibraryOptions extends StepParts, ChunkModel {
  dtype: KvDtype;
  /** Where others work on libraries concurrently: runs work on one exclusively. As `work`. */
  alone?: <T>(libraryId: number, work: () => Promise<T>) => Promise<T>;
  /** Where others scan folders concurrently: runs work between their scans. */
  between?: <T>(work: () => Promise<T>) => Promise<T>;
}

interface DrainRun {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LibraryProgress) => void) | undefined;
}

export interface DrainReport {
  sync: SyncReport;
  /** undefined when precomputing was not requested. */
  precompute: PrecomputeReport | undefined;
}

/** A library that consists of one folder, with its chunks for a model of the caller's choice; for the command line. */
export class FolderLibrary {
  /** The folder, with links resolved. */
  readonly root: string;
  readonly chunkSetId: number;
  readonly #options: FolderLibraryOptions;
  readonly #id: number;
  readonly #rootId: number;
  readonly #target: Target;

  /** The library of that folder; created if missing. LIBRARY_NOT_FOUND when `path` is not a folder. */
  static async open(path: string, options: FolderLibraryOptions): Promise<FolderLibrary> {
    await requireFolder(path);
    return new FolderLibrary(await realpath(path), options);
  }

  private constructor(root: string, options: FolderLibraryOptions) {
    const { libraries, chunkTable } = options.catalogue;
    this.root = root;
    this.#options = options;
    this.#id = libraries.ofFolder(root) ?? libraries.create(basename(root) || root);
    this.#rootId = libraries.addRoot(this.#id, { kind: 'folder', path: root, watched: false });
    this.#target = targetOf(options, options.dtype);
    this.chunkSetId = chunkTable.setId({ libraryId: this.#id, ...this.#target });
  }

  /** Id of the document at a path relative to the root; undefined when the folder has no readable one there. */
  documentId(path: string): number | undefined {
    return this.#options.catalogue.documents.ofPath(this.#rootId, path)?.id;
  }

  /** In reading order. */
  chunks(): Iterable<ChunkRow> {
    return this.#options.catalogue.chunks(this.chunkSetId);
  }

  /**
   * Scans for new, edited and deleted files, and runs the queue's steps for this library until nothing is left to do, whether the queue is
   * paused or not; without `precompute` all steps but the last. A document that cannot be used is reported and the others continue; when
   * none can be used, the first failure is thrown. A failure that makes queue workers wait ends the run; finished work stays.
   * LIBRARY_NOT_FOUND, LIBRARY_EMPTY, ABORTED, DISK_FULL, STORE_READ_ONLY, OUT_OF_MEMORY, every DOCUMENT_… code.
   */
  async drain({ precompute = true, ...run }: DrainRun & { precompute?: boolean } = {}): Promise<DrainReport> {
    const turn = { begun: false };
    const work = (): Promise<DrainReport> => {
      throwIfAborted(run.signal);
      turn.begun = true;
      return this.#drain(precompute, run);
    };
    const { alone } = this.#options;
    const drained = alone ? alone(this.#id, async () => work()) : work();
    try {
      return await unlessAborted(drained, run.signal);
    } catch (error) {
      drained.catch(() => undefined); // its turn comes, and it ends immediately
      if (!turn.begun) throw error;
      return drained; // the model is in use until it has ended
    }
  }

  async #drain(precompute: boolean, run: DrainRun): Promise<DrainReport> {
    const { catalogue } = this.#options;
    run.onProgress?.({ phase: 'scanning', done: 0, total: 0, tokens: 0, secondsLeft: undefined });
    const changes = await this.#scan(run.signal);
    await putBack(catalogue, this.#id, this.#target, precompute);
    const updated = await this.#readAndCut(changes.files, run);
    const { chunks } = catalogue.chunkTable.counts(this.chunkSetId);
    if (chunks === 0) throw nothingToRead(this.root, [...changes.failures, ...this.#failures()]);
    const precomputed = precompute && this.#target.blends ? await this.#precompute(run) : undefined;
    const failed = this.#failures();
    const documents = changes.files - failed.length;
    const failures = [...changes.failures, ...failed];
    const skipped = changes.skipped.flatMap(({ path, reason }) => (reason === 'kind' ? [path] : []));
    return {
      sync: { documents, updated, removed: changes.removed, chunks, failures, skipped },
      precompute: precomputed,
    };
  }

  async #scan(signal: AbortSignal | undefined): Promise<RootChanges> {
    const { catalogue } = this.#options;
    const root = catalogue.libraries.root(this.#rootId);
    if (!root) throw new KvasirError('LIBRARY_NOT_FOUND', `The library of ${this.root} was deleted.`);
    const { between } = this.#options;
    const look = (): Promise<RootChanges> => scanRoot(catalogue, root, { signal, retryFailed: true });
    const changes = await (between ? between(look) : look());
    catalogue.libraries.setFailure(root.id, null);
    return changes;
  }

  /** Returns how many documents have a new text. */
  async #readAndCut(total: number, { signal, onProgress }: DrainRun): Promise<number> {
    let updated = 0;
    const steps = this.#steps({ onRead: (outcome) => (updated += outcome === 'new' ? 1 : 0) });
    for (let done = 0, more = true; more;) {
      throwIfAborted(signal);
      onProgress?.({ phase: 'reading', done, total, tokens: 0, secondsLeft: undefined });
      const read = await steps.read(signal);
      const cut = await steps.cut(signal);
      if (cut) done++;
      more = read || cut;
    }
    while (await steps.index(signal)) throwIfAborted(signal);
    const failure = this.#options.catalogue.libraries.root(this.#rootId)?.failure;
    if (failure) throw new KvasirError(failure.code, failure.message, failure.advice);
    return updated;
  }

  async #precompute({ signal, onProgress }: DrainRun): Promise<PrecomputeReport> {
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
    for (const { tokens, lead } of this.chunks()) {
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

function nothingToRead(root: string, failures: readonly DocumentFailure[]): KvasirError {
  const [first] = failures;
  if (!first) {
    const message = `The folder ${root} has no document with text in it.`;
    return new KvasirError('LIBRARY_EMPTY', message, 'Add documents to it, or name another folder.');
  }
  const others = failures.length > 1 ? ` (and ${failures.length - 1} more could not be read either)` : '';
  const message = `No document of ${root} can be used: ${first.message.replace(/\.$/, '')}${others}.`;
  return new KvasirError(first.code, message, 'Fix the file, or name another folder.');
}
