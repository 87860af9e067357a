import { createHash } from 'node:crypto';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { Heading } from '../catalogue/document-table.ts';
import type { FusionModel } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { RecentStore } from '../platform/recent-store.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { textKindOf } from './formats/formats.ts';
import { noText } from './formats/errors.ts';
import type { ParsedDocument } from './formats/format.ts';
import type { Parser } from './parser/parser-process.ts';
import { chunkText } from './queue/chunker.ts';
import { isScan, mergeScans } from './queue/merge-scans.ts';
import type { RecognisedPage } from './recognition/recognise.ts';

interface ChunkingModel {
  model: Pick<FusionModel, 'tokenize'>;
  chunkTokens: number;
}

interface SentDocumentsOptions {
  parser: Parser;
  settings: { readonly current: Pick<Settings, 'maxFileBytes' | 'recognise'> };
  models: { current(): Promise<ChunkingModel>; readonly active: ChunkingModel | undefined };
}

/** A document sent with a request. */
interface SentFile {
  bytes: Uint8Array;
  /** For messages. */
  name: string;
  format: 'pdf';
}

/** A document's content, and its chunk texts for the model in use. */
export interface SentDocument extends Pick<ParsedDocument, 'text' | 'pages'> {
  chunks: string[];
}

/** Waiting documents are held in memory. */
const MOST_WAITING = 16;
/** A conversation sends its documents again with every question. */
const MOST_KEPT = 64;
/** Each takes seconds. */
const MOST_RECOGNISED = 20;
const MOST_UNITS_KEPT = 16 * 1024 * 1024;

/** Documents sent with a question that belong to no library. They are read and chunked as those of libraries are. */
export class SentDocuments {
  readonly #options: SentDocumentsOptions;
  readonly #read = new RecentStore<ParsedDocument>(MOST_KEPT, MOST_UNITS_KEPT);
  readonly #closing = new AbortController();
  #waiting = 0;

  constructor(options: SentDocumentsOptions) {
    this.#options = options;
  }

  close(): void {
    this.#closing.abort();
    this.#options.parser.close();
  }

  /** Every DOCUMENT_… code, CONFLICT when too many wait, ABORTED, and the reason why there is no model. */
  async read(file: SentFile, stop: AbortSignal): Promise<SentDocument> {
    const signal = AbortSignal.any([stop, this.#closing.signal]);
    throwIfAborted(signal);
    const parsed = await this.#parsed(file, signal);
    for (;;) {
      const chunks = await this.#cut(parsed, file, await this.#options.models.current(), signal);
      if (chunks) return { text: parsed.text, pages: parsed.pages, chunks };
    }
  }

  /**
   * undefined when the model was unloaded: nothing holds it here, so that it may be replaced, and its memory freed, at every yield. The
   * document is then chunked again for the next model.
   */
  async #cut(
    { text, headings }: ParsedDocument,
    { format }: SentFile,
    { model, chunkTokens }: ChunkingModel,
    signal: AbortSignal,
  ): Promise<string[] | undefined> {
    const chunks: string[] = [];
    const slice = new TimeSlice();
    const options = {
      kind: textKindOf(format),
      headings: headings?.map(({ start, level, title }): Heading => [start, level, title]) ?? null,
    };
    const cutting = chunkText(text, (piece) => model.tokenize(piece), chunkTokens, options);
    while (this.#options.models.active?.model === model) {
      const next = cutting.next();
      if (next.done === true) return chunks;
      chunks.push(next.value.text);
      await slice.step(signal);
    }
    return undefined;
  }

  async #parsed(file: SentFile, signal: AbortSignal): Promise<ParsedDocument> {
    const hash = createHash('sha256').update(file.bytes).digest('hex');
    const known = this.#read.get(hash);
    if (known) return known;
    if (this.#waiting >= MOST_WAITING) throw tooMany();
    this.#waiting++;
    try {
      const maxBytes = this.#options.settings.current.maxFileBytes;
      const request = { ...file, path: '', maxBytes };
      const outcome = await this.#options.parser.parse({ ...request, knownSha256: undefined }, signal);
      if (outcome.kind !== 'parsed') throw new Error('a document that nothing is known of is unchanged');
      const document = await this.#recognised(outcome.document, request, signal);
      this.#read.keep(hash, document, document.text.length);
      return document;
    } finally {
      this.#waiting--;
    }
  }

  /** With the text of the first pages that are pictures: somebody waits. DOCUMENT_NO_TEXT. */
  async #recognised(
    document: ParsedDocument,
    file: { path: string; name: string; format: string; bytes: Uint8Array; maxBytes: number },
    signal: AbortSignal,
  ): Promise<ParsedDocument> {
    const { parser, settings } = this.#options;
    const pictures = document.pages.flatMap((page, i) => (isScan(page) ? [i] : []));
    if (pictures.length === 0) return document;
    const scans = new Map<number, RecognisedPage>();
    for (const page of settings.current.recognise ? pictures.slice(0, MOST_RECOGNISED) : []) {
      const found = await parser.recognise({ ...file, page, sha256: '' }, signal);
      if (found.page) scans.set(page, found.page);
    }
    const merged = mergeScans(document, scans);
    if (merged.text === '') throw noText(file.name, 'no text was recognised on its pages');
    return { ...document, ...merged };
  }
}

function tooMany(): KvasirError {
  const message = `${MOST_WAITING} documents of other requests are already waiting to be read.`;
  return new KvasirError('CONFLICT', message, 'Try again later.');
}
