import { stat } from 'node:fs/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Settings } from '../../../src-shared/settings.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow, Heading } from '../../catalogue/document-table.ts';
import { packText } from '../../catalogue/text-table.ts';
import { diskPath } from '../../platform/disk-path.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ParsedPage } from '../formats/format.ts';
import type { Parser } from '../parser/parser-process.ts';
import type { RecognisedPage } from '../recognition/recognise.ts';
import { isScan, mergeScans, unrecognised } from './merge-scans.ts';
import { filePath, rowOf } from './reader.ts';

interface RecogniserOptions {
  catalogue: Catalogue;
  parser: Parser;
  settings: { readonly current: Pick<Settings, 'recognise' | 'maxFileBytes'> };
  log: Logger;
}

/** A page on which nothing is found: it is damaged, too large, or takes too long. */
const NOTHING: RecognisedPage = { text: '', confidence: 0, words: [] };

/** The step of a document from its pages that are pictures to their text, a page at a time. */
export class DocumentRecogniser {
  readonly #options: RecogniserOptions;

  constructor(options: RecogniserOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.settings.current.recognise;
  }

  /** Whether a document has pages that are to be recognised. */
  isLeft({ id }: DocumentRow): boolean {
    return this.isOn && this.#pages(id).some(isScan);
  }

  /** How many pages of a document are recognised, and how many there are to be. */
  progress({ id, sha256 }: DocumentRow): { done: number; total: number } {
    const { scans } = this.#options.catalogue;
    return { done: scans.pages(id, sha256).length, total: this.#pages(id).filter(isScan).length };
  }

  /** Recognises a document's next page; false when none is left. A file that has changed is read again. ABORTED, DISK_FULL. */
  async next(document: DocumentRow, signal?: AbortSignal): Promise<boolean> {
    const { id, sha256, path: name, format } = document;
    const { catalogue, parser, settings, log } = this.#options;
    const done = new Set(catalogue.scans.pages(id, sha256));
    const page = this.#pages(id).findIndex((each, i) => isScan(each) && !done.has(i));
    if (page < 0) return false;
    const path = filePath(catalogue, document);
    const maxBytes = settings.current.maxFileBytes;
    const request = { path, name, format, maxBytes, page, sha256 };
    const found = await parser.recognise(request, signal).catch(async (error: unknown) => {
      const isPages = error instanceof KvasirError && error.code.startsWith('DOCUMENT_');
      if (!isPages || !(await stat(diskPath(path)).catch(() => undefined))) throw error;
      log.warn('page-not-recognised', { path: name, page, error: String(error) });
      return { page: NOTHING };
    });
    if (found.page) catalogue.scans.put(id, page, sha256, found.page);
    else catalogue.documents.retry([id]);
    return true;
  }

  /** Adds the pages' text to the document's, which is then to be split again. */
  async merge({ id, sha256, warnings }: DocumentRow): Promise<void> {
    const { catalogue } = this.#options;
    const { documents, texts, scans } = catalogue;
    const pages = this.#pages(id);
    const headings = documents.headings(id)?.map(([start, level, title]) => ({ start, level, title }));
    const own = { text: [...texts.blocks(id)].join(''), pages, ...(headings && { headings }) };
    const { warnings: added, text, ...merged } = mergeScans(own, scans.of(id, sha256));
    const packed = await packText(text);
    const earlier = unrecognised(pages);
    catalogue.transaction(() => {
      texts.put(id, packed);
      scans.removeOthers(id, sha256);
      documents.setRecognised(id, {
        textLength: packed.length,
        headings: merged.headings?.map(({ start, level, title }): Heading => [start, level, title]) ?? null,
        pages: merged.pages.map(rowOf),
        warnings: [...warnings.filter((each) => !earlier.includes(each)), ...added],
      });
    });
  }

  #pages(id: number): ParsedPage[] {
    const rows = this.#options.catalogue.documents.pages(id);
    return rows.map(([label, start, end, confidence]) => ({
      label,
      start,
      end,
      ...(confidence !== undefined && { confidence }),
    }));
  }
}
