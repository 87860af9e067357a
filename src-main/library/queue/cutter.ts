import { yieldToEventLoop } from '../../platform/abort.ts';
import type { FusionModel } from '../../fusion/model.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { TextChunk } from '../../catalogue/chunk-table.ts';
import { chunkText } from './chunker.ts';
import type { DocumentRow } from '../../catalogue/document-table.ts';
import { headingsBelow, leadsOf } from './leads.ts';
import { unchangedChunks } from './unchanged-chunks.ts';
import { textKindOf } from '../formats/formats.ts';
import { sameTokens } from '../../platform/token-bytes.ts';
import { TimeSlice } from '../../platform/time-slice.ts';

/** The model, chunk size and set that chunks are created for. */
interface CutTarget {
  chunkSetId: number;
  chunkTokens: number;
  model: Pick<FusionModel, 'tokenize'>;
}

type CutChunk = Parameters<Catalogue['chunkTable']['insert']>[2];

type ExistingChunk = ReturnType<Catalogue['chunkTable']['existing']>[number];

/**
 * The second step of a document: from its text to its chunks. Chunk boundaries of an earlier version are kept where its text still occurs,
 * and chunks with unchanged text keep their rows: an edit changes only what it touches. If killed midway, the step is simply repeated.
 */
export class DocumentCutter {
  readonly #catalogue: Catalogue;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** Brings a document's chunks in one set up to date with its text. ABORTED, DISK_FULL, STORE_READ_ONLY, BAD_ARGUMENT. */
  async cut(document: DocumentRow, target: CutTarget, signal?: AbortSignal): Promise<void> {
    const { chunkTable } = this.#catalogue;
    const { chunkSetId } = target;
    const known = chunkTable.chunkedHash(chunkSetId, document.id);
    if (known === document.sha256) return;
    await this.#dropOtherVersions(document, chunkSetId, signal);
    const existing = chunkTable.existing(chunkSetId, document.id);
    const cut = await this.#chunks(document, target, existing, signal);
    const chunks: CutChunk[] = [];
    const slice = new TimeSlice();
    for (const lead of leadsOf(cut, { ...target, title: document.title })) {
      const ordinal = chunks.length;
      chunks.push(asRow(document, cut[ordinal] as TextChunk, ordinal, lead));
      await slice.step(signal);
    }
    chunkTable.begin(chunkSetId, document.id);
    await this.#store(document, chunkSetId, existing, chunks, signal);
    const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens.length, 0);
    chunkTable.finish(chunkSetId, document.id, document.sha256, chunks.length, tokens);
  }

  async #chunks(
    document: DocumentRow,
    { model, chunkTokens }: CutTarget,
    existing: readonly ExistingChunk[],
    signal: AbortSignal | undefined,
  ): Promise<TextChunk[]> {
    const slice = new TimeSlice();
    const text = await this.#text(document.id, slice, signal);
    const search = unchangedChunks(text, existing);
    let found = search.next();
    for (; !found.done; found = search.next()) await slice.step(signal);
    const chunks: TextChunk[] = [];
    const tokenize = (piece: string): Int32Array => model.tokenize(piece);
    const headings = this.#catalogue.documents.headings(document.id);
    const options = { kind: textKindOf(document.format), headings, kept: found.value };
    for (const chunk of chunkText(text, tokenize, chunkTokens, options)) {
      chunks.push(chunk);
      await slice.step(signal);
    }
    return chunks;
  }

  async #text(documentId: number, slice: TimeSlice, signal: AbortSignal | undefined): Promise<string> {
    const parts: string[] = [];
    for (const part of this.#catalogue.texts.blocks(documentId)) {
      parts.push(part);
      await slice.step(signal);
    }
    return parts.join('');
  }

  /** Chunks that other sets created from an older text are never served; they are created again when their model is in use. */
  async #dropOtherVersions(
    document: DocumentRow,
    chunkSetId: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { chunkTable } = this.#catalogue;
    const slice = new TimeSlice();
    while (chunkTable.removeStale(document.id, document.sha256, chunkSetId, 50) > 0) await slice.step(signal);
  }

  /** Makes the rows match the chunks, with as few changes as possible, in short transactions. */
  async #store(
    document: DocumentRow,
    chunkSetId: number,
    existing: readonly ExistingChunk[],
    chunks: readonly CutChunk[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { reused, unused } = match(existing, chunks);
    const { chunkTable, kvKeys } = this.#catalogue;
    await this.#steps(unused, ({ id }) => chunkTable.remove(id), signal);
    // Positions are unique: rows that move use a negative position until the others have left.
    const moving = chunks.flatMap((chunk, ordinal) => {
      const row = reused.get(ordinal);
      const same = row?.ordinal === ordinal && row.start === chunk.start && row.end === chunk.end;
      return row && !same ? [{ row, ordinal, chunk }] : [];
    });
    await this.#steps(
      moving,
      ({ row, ordinal }) => chunkTable.move(row.id, -1 - ordinal, row.start, row.end),
      signal,
    );
    await this.#steps(
      moving,
      ({ row, ordinal, chunk }) => chunkTable.move(row.id, ordinal, chunk.start, chunk.end),
      signal,
    );
    const led = chunks.flatMap(({ ordinal, lead }) => {
      const row = reused.get(ordinal);
      return row && !sameTokens(row.lead, lead) ? [{ id: row.id, lead }] : [];
    });
    const relead = ({ id, lead }: (typeof led)[number]): void => {
      chunkTable.setLead(id, lead);
      kvKeys.forget(id);
    };
    await this.#steps(led, relead, signal);
    const added = chunks.filter(({ ordinal }) => !reused.has(ordinal));
    await this.#steps(added, (chunk) => chunkTable.insert(chunkSetId, document.id, chunk), signal);
  }

  /** Changes rows in as many transactions as time slices require. */
  async #steps<T>(
    rows: readonly T[],
    change: (row: T) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const slice = new TimeSlice();
    for (let next = 0; next < rows.length;) {
      this.#catalogue.transaction(() => {
        do change(rows[next++] as T);
        while (next < rows.length && !slice.isOver);
      });
      await slice.step(signal);
    }
    await yieldToEventLoop();
  }
}

/** The existing rows that match a chunk, by the chunk's ordinal, and those that match none. */
function match(
  existing: readonly ExistingChunk[],
  chunks: readonly CutChunk[],
): { reused: Map<number, ExistingChunk>; unused: ExistingChunk[] } {
  const identity = (title: string, text: string): string => `${title}\0${text}`;
  const free = Map.groupBy(existing, ({ title, text }) => identity(title, text));
  const reused = new Map<number, ExistingChunk>();
  for (const { title, text, ordinal } of chunks) {
    const row = free.get(identity(title, text))?.shift();
    if (row) reused.set(ordinal, row);
  }
  return { reused, unused: [...free.values()].flat() };
}

function asRow(
  { title }: DocumentRow,
  { start, end, text, tokens, headings }: TextChunk,
  ordinal: number,
  lead: Int32Array,
): CutChunk {
  return { start, end, text, tokens, ordinal, title: headingsBelow(title, headings).join(' › '), lead };
}
