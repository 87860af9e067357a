import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Range } from '../../src-shared/contract/common.ts';
import type { DocumentPart, PageLines } from '../../src-shared/contract/libraries.ts';
import { linesOf } from './recognition/lines.ts';
import { viewerOf } from '../../src-shared/viewing.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DocumentRow } from '../catalogue/document-table.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { diskPath } from '../platform/disk-path.ts';
import { notFound, rowId } from '../platform/ids.ts';
import type { Passage } from './formats/page/mark-passage.ts';
import type { PageView } from './formats/page/page.ts';
import type { ParserProcess } from './parser/parser-process.ts';
import { filePath } from './queue/reader.ts';

interface DocumentViewsOptions {
  catalogue: Catalogue;
  parser: Pick<ParserProcess, 'do' | 'close'>;
  maxFileBytes: () => number;
}

interface DocumentPage extends PageView {
  parts: string[];
  part: number;
}

/** Kinds whose pages are shown one by one: each is a chapter, a message, or what is attached to one. */
const IN_PARTS = /^(?:epub|mbox|mbx|emlx?|msg)$/;
/** UTF-16 units of a passage that are looked for. */
const MAX_PASSAGE = 20_000;
/** How long pages are kept, and how many: the window asks for one, and then its frame does. */
const KEPT_MS = 60_000;
const KEPT = 3;

/** Documents themselves, for people to look at: their files, and pages made of them. */
export class DocumentViews {
  readonly #options: DocumentViewsOptions;
  readonly #pages = new Map<string, Promise<PageView>>();
  #forgetting: NodeJS.Timeout | undefined;

  constructor(options: DocumentViewsOptions) {
    this.#options = options;
  }

  /** A file that browsers can show as it is. NOT_FOUND, also when it is of another kind. */
  async file(id: string): Promise<{ path: string; format: string; bytes: number }> {
    const document = this.#document(id);
    const { path, bytes } = await this.#look(document);
    if (!/^(?:pdf|image)$/.test(viewerOf(document.format) ?? '')) throw notFound('document');
    return { path, format: document.format, bytes };
  }

  /** A document, or a part of it, as a safe page. NOT_FOUND; every DOCUMENT_… code. */
  async page({ id, part: wanted, start, end }: DocumentPart): Promise<DocumentPage> {
    const document = this.#document(id);
    const { catalogue } = this.#options;
    const pages = IN_PARTS.test(document.format) ? catalogue.documents.pages(document.id) : [];
    const found = start === undefined ? -1 : pages.findLastIndex(([, from]) => from <= start);
    const part = wanted ?? Math.max(0, found);
    const [, from, to] = pages[part] ?? ['', 0, document.textLength ?? 0];
    const passage =
      start === undefined || end === undefined || start < from || start >= to
        ? undefined
        : {
            text: catalogue.texts.slice(document.id, start, Math.min(end, to, start + MAX_PASSAGE) - start),
            near: (start - from) / (to - from),
          };
    const page = await this.#page(document, part, passage);
    return { ...page, parts: pages.map(([label]) => label), part };
  }

  /** Whether the file is another than the one whose text was read; false if there is none. NOT_FOUND. */
  async hasChanged(id: string): Promise<boolean> {
    const document = this.#document(id);
    const file = await this.#look(document).catch(() => undefined);
    if (!file || document.sha256 === '') return false;
    if (file.bytes === document.bytes && file.mtimeMs === document.mtimeMs) return false;
    const hash = createHash('sha256');
    await pipeline(createReadStream(diskPath(file.path)), hash);
    return hash.digest('hex') !== document.sha256;
  }

  /** Where a passage is on pages whose text was recognised. NOT_FOUND. */
  lines(id: string, { start, end }: Range): PageLines[] {
    const document = this.#document(id);
    const { documents, scans } = this.#options.catalogue;
    return documents.pages(document.id).flatMap(([, from, to], page) => {
      if (from >= end || to <= start) return [];
      const words = scans.words(document.id, document.sha256, page);
      const marked = words.filter(([first = 0, last = 0]) => from + first < end && from + last > start);
      return marked.length > 0 ? [{ page, lines: linesOf(marked) }] : [];
    });
  }

  close(): void {
    clearTimeout(this.#forgetting);
    this.#options.parser.close();
  }

  async #page(document: DocumentRow, part: number, passage: Passage | undefined): Promise<PageView> {
    const { path, mtimeMs } = await this.#look(document);
    const key = JSON.stringify([path, mtimeMs, part, passage]);
    let page = this.#pages.get(key);
    if (!page) {
      page = this.#make(document, path, part, passage);
      page.catch(() => this.#pages.delete(key));
      this.#pages.set(key, page);
      for (const old of [...this.#pages.keys()].slice(0, -KEPT)) this.#pages.delete(old);
      clearTimeout(this.#forgetting);
      this.#forgetting = setTimeout(() => this.#pages.clear(), KEPT_MS).unref();
    }
    return page;
  }

  async #make(
    { path: name, format }: DocumentRow,
    path: string,
    part: number,
    passage: Passage | undefined,
  ): Promise<PageView> {
    const { parser, maxFileBytes } = this.#options;
    const { text, result } = await parser.do<'view'>({
      work: 'view',
      path,
      name,
      format,
      maxBytes: maxFileBytes(),
      part,
      passage,
    });
    return { html: text, ...result };
  }

  async #look(document: DocumentRow): Promise<{ path: string; bytes: number; mtimeMs: number }> {
    const path = filePath(this.#options.catalogue, document);
    const info = await stat(diskPath(path)).catch(() => undefined);
    if (!info?.isFile())
      throw new KvasirError(
        'DOCUMENT_UNREADABLE',
        `The file of ${document.path} was not found.`,
        'Connect its drive, or move it back.',
      );
    return { path, bytes: info.size, mtimeMs: info.mtimeMs };
  }

  #document(id: string): DocumentRow {
    const document = this.#options.catalogue.documents.get(rowId(id, 'document'));
    if (!document) throw notFound('document');
    return document;
  }
}
