import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import type {
  DocumentFailure,
  LibraryProgress,
  PrecomputeReport,
  SyncReport,
} from '../../src-shared/library.ts';
import type { KvDtype } from '../engine/engine.ts';
import type { ChunkCache, FusionModel } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Catalogue, ChunkRow } from '../catalogue/catalogue.ts';
import { DocumentCutter } from './queue/cutter.ts';
import type { DocumentRow } from '../catalogue/document-table.ts';
import { ParserProcess, type Parser } from './parser/parser-process.ts';
import { precompute } from './precompute.ts';
import { DocumentReader } from './queue/reader.ts';
import { scanRoot } from './sources/root-scan.ts';
import { requireFolder } from './sources/scan.ts';

export interface LibraryOptions {
  /** Folder of the documents. */
  root: string;
  catalogue: Catalogue;
  store: ChunkCache;
  model: FusionModel;
  /** Tokens in a chunk at most. */
  chunkTokens: number;
  dtype: KvDtype;
  /** Bytes above which a document is refused. */
  maxFileBytes: number;
  clock?: Clock;
}

export interface LibraryRun {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LibraryProgress) => void) | undefined;
}

/**
 * A folder of documents, for the command line: the same steps that the app's queue takes, one after another, when they
 * are asked for. sync() brings the catalogue up to date with the folder; precompute() fills the store.
 */
export class Library {
  readonly root: string;
  readonly chunkSetId: number;
  readonly #id: number;
  readonly #rootId: number;
  readonly #options: LibraryOptions;
  readonly #clock: Clock;

  /** LIBRARY_NOT_FOUND when `root` is not a folder. */
  static async open(options: LibraryOptions): Promise<Library> {
    await requireFolder(options.root);
    return new Library(options, await realpath(options.root));
  }

  private constructor(options: LibraryOptions, root: string) {
    const { catalogue, model, chunkTokens } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.root = root;
    this.#id = catalogue.libraries.ofFolder(root) ?? catalogue.libraries.create(basename(root) || root);
    this.#rootId = catalogue.libraries.addRoot(this.#id, { kind: 'folder', path: root, watched: false });
    const { fingerprint } = model.info;
    const prefix = model.encodingPrefix;
    this.chunkSetId = catalogue.chunkTable.setId({ libraryId: this.#id, fingerprint, chunkTokens, prefix });
  }

  /**
   * Reads what is new or was edited, forgets what is gone, leaves the rest alone. A document that cannot be read is
   * reported and the others go on; when none can be read, the first one's failure is thrown.
   * LIBRARY_NOT_FOUND, LIBRARY_EMPTY, ABORTED, every DOCUMENT_… code.
   */
  async sync({ signal, onProgress }: LibraryRun = {}): Promise<SyncReport> {
    const { catalogue } = this.#options;
    onProgress?.({ phase: 'scanning', done: 0, total: 0, tokens: 0, secondsLeft: undefined });
    const root = catalogue.libraries.root(this.#rootId);
    if (!root) throw new KvasirError('LIBRARY_NOT_FOUND', `The library of ${this.root} was deleted.`);
    const changes = await scanRoot(catalogue, root, { signal, retryFailed: true });
    const parser = new ParserProcess();
    try {
      const updated = await this.#readAll(parser, changes.files, { signal, onProgress });
      const failures = [...changes.failures, ...this.#failures()];
      const chunks = catalogue.chunkTable.count(this.chunkSetId);
      if (chunks === 0) throw nothingToRead(this.root, failures);
      const documents = changes.files - this.#failures().length;
      return { documents, updated, removed: changes.removed, chunks, failures };
    } finally {
      parser.close();
    }
  }

  /** Id of the document at a path relative to the root; undefined when the folder has none that could be read. */
  documentId(path: string): number | undefined {
    return this.#options.catalogue.documents.ofPath(this.#rootId, path)?.id;
  }

  /** Computes and stores the KV of chunks the store does not have. ABORTED, DISK_FULL, STORE_READ_ONLY. */
  precompute(run: LibraryRun = {}): Promise<PrecomputeReport> {
    const { model, store, dtype } = this.#options;
    return precompute(this.#items(), { model, store, dtype, clock: this.#clock, ...run });
  }

  chunks(): Iterable<ChunkRow> {
    return this.#options.catalogue.chunks(this.chunkSetId);
  }

  *#items(): Generator<{ tokens: Int32Array; label: string }> {
    for (const { tokens, path } of this.chunks()) yield { tokens, label: path };
  }

  /** Reads and cuts what needs it; gives how many documents have a new text. */
  async #readAll(parser: Parser, total: number, { signal, onProgress }: LibraryRun): Promise<number> {
    const { catalogue, model, chunkTokens, maxFileBytes } = this.#options;
    const reader = new DocumentReader({
      catalogue,
      parser,
      maxFileBytes: () => maxFileBytes,
      clock: this.#clock,
    });
    const cutter = new DocumentCutter(catalogue);
    let updated = 0;
    for (const [done, id] of catalogue.documents.idsOfRoot(this.#rootId).entries()) {
      throwIfAborted(signal);
      onProgress?.({ phase: 'reading', done, total, tokens: 0, secondsLeft: undefined });
      const document = catalogue.documents.get(id);
      if (document?.phase === 'waiting' && (await reader.read(document, signal)) === 'new') updated++;
      const read = catalogue.documents.get(id);
      if (!read || read.phase === 'failed') continue;
      await cutter.cut(read, { chunkSetId: this.chunkSetId, chunkTokens, model }, signal);
    }
    return updated;
  }

  #failures(): DocumentFailure[] {
    const { documents } = this.#options.catalogue;
    return documents
      .failed(this.#id)
      .flatMap((id) => documents.get(id) ?? [])
      .flatMap(({ path, failure }: DocumentRow) =>
        failure ? [{ path, code: failure.code, message: failure.message }] : [],
      );
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
