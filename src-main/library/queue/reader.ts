import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KvasirError } from '../../../src-shared/errors.ts';
import { diskPath } from '../../platform/disk-path.ts';
import { failureOf } from '../../platform/failure.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow, Heading, Page } from '../../catalogue/document-table.ts';
import type { ParsedPage } from '../formats/format.ts';
import type { Parser } from '../parser/parser-process.ts';
import { placeholdersAmong } from '../sources/placeholders.ts';
import { removeContents } from '../sources/removal.ts';
import { isScan, unrecognised } from './merge-scans.ts';
import { packText } from '../../catalogue/text-table.ts';

interface ReaderOptions {
  catalogue: Catalogue;
  parser: Parser;
  /** Bytes above which a document is rejected. */
  maxFileBytes: () => number;
}

/** absent: the whole root is gone (unplugged, moved); the document stays as it was. */
export type ReadOutcome = 'new' | 'unchanged' | 'failed' | 'absent';

/** The first step of a document: from its file to its text in the catalogue. */
export class DocumentReader {
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads a document's file, unless its bytes are unchanged, or only in a cloud now: then it keeps its text. A file that cannot be used
   * becomes a failed document. ABORTED, DISK_FULL, STORE_READ_ONLY.
   */
  async read(document: DocumentRow, signal?: AbortSignal): Promise<ReadOutcome> {
    const { catalogue, parser, maxFileBytes } = this.#options;
    const path = filePath(catalogue, document);
    // Taken before reading: writes during reading are noticed the next time.
    const file = await this.#look(path, document);
    if (!file.there && (await this.#isRootGone(document))) return 'absent';
    catalogue.documents.beginAttempt(document.id);
    if (file.online && document.textLength !== null) {
      catalogue.documents.setSeen(document.id, file, 'chunking');
      return 'unchanged';
    }
    try {
      if (file.online && !this.#wasNamed(document)) throw onlineError(document.path);
      const outcome = await parser.parse(
        {
          path,
          name: document.path,
          format: document.format,
          maxBytes: maxFileBytes(),
          article: document.address !== null,
          knownSha256: document.textLength === null ? undefined : document.sha256,
        },
        signal,
      );
      if (outcome.kind === 'unchanged') {
        catalogue.documents.setSeen(document.id, file, 'chunking');
        return 'unchanged';
      }
      const { text, title, headings, pages, warnings } = outcome.document;
      const packed = await packText(text);
      catalogue.transaction(() => {
        catalogue.texts.put(document.id, packed);
        const facts = {
          ...file,
          title,
          sha256: outcome.sha256,
          warnings: [...warnings, ...unrecognised(pages)],
          textLength: packed.length,
          headings: headings?.map(({ start, level, title: words }): Heading => [start, level, words]) ?? null,
          pages: pages.map(rowOf),
        };
        // A document with a text of its own is found by that meanwhile.
        const isPicture = text === '' && pages.some(isScan);
        catalogue.documents.setRead(document.id, facts, isPicture ? 'recognising' : 'chunking');
      });
      return outcome.sha256 === document.sha256 ? 'unchanged' : 'new';
    } catch (error) {
      if (!(error instanceof KvasirError && error.code.startsWith('DOCUMENT_'))) throw error;
      // A document that becomes unreadable loses its text and its chunks.
      await removeContents(catalogue, document.id);
      catalogue.documents.setFailed(document.id, failureOf(error), file);
      return 'failed';
    }
  }

  async #look(
    path: string,
    document: DocumentRow,
  ): Promise<{ bytes: number; mtimeMs: number; seenMs: number; there: boolean; online: boolean }> {
    const seenMs = systemClock.wall();
    const info = await stat(diskPath(path)).catch(() => undefined);
    return {
      bytes: info?.size ?? document.bytes,
      mtimeMs: info?.mtimeMs ?? document.mtimeMs,
      seenMs,
      there: info !== undefined,
      online: info !== undefined && (await placeholdersAmong(new Map([[path, info]]))).has(path),
    };
  }

  /** Whether somebody added this one file, which asks for a download. */
  #wasNamed({ rootId }: DocumentRow): boolean {
    return this.#options.catalogue.libraries.root(rootId)?.kind === 'file';
  }

  /** Records it with the root, so that no other document of the root is tried. */
  async #isRootGone({ rootId }: DocumentRow): Promise<boolean> {
    const { libraries } = this.#options.catalogue;
    const root = libraries.root(rootId);
    if (!root || root.kind === 'file' || (await stat(root.path).catch(() => undefined))) return false;
    const error = new KvasirError(
      'LIBRARY_NOT_FOUND',
      `The folder ${root.path} was not found.`,
      'Connect the drive or move the folder back; its documents are kept.',
    );
    libraries.setFailure(rootId, failureOf(error));
    return true;
  }
}

/** The path of a document's file. NOT_FOUND. */
export function filePath(catalogue: Catalogue, document: Pick<DocumentRow, 'rootId' | 'path'>): string {
  const root = catalogue.libraries.root(document.rootId);
  if (!root)
    throw new KvasirError('NOT_FOUND', `The folder of ${document.path} is no longer in the library.`);
  return root.kind === 'file' ? root.path : join(root.path, document.path);
}

function onlineError(path: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_UNREADABLE',
    `It cannot be read: only a placeholder of it is on this computer. The file is ${path}.`,
    'Download it from the cloud, then try again.',
  );
}

export function rowOf({ label, start, end, confidence }: ParsedPage): Page {
  return confidence === undefined ? [label, start, end] : [label, start, end, confidence];
}
