import { deflateRaw, inflateRawSync } from 'node:zlib';
import { promisify } from 'node:util';
import type { Database } from '../platform/database.ts';

const deflate = promisify(deflateRaw);

/** UTF-16 units in a block: small enough that a page of text is read quickly wherever it is. */
const BLOCK_UNITS = 65_536;

/** A text ready to be stored. */
interface PackedText {
  length: number;
  blocks: readonly Buffer[];
}

/** Compresses a text, off the main thread. */
export async function packText(text: string): Promise<PackedText> {
  const blocks: Buffer[] = [];
  for (let start = 0; start < text.length; start += BLOCK_UNITS) {
    // UTF-16, since a block may end in the middle of a pair of units.
    blocks.push(await deflate(Buffer.from(text.slice(start, start + BLOCK_UNITS), 'utf16le'), { level: 5 }));
  }
  return { length: text.length, blocks };
}

/** The extracted text of documents, so that showing one and chunking it again need no parser. */
export class TextTable {
  readonly #sql: Database;
  /** Line ends in each block of one document, as far as they were counted. */
  #lineEnds: { id: number; counts: number[] } = { id: -1, counts: [] };

  constructor(sql: Database) {
    this.#sql = sql;
  }

  put(documentId: number, text: PackedText): void {
    this.remove(documentId);
    const sql = 'INSERT INTO text_block (document_id, block, data) VALUES (?, ?, ?)';
    text.blocks.forEach((data, block) => this.#sql.run(sql, documentId, block, data));
  }

  remove(documentId: number): void {
    if (this.#lineEnds.id === documentId) this.#lineEnds = { id: -1, counts: [] };
    this.#sql.run('DELETE FROM text_block WHERE document_id = ?', documentId);
  }

  /** At most `limit` UTF-16 units from `offset` on. */
  slice(documentId: number, offset: number, limit: number): string {
    const first = Math.floor(offset / BLOCK_UNITS);
    const last = Math.floor((offset + limit - 1) / BLOCK_UNITS);
    const query =
      'SELECT data FROM text_block WHERE document_id = ? AND block BETWEEN ? AND ? ORDER BY block';
    const blocks = this.#sql.column<Buffer>(query, documentId, first, last);
    const text = blocks.map((data) => inflateRawSync(data).toString('utf16le')).join('');
    const from = offset - first * BLOCK_UNITS;
    return text.slice(from, from + limit);
  }

  /** Line ends before an offset. */
  lineEnds(documentId: number, offset: number): number {
    if (this.#lineEnds.id !== documentId) this.#lineEnds = { id: documentId, counts: [] };
    const { counts } = this.#lineEnds;
    const last = Math.floor(offset / BLOCK_UNITS);
    for (let block = counts.length; block < last; block++)
      counts.push(lineEndsIn(this.#block(documentId, block) ?? ''));
    const before = this.#block(documentId, last)?.slice(0, offset - last * BLOCK_UNITS) ?? '';
    return counts.slice(0, last).reduce((sum, count) => sum + count, 0) + lineEndsIn(before);
  }

  /** The whole text, a block at a time. */
  *blocks(documentId: number): Generator<string> {
    for (let block = 0; ; block++) {
      const text = this.#block(documentId, block);
      if (text === undefined) return;
      yield text;
    }
  }

  #block(documentId: number, block: number): string | undefined {
    const query = 'SELECT data FROM text_block WHERE document_id = ? AND block = ?';
    const data = this.#sql.value<Buffer>(query, documentId, block);
    return data && inflateRawSync(data).toString('utf16le');
  }
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
