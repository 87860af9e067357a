import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
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
import { breathe, throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Catalogue, ChunkRow, DocumentFacts, DocumentRow } from './catalogue.ts';
import { chunkText, type TextChunk } from './chunker.ts';
import { decodeText } from './decode.ts';
import { precompute } from './precompute.ts';
import { requireFolder, scanFolder, unreadable, type ScannedFile } from './scan.ts';

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

/** How long chunking may keep the event loop waiting. */
const BREATHE_MS = 25;

/** Files changed less than this before they were read may change again within the same time stamp. */
const MTIME_GRANULARITY_MS = 2000;

/**
 * A folder of documents: what is in it, cut into chunks for one model and chunk size, and their KV in the store.
 * sync() brings the catalogue up to date with the folder; precompute() fills the store.
 */
export class Library {
  readonly root: string;
  readonly chunkSetId: number;
  readonly #id: number;
  readonly #options: LibraryOptions;
  readonly #clock: Clock;

  /** LIBRARY_NOT_FOUND when `root` is not a folder. */
  static async open(options: LibraryOptions): Promise<Library> {
    await requireFolder(options.root);
    return new Library(options, await realpath(options.root));
  }

  private constructor(options: LibraryOptions, root: string) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.root = root;
    this.#id = options.catalogue.libraryId(this.root);
    this.chunkSetId = options.catalogue.chunkSetId(
      this.#id,
      options.model.info.fingerprint,
      options.chunkTokens,
    );
  }

  /**
   * Reads what is new or was edited, forgets what is gone, leaves the rest alone. A document that cannot be read is
   * reported and the others go on; when none can be read, the first one's failure is thrown.
   * LIBRARY_NOT_FOUND, LIBRARY_EMPTY, ABORTED, DOCUMENT_TOO_LARGE, DOCUMENT_ENCODING, DOCUMENT_UNREADABLE.
   */
  async sync({ signal, onProgress }: LibraryRun = {}): Promise<SyncReport> {
    const { catalogue } = this.#options;
    onProgress?.({ phase: 'scanning', done: 0, total: 0, tokens: 0, secondsLeft: undefined });
    const scan = await scanFolder(this.root, signal);
    const known = new Map(catalogue.documents(this.#id).map((row) => [row.path, row]));
    const removed = this.#forget(known, new Set(scan.files.map((file) => file.path)));
    let updated = 0;
    for (const [done, file] of scan.files.entries()) {
      throwIfAborted(signal);
      onProgress?.({ phase: 'reading', done, total: scan.files.length, tokens: 0, secondsLeft: undefined });
      if (await this.#update(file, known.get(file.path), signal)) updated++;
    }
    const failures = [...scan.failures, ...catalogue.failures(this.#id)];
    const chunks = catalogue.chunkCount(this.chunkSetId);
    if (chunks === 0) throw nothingToRead(this.root, failures);
    return {
      documents: scan.files.length - catalogue.failures(this.#id).length,
      updated,
      removed,
      chunks,
      failures,
    };
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

  #forget(known: ReadonlyMap<string, DocumentRow>, present: ReadonlySet<string>): number {
    const gone = [...known.values()].filter((row) => !present.has(row.path));
    this.#options.catalogue.transaction(() =>
      gone.forEach((row) => this.#options.catalogue.removeDocument(row.id)),
    );
    return gone.length;
  }

  /** Brings one document up to date; true when its text is new to the catalogue. */
  async #update(
    file: ScannedFile,
    row: DocumentRow | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { catalogue } = this.#options;
    const chunked = row && catalogue.chunkedHash(this.chunkSetId, row.id) === row.sha256;
    if (row && chunked && !row.errorCode && unchanged(file, row)) return false;

    const facts: DocumentFacts = {
      path: file.path,
      title: row?.title ?? basename(file.path),
      sha256: '',
      mtimeMs: file.mtimeMs,
      bytes: file.bytes,
      seenMs: this.#clock.wall(),
      errorCode: null,
      errorMessage: null,
    };
    let text: string;
    try {
      const bytes = await this.#read(file);
      facts.sha256 = createHash('sha256').update(bytes).digest('hex');
      text = decodeText(bytes, file.path);
    } catch (error) {
      this.#refuse(facts, row, failureOf(file.path, error));
      return false;
    }
    facts.title = titleOf(text, file.path);
    if (row && chunked && row.sha256 === facts.sha256 && !row.errorCode) {
      catalogue.putDocument(this.#id, facts); // touched, not edited
      return false;
    }
    await this.#rechunk(facts, text, row, signal);
    return row?.sha256 !== facts.sha256;
  }

  async #read(file: ScannedFile): Promise<Buffer> {
    const limit = this.#options.maxFileBytes;
    if (file.bytes > limit) {
      const message = `${file.path} has ${megabytes(file.bytes)}, more than the limit of ${megabytes(limit)}.`;
      throw new KvasirError(
        'DOCUMENT_TOO_LARGE',
        message,
        'Split the file, or raise maxFileBytes in the settings.',
      );
    }
    return readFile(file.absolutePath);
  }

  /** A document whose text changed loses its chunks in every set: those of other models are cut again when next used. */
  async #rechunk(
    facts: DocumentFacts,
    text: string,
    row: DocumentRow | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const { catalogue, model, chunkTokens } = this.#options;
    const chunks: TextChunk[] = [];
    let pause = this.#clock.now() + BREATHE_MS;
    for (const chunk of chunkText(text, (piece) => model.tokenize(piece), chunkTokens)) {
      chunks.push(chunk);
      if (this.#clock.now() < pause) continue;
      await breathe();
      throwIfAborted(signal);
      pause = this.#clock.now() + BREATHE_MS;
    }
    catalogue.transaction(() => {
      const id = catalogue.putDocument(this.#id, facts);
      if (row && row.sha256 !== facts.sha256) catalogue.removeChunks(id);
      catalogue.putChunks(this.chunkSetId, id, facts.sha256, facts.title, chunks);
    });
  }

  #refuse(facts: DocumentFacts, row: DocumentRow | undefined, failure: DocumentFailure): void {
    const { catalogue } = this.#options;
    catalogue.transaction(() => {
      if (row) catalogue.removeChunks(row.id);
      catalogue.putDocument(this.#id, { ...facts, errorCode: failure.code, errorMessage: failure.message });
    });
  }
}

/** Size and time are trusted, unless the file was written so shortly before it was read that both could stay the same. */
function unchanged(file: ScannedFile, row: DocumentRow): boolean {
  return (
    file.bytes === row.bytes &&
    file.mtimeMs === row.mtimeMs &&
    row.seenMs - row.mtimeMs > MTIME_GRANULARITY_MS
  );
}

/** A short first line that stands alone is a title in plain text; the marks are those of common light mark-ups. */
const LONE_FIRST_LINE = /^\s*[=#*]*[ \t]*([^\n]{1,80}?)[ \t=#*]*\n(?:[ \t]*\n|[=\-~]{3,}[ \t]*\n)/;

/** The first heading, else a first line that stands alone, else the file's name. */
function titleOf(text: string, path: string): string {
  const heading = /\.md$/i.test(path) ? /^ {0,3}#[ \t]+(.+?)[ \t]*#*[ \t]*$/m.exec(text)?.[1] : undefined;
  const title = heading ?? LONE_FIRST_LINE.exec(text)?.[1] ?? '';
  return title.replace(/[*_`]+/g, '').trim() || basename(path).replace(/\.\w+$/, '');
}

function failureOf(path: string, error: unknown): DocumentFailure {
  if (error instanceof KvasirError) return { path, code: error.code, message: error.message };
  return unreadable(path, error);
}

function nothingToRead(root: string, failures: readonly DocumentFailure[]): KvasirError {
  const [first] = failures;
  if (!first) {
    const message = `The folder ${root} has no .md or .txt document with text in it.`;
    return new KvasirError('LIBRARY_EMPTY', message, 'Put documents into it, or name another folder.');
  }
  const others = failures.length > 1 ? ` (and ${failures.length - 1} more could not be read either)` : '';
  const message = `No document of ${root} can be used: ${first.message.replace(/\.$/, '')}${others}.`;
  return new KvasirError(first.code, message, 'Correct the file, or name another folder.');
}

function megabytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}
