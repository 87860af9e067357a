import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import type { DocumentFailure, PrecomputeReport, SyncReport } from '../../src-shared/library.ts';
import type { ChunkRow } from '../catalogue/catalogue.ts';
import { Drain, type DrainParts, type DrainRun } from './queue/drain.ts';
import { targetOf } from './queue/targets.ts';
import { scanRoot, type RootChanges } from './sources/root-scan.ts';
import { requireFolder } from './sources/scan.ts';

export type FolderLibraryOptions = Omit<DrainParts, 'libraryId'>;

export interface DrainReport {
  sync: SyncReport;
  /** undefined when nothing was to be precomputed. */
  precompute: PrecomputeReport | undefined;
}

/** A library that is one folder, with its chunks for a model of the caller's choice; for the command line. */
export class FolderLibrary {
  /** The folder, without links. */
  readonly root: string;
  readonly chunkSetId: number;
  readonly #parts: DrainParts;
  readonly #rootId: number;

  /** The library of that folder, made where there is none. LIBRARY_NOT_FOUND when `path` is not a folder. */
  static async open(path: string, options: FolderLibraryOptions): Promise<FolderLibrary> {
    await requireFolder(path);
    return new FolderLibrary(await realpath(path), options);
  }

  private constructor(root: string, options: FolderLibraryOptions) {
    const { libraries, chunkTable } = options.catalogue;
    const libraryId = libraries.ofFolder(root) ?? libraries.create(basename(root) || root);
    this.root = root;
    this.#parts = { ...options, libraryId };
    this.#rootId = libraries.addRoot(libraryId, { kind: 'folder', path: root, watched: false });
    this.chunkSetId = chunkTable.setId({ libraryId, ...targetOf(options, options.dtype) });
  }

  /** Id of the document at a path relative to the root; undefined when the folder has none that could be read. */
  documentId(path: string): number | undefined {
    return this.#parts.catalogue.documents.ofPath(this.#rootId, path)?.id;
  }

  /** In reading order. */
  chunks(): Iterable<ChunkRow> {
    return this.#parts.catalogue.chunks(this.chunkSetId);
  }

  /**
   * Looks for what is new, edited or gone, and works the queue off for this library; without `precompute` up to the KV. A
   * document that cannot be used is reported and the others go on; when none can be used, the first one's failure is thrown.
   * LIBRARY_NOT_FOUND, LIBRARY_EMPTY, every DOCUMENT_… code, and all that ends a Drain.
   */
  async drain({ precompute = true, ...run }: DrainRun & { precompute?: boolean } = {}): Promise<DrainReport> {
    const { catalogue } = this.#parts;
    const drain = new Drain(this.#parts, run);
    drain.tell('scanning', 0, 0);
    const changes = await this.#scan(run.signal);
    await drain.read(changes.files, precompute);
    const gone = catalogue.libraries.root(this.#rootId)?.failure;
    if (gone) throw new KvasirError(gone.code, gone.message, gone.advice);
    const chunks = catalogue.chunkTable.count(this.chunkSetId);
    if (chunks === 0) throw nothingToRead(this.root, [...changes.failures, ...this.#failures()]);
    const precomputed = precompute ? await drain.precompute(this.chunkSetId) : undefined;
    const failed = this.#failures();
    const sync = {
      documents: changes.files - failed.length,
      updated: drain.updated,
      removed: changes.removed,
      chunks,
      failures: [...changes.failures, ...failed],
    };
    return { sync, precompute: precomputed };
  }

  async #scan(signal: AbortSignal | undefined): Promise<RootChanges> {
    const { catalogue } = this.#parts;
    const root = catalogue.libraries.root(this.#rootId);
    if (!root) throw new KvasirError('LIBRARY_NOT_FOUND', `The library of ${this.root} was deleted.`);
    const changes = await scanRoot(catalogue, root, { signal, retryFailed: true });
    catalogue.libraries.setFailure(root.id, null);
    return changes;
  }

  #failures(): DocumentFailure[] {
    const { documents } = this.#parts.catalogue;
    return documents.failed(this.#parts.libraryId).flatMap((id) => {
      const document = documents.get(id);
      if (!document?.failure) return [];
      const { code, message } = document.failure;
      return { path: document.path, code, message };
    });
  }
}

function nothingToRead(root: string, failures: readonly DocumentFailure[]): KvasirError {
  const [first] = failures;
  if (!first) {
    const message = `The folder ${root} has no document with text in it.`;
    return new KvasirError('LIBRARY_EMPTY', message, 'Put documents into it, or name another folder.');
  }
  const others = failures.length > 1 ? ` (and ${failures.length - 1} more could not be read either)` : '';
  const message = `No document of ${root} can be used: ${first.message.replace(/\.$/, '')}${others}.`;
  return new KvasirError(first.code, message, 'Correct the file, or name another folder.');
}
