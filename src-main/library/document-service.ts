import { rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ChunkInfo, DocumentInfo, DocumentText } from '../../src-shared/contract/libraries.ts';
import type { OutputOf, ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { ChunkCache } from '../fusion/model.ts';
import { chunkKey, type ChunkStore } from '../kvstore/store.ts';
import type { ModelSource } from '../models/active-model.ts';
import type { Gate } from '../platform/gate.ts';
import type { Catalogue, ChunkRow } from '../catalogue/catalogue.ts';
import { chunkText } from './queue/chunker.ts';
import { labelOf, type DocumentRow, type ReadableDocument } from '../catalogue/document-table.ts';
import type { RootRow } from '../catalogue/library-table.ts';
import { notFound, rowId } from '../platform/ids.ts';
import { hasLineNumbers, textKindOf } from './formats/formats.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { DocumentQueue } from './queue/queue.ts';
import { removeWithCache } from './sources/removal.ts';
import { chunkSetOf, type Target } from './queue/targets.ts';

export type LibraryStore = ChunkCache & Pick<ChunkStore, 'evict' | 'unpin' | 'list'>;

interface DocumentServiceOptions {
  catalogue: Catalogue;
  store: LibraryStore;
  queue: DocumentQueue;
  models: ModelSource;
  gate: Gate;
  /** The folder of a root's uploads; undefined when it has none. */
  uploadFolder: (root: RootRow) => string | undefined;
  onLibraryChanged: (libraryId: number) => void;
  /** Called after documents were deleted. */
  onRemoved: () => void;
}

/** UTF-16 units of text that a preview splits at most. */
const PREVIEW_UNITS = 200_000;

/** Documents for windows: lists, text, chunks, and actions. */
export class DocumentService {
  readonly #options: DocumentServiceOptions;

  constructor(options: DocumentServiceOptions) {
    this.#options = options;
  }

  list(input: ParsedInputOf<'documents.list'>): OutputOf<'documents.list'> {
    const { catalogue, queue } = this.#options;
    const { total, items } = catalogue.documentList.page(input, queue.target);
    return { total, items: items.map((item) => this.#withPhase(item)) };
  }

  /** Documents of all libraries whose text was read, by id: at most `limit` after one. */
  readable(after: number, limit: number): ReadableDocument[] {
    return this.#options.catalogue.documents.readable(after, limit);
  }

  /** NOT_FOUND. */
  get(id: string): DocumentInfo {
    const { catalogue, queue } = this.#options;
    const info = catalogue.documentList.get(rowId(id, 'document'), queue.target);
    if (!info) throw notFound('document');
    return this.#withPhase(info);
  }

  /** Those of these that exist. */
  some(ids: readonly string[]): DocumentInfo[] {
    const { catalogue, queue } = this.#options;
    const known = ids.flatMap((id) => catalogue.documentList.get(rowId(id, 'document'), queue.target) ?? []);
    return known.map((info) => this.#withPhase(info));
  }

  /** NOT_FOUND. */
  text({ id, offset, limit }: ParsedInputOf<'documents.text'>): DocumentText {
    const { catalogue } = this.#options;
    const document = this.#document(id);
    return {
      text: catalogue.texts.slice(document.id, offset, limit),
      length: document.textLength ?? 0,
      offset,
      line: hasLineNumbers(document.format) ? catalogue.texts.lineEnds(document.id, offset) + 1 : null,
      pages: catalogue.documents
        .pages(document.id)
        .map((page) => ({ label: labelOf(page), start: page[1], end: page[2] })),
    };
  }

  /** Chunks for the model in use, with their state in the store. NOT_FOUND. */
  chunks({ id, offset, limit }: ParsedInputOf<'documents.chunks'>): OutputOf<'documents.chunks'> {
    const { catalogue, queue } = this.#options;
    const document = this.#document(id);
    const { target } = queue;
    const setId = chunkSetOf(catalogue, document.libraryId, target);
    if (!target || setId === undefined) return { total: 0, items: [] };
    const rows = catalogue.chunkTable.page(setId, document.id, offset, limit);
    return {
      total: catalogue.chunkTable.ids(setId, document.id).length,
      items: rows.map((row) => this.#chunk(row, target)),
    };
  }

  /** Permanently removes documents from their libraries, with the KV that no other document shares. NOT_FOUND. */
  async delete(ids: readonly string[]): Promise<OutputOf<'documents.delete'>> {
    const { catalogue, store, queue } = this.#options;
    const documents = ids.map((id) => this.#document(id));
    queue.interrupt();
    // First, so that neither a crash nor a concurrent scan brings them back, and concurrent uploads stay. After a crash, scans remove what
    // is left of them.
    catalogue.transaction(() => {
      for (const { rootId, path } of documents) catalogue.libraries.exclude(rootId, path);
    });
    for (const document of documents) await this.#deleteUpload(document);
    const evicted = await removeWithCache(
      catalogue,
      store,
      documents.map(({ id }) => id),
    );
    for (const { rootId, path } of documents) {
      const kind = catalogue.libraries.root(rootId)?.kind;
      if (kind === 'file') catalogue.libraries.removeRoot(rootId);
      // Its file is gone: no scan can find it, and nothing keeps its name.
      if (kind === 'managed') catalogue.libraries.include(rootId, path);
    }
    for (const libraryId of new Set(documents.map((document) => document.libraryId)))
      this.#options.onLibraryChanged(libraryId);
    queue.removed();
    this.#options.onRemoved();
    return evicted;
  }

  /** Reads documents again. NOT_FOUND. */
  retry(ids: readonly string[]): void {
    const documents = ids.map((id) => this.#document(id));
    this.#options.queue.retry(documents.map(({ id }) => id));
    for (const libraryId of new Set(documents.map((document) => document.libraryId)))
      this.#options.onLibraryChanged(libraryId);
  }

  /** Where a text would be split for the model in use. NOT_FOUND, BAD_ARGUMENT; the errors of loading a model. */
  async preview({
    chunkTokens,
    documentId,
  }: ParsedInputOf<'chunking.preview'>): Promise<OutputOf<'chunking.preview'>> {
    const { catalogue, models, gate } = this.#options;
    const document = this.#document(documentId);
    const text = catalogue.texts.slice(document.id, 0, PREVIEW_UNITS);
    await models.current();
    let chunks: OutputOf<'chunking.preview'>['chunks'] = [];
    await gate.background(async (signal) => {
      const { model } = await models.current();
      const slice = new TimeSlice();
      chunks = [];
      const tokenize = (piece: string): Int32Array => model.tokenize(piece);
      const kind = textKindOf(document.format);
      for (const { start, end, tokens, headings } of chunkText(text, tokenize, chunkTokens, { kind })) {
        chunks.push({ start, end, tokens: tokens.length, headings: [...headings] });
        await slice.step(signal);
      }
    });
    return { text, chunks };
  }

  /** Deletes a file that Kvasir owns. */
  async #deleteUpload({ rootId, path }: DocumentRow): Promise<void> {
    const { catalogue, uploadFolder } = this.#options;
    const root = catalogue.libraries.root(rootId);
    const folder = root && uploadFolder(root);
    const file = folder && fileBelow(folder, path);
    if (file !== undefined) await rm(file, { force: true });
  }

  #withPhase(info: DocumentInfo): DocumentInfo {
    return { ...info, phase: this.#options.queue.phaseOf({ id: Number(info.id), phase: info.phase }) };
  }

  #chunk(row: ChunkRow, target: Target): ChunkInfo {
    const key = chunkKey({ ...target, tokens: row.tokens, lead: row.lead });
    const { store, models } = this.#options;
    const entry = store.entry(key);
    const onDevice = entry !== undefined && models.active?.model.onDevice(key) === true;
    return {
      id: String(row.id),
      documentId: String(row.documentId),
      key,
      ordinal: row.ordinal,
      start: row.start,
      end: row.end,
      page: this.#options.catalogue.pageLabel(row.documentId, row.start),
      title: row.title,
      text: row.text,
      tokens: row.tokens.length,
      cache: !entry ? 'none' : onDevice ? 'device' : entry.inRam ? 'ram' : 'disk',
      bytes: entry?.bytes ?? 0,
      hits: entry?.hits ?? 0,
      lastUsedMs: entry?.lastUsedAt ?? null,
      pinned: entry?.pinned ?? false,
    };
  }

  #document(id: string): DocumentRow {
    const document = this.#options.catalogue.documents.get(rowId(id, 'document'));
    if (!document) throw notFound('document');
    return document;
  }
}

/** undefined when the path would leave the folder: a catalogue may come from somebody else's backup. */
function fileBelow(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  return file.startsWith(folder + sep) ? file : undefined;
}
