import { createHash } from 'node:crypto';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { Heading } from '../catalogue/document-table.ts';
import type { FusionModel } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { RecentStore } from '../platform/recent-store.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { textKindOf } from './formats/formats.ts';
import type { ParsedDocument } from './formats/format.ts';
import type { Parser } from './parser/parser-process.ts';
import { chunkText } from './queue/chunker.ts';

/** The model that documents are cut for. */
interface CuttingModel {
  model: Pick<FusionModel, 'tokenize'>;
  chunkTokens: number;
}

interface SentDocumentsOptions {
  parser: Parser;
  settings: { readonly current: Pick<Settings, 'maxFileBytes'> };
  models: { current(): Promise<CuttingModel>; readonly active: CuttingModel | undefined };
}

/** A document as it is sent. */
interface SentFile {
  bytes: Uint8Array;
  /** For messages. */
  name: string;
  format: 'pdf';
}

/** What a document says, and the texts that it is cut into for the model in use. */
export interface SentDocument extends Pick<ParsedDocument, 'text' | 'pages'> {
  chunks: string[];
}

/** They are in memory while they wait. */
const MOST_WAITING = 16;
/** A conversation sends its documents again with every question. */
const MOST_KEPT = 64;
const MOST_UNITS_KEPT = 16 * 1024 * 1024;

/** Documents that come with a question and belong to no library. They are read and cut as those of libraries are. */
export class SentDocuments {
  readonly #options: SentDocumentsOptions;
  /** What was read, by the hash of its bytes. */
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

  /** Every DOCUMENT_… code, CONFLICT when too many wait, ABORTED, and why there is no model. */
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
   * undefined when the model has gone: nobody holds it here, so that it may be replaced, and its memory be freed, whenever others are
   * let run. It is then cut anew for the next.
   */
  async #cut(
    { text, headings }: ParsedDocument,
    { format }: SentFile,
    { model, chunkTokens }: CuttingModel,
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
      const request = { ...file, path: '', maxBytes, knownSha256: undefined };
      const outcome = await this.#options.parser.parse(request, signal);
      if (outcome.kind !== 'parsed') throw new Error('a document that nothing is known of is unchanged');
      this.#read.keep(hash, outcome.document, outcome.document.text.length);
      return outcome.document;
    } finally {
      this.#waiting--;
    }
  }
}

function tooMany(): KvasirError {
  const message = `${MOST_WAITING} documents of other requests wait to be read already.`;
  return new KvasirError('CONFLICT', message, 'Try again in a while.');
}
