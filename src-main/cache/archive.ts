import { createWriteStream } from 'node:fs';
import { realpath, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import type { ImportReport } from '../../src-shared/contract/cache.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ChunkFiles, ChunkStore } from '../kvstore/store.ts';
import { requireChunk } from '../kvstore/verify.ts';
import { discard } from '../platform/discard.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { formatBytes } from '../platform/format-bytes.ts';
import { fileError } from '../platform/paths.ts';
import { openZip, readJson } from '../platform/zip.ts';
import {
  entryName,
  MANIFEST_NAME,
  ManifestSchema,
  type Manifest,
  type ManifestChunk,
} from './archive-manifest.ts';
import { ChunkKeys } from './chunk-keys.ts';
import { forEachPage } from './listing-sources.ts';
import { writeArchive, type Run } from './write-archive.ts';

interface ArchiveOptions {
  store: ChunkStore;
  files: ChunkFiles;
  catalogue: Pick<Catalogue, 'documents' | 'kvKeys' | 'libraries'>;
}

const MAX_MANIFEST_BYTES = 256 * 2 ** 20;

/** Stored chunks of a library in one file, for people who share no server. */
export class ChunkArchive {
  readonly #options: ArchiveOptions;
  readonly #keys: ChunkKeys;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.#keys = new ChunkKeys(options.catalogue.kvKeys);
  }

  /**
   * The file appears once it is complete. LIBRARY_NOT_FOUND, LIBRARY_EMPTY when nothing of it is stored, CHUNK_CORRUPT, DISK_FULL,
   * STORE_READ_ONLY, ABORTED.
   */
  async export(folder: string, file: string, run: Run = {}): Promise<{ chunks: number; bytes: number }> {
    const chunks = await this.#chunksOf(await this.#libraryOf(folder));
    if (chunks.length === 0)
      throw new KvasirError(
        'LIBRARY_EMPTY',
        `No chunks of the library of ${folder} are stored.`,
        'Ask it a question first; this computes its passages.',
      );
    const { store } = this.#options;
    const part = `${file}.part`;
    let written: ManifestChunk[];
    try {
      written = await writeArchive(part, chunks, (key) => store.path(key), run);
      await rename(part, file);
    } catch (error) {
      await discard(part);
      throw error instanceof KvasirError ? error : fileError(error, `The file ${file} could not be written`);
    }
    return { chunks: written.length, bytes: written.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /**
   * Stores the chunks that are not stored yet; each is verified first. Evicts nothing: CACHE_FULL when the budget is used up; chunks added
   * before stay. BACKUP_INVALID when the file is not an export, DISK_FULL, STORE_READ_ONLY, ABORTED.
   */
  async import(file: string, { signal }: Pick<Run, 'signal'> = {}): Promise<ImportReport> {
    const { zip, entries } = await openZip(file, invalid);
    try {
      const { chunks } = await readManifest(zip, entries.get(MANIFEST_NAME));
      const report: ImportReport = { added: 0, bytes: 0, there: 0, refused: [] };
      for (const chunk of chunks) {
        throwIfAborted(signal);
        await this.#take(zip, entries.get(entryName(chunk)), chunk, report);
      }
      return report;
    } finally {
      zip.close();
    }
  }

  async #libraryOf(folder: string): Promise<number> {
    const path = await realpath(folder).catch(() => folder);
    const id = this.#options.catalogue.libraries.ofFolder(path);
    if (id !== undefined) return id;
    throw new KvasirError(
      'LIBRARY_NOT_FOUND',
      `No library was found for the folder ${folder}.`,
      'Name the folder of a library, as for `ask --library`.',
    );
  }

  async #chunksOf(libraryId: number): Promise<ManifestChunk[]> {
    const { store, catalogue } = this.#options;
    const dtypes = [...new Set(store.totals().map(({ dtype }) => dtype))];
    await this.#keys.update(dtypes);
    const keys = new Set<string>();
    const sources = { store, documents: catalogue.documents, keys: catalogue.kvKeys, dtypes };
    await forEachPage(sources, (documents, places) => {
      const own = new Set(documents.filter((one) => one.libraryId === libraryId).map(({ id }) => id));
      for (const { key, documentId } of places) if (own.has(documentId)) keys.add(key);
    });
    return [...keys].flatMap((key) => {
      const entry = store.entry(key);
      return entry
        ? [{ key, formatVersion: entry.formatVersion, bytes: entry.bytes, label: entry.label }]
        : [];
    });
  }

  async #take(
    zip: ZipFile,
    entry: Entry | undefined,
    chunk: ManifestChunk,
    report: ImportReport,
  ): Promise<void> {
    const { store, files } = this.#options;
    const { key, bytes, label } = chunk;
    if (store.has(key)) {
      report.there++;
      return;
    }
    const refuse = (reason: string): void => {
      report.refused.push({ key, reason });
    };
    if (entry?.uncompressedSize !== bytes) {
      refuse('it is missing from the file, or has the wrong size');
      return;
    }
    this.#requireRoom(bytes, report);
    try {
      const save = async (path: string): Promise<number> => {
        await pipeline(
          await zip.openReadStreamPromise(entry),
          createWriteStream(path, { flush: true }),
        ).catch((error: unknown) => {
          throw unpackError(error, path);
        });
        await requireChunk(files, path, key);
        return bytes;
      };
      await store.put(key, { save }, { label });
    } catch (error) {
      if (!(error instanceof KvasirError && /^CHUNK_/.test(error.code))) throw error;
      refuse(error.message);
      return;
    }
    report.added++;
    report.bytes += bytes;
  }

  #requireRoom(bytes: number, { added }: ImportReport): void {
    const { bytes: used, diskBudgetBytes } = this.#options.store.stats();
    if (used + bytes <= diskBudgetBytes) return;
    throw new KvasirError(
      'CACHE_FULL',
      `The cache budget of ${formatBytes(diskBudgetBytes)} has no room for the next chunk of ${formatBytes(bytes)}: ${added} were added, and nothing was evicted.`,
      'Raise the disk budget (setting diskBudgetBytes) or evict something, then import again; chunks already stored are skipped.',
    );
  }
}

async function readManifest(zip: ZipFile, entry: Entry | undefined): Promise<Manifest> {
  if (!entry || entry.uncompressedSize > MAX_MANIFEST_BYTES) throw invalid('it has no list of chunks');
  try {
    return ManifestSchema.parse(await readJson(zip, entry));
  } catch (error) {
    throw invalid('its list of chunks is damaged, or of another version of Kvasir', error);
  }
}

function invalid(why: string, cause?: unknown): KvasirError {
  const advice = 'Name a file written by `cache export`.';
  return new KvasirError('BACKUP_INVALID', `This file cannot be imported: ${why}.`, advice, { cause });
}

function unpackError(error: unknown, path: string): KvasirError {
  if (typeof (error as { syscall?: unknown }).syscall === 'string')
    return fileError(error, `The chunk could not be written to ${path}`);
  return new KvasirError('CHUNK_CORRUPT', 'it is damaged in the file', '', { cause: error });
}
