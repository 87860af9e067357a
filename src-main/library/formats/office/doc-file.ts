import type { XmlElement } from '../xml.ts';
import { docNumbering } from './doc-lists.ts';

/** Reads the structures of a Word 97 document ([MS-DOC]): its text, in the order of the document, and how it is formatted. */

/** What a paragraph's formatting says, at its mark. */
interface DocParagraph {
  /** 0 for text. */
  level: number;
  inTable: boolean;
  endsRow: boolean;
  /** The instance of a list that numbers it; 0 for none. */
  list: number;
  /** Its level in the list, from 0. */
  listLevel: number;
}

/** How a character is marked; of several, the last. */
export const HIDDEN = 1;
export const DELETED = 2;
export const INSERTED = 3;
export const SYMBOL = 4;

interface Piece {
  start: number;
  end: number;
  /** Offset in the stream. */
  offset: number;
  bytesPerLetter: 1 | 2;
}

interface Run {
  from: number;
  to: number;
  formatting: Buffer;
}

/** Positions of the file's tables in its header ([MS-DOC] 2.5.6). */
const TABLES = {
  styles: 0xa2,
  footnoteReferences: 0xaa,
  footnotes: 0xb2,
  commentReferences: 0xba,
  comments: 0xc2,
  headers: 0xf2,
  characters: 0xfa,
  paragraphs: 0x102,
  pieces: 0x1a2,
  endnoteReferences: 0x20a,
  endnotes: 0x212,
  lists: 0x2e2,
  listInstances: 0x2ea,
};

const PAGE_BYTES = 512;

export class DocFile {
  readonly text: string;
  /** A mark for each character. */
  readonly marks: Uint8Array;
  /** Lengths of the parts of the text. */
  readonly lengths: Record<'body' | 'footnotes' | 'headers' | 'comments' | 'endnotes' | 'boxes', number>;
  readonly #document: Buffer;
  readonly #table: Buffer;
  readonly #pieces: Piece[];
  readonly #paragraphs: Run[];
  /** What each style says of its paragraphs. */
  readonly #styles: DocParagraph[];

  /** RangeError if it is damaged. */
  constructor(document: Buffer, table: Buffer) {
    this.#document = document;
    this.#table = table;
    this.#pieces = this.#readPieces();
    this.text = this.#pieces.map((piece) => this.#pieceText(piece)).join('');
    this.marks = new Uint8Array(this.text.length);
    const length = (at: number): number => document.readInt32LE(at);
    this.lengths = {
      body: length(0x4c),
      footnotes: length(0x50),
      headers: length(0x54),
      comments: length(0x5c),
      endnotes: length(0x60),
      boxes: length(0x64),
    };
    for (const run of this.#runs(TABLES.characters, 1)) this.#mark(run);
    this.#paragraphs = this.#runs(TABLES.paragraphs, 13);
    this.#styles = this.#readStyles();
  }

  /** Positions that begin a table of the file, such as the references of notes. `dataBytes`: what follows for each. */
  positions(
    table:
      | 'footnoteReferences'
      | 'footnotes'
      | 'commentReferences'
      | 'comments'
      | 'headers'
      | 'endnoteReferences'
      | 'endnotes',
    dataBytes: number,
  ): number[] {
    const bytes = this.#slice(TABLES[table]);
    const count = Math.max(Math.floor((bytes.length - 4) / (4 + dataBytes)), -1) + 1;
    return Array.from({ length: count }, (_, i) => bytes.readUInt32LE(i * 4));
  }

  /** The formatting of the paragraph whose mark is here. */
  paragraphAt(position: number): DocParagraph {
    const run = this.#runAt(this.#offsetOf(position));
    if (!run || run.formatting.length < 2) return PLAIN;
    const style = this.#styles[run.formatting.readUInt16LE(0)] ?? PLAIN;
    return applyModifiers(style, run.formatting, 2);
  }

  /** As the numbering part of a newer document; without lists if they are damaged. */
  numbering(): XmlElement | undefined {
    if (this.#document.length < TABLES.listInstances + 8) return undefined;
    try {
      const lists = this.#slice(TABLES.lists).length === 0 ? -1 : this.#document.readUInt32LE(TABLES.lists);
      return docNumbering(this.#table, lists, this.#slice(TABLES.listInstances));
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #slice(at: number): Buffer {
    const start = this.#document.readUInt32LE(at);
    return this.#table.subarray(start, start + this.#document.readUInt32LE(at + 4));
  }

  /** The piece table (2.9.38): where the text's parts lie. */
  #readPieces(): Piece[] {
    const bytes = this.#slice(TABLES.pieces);
    let at = 0;
    while (bytes[at] === 1) at += 3 + bytes.readUInt16LE(at + 1);
    const count = Math.floor((bytes.readUInt32LE(at + 1) - 4) / 12);
    at += 5;
    const pieces: Piece[] = [];
    for (let i = 0; i < count; i += 1) {
      const place = bytes.readUInt32LE(at + (count + 1) * 4 + i * 8 + 2);
      const isBytes = (place & 0x40000000) !== 0;
      const offset = isBytes ? (place & 0x3fffffff) >> 1 : place & 0x3fffffff;
      const [start, end] = [bytes.readUInt32LE(at + i * 4), bytes.readUInt32LE(at + i * 4 + 4)];
      if (end < start || end - start > this.#document.length) throw new RangeError('damaged piece table');
      pieces.push({ start, end, offset, bytesPerLetter: isBytes ? 1 : 2 });
    }
    return pieces;
  }

  #pieceText({ start, end, offset, bytesPerLetter }: Piece): string {
    const bytes = this.#document.subarray(offset, offset + (end - start) * bytesPerLetter);
    const text =
      bytesPerLetter === 2 ? bytes.toString('utf16le') : new TextDecoder('windows-1252').decode(bytes);
    return text.padEnd(end - start, ' ');
  }

  /** Formatting of all characters or paragraphs (2.9.33, 2.9.23): pages of runs, `entryBytes` for each. */
  #runs(table: number, entryBytes: 1 | 13): Run[] {
    const bytes = this.#slice(table);
    const count = Math.floor((bytes.length - 4) / 8);
    const runs: Run[] = [];
    for (let i = 0; i < count; i += 1) {
      const page = (bytes.readUInt32LE((count + 1) * 4 + i * 4) & 0x3fffff) * PAGE_BYTES;
      const block = this.#document.subarray(page, page + PAGE_BYTES);
      const entries = block[PAGE_BYTES - 1] ?? 0;
      for (let j = 0; j < entries; j += 1) {
        const start = (block[(entries + 1) * 4 + j * entryBytes] ?? 0) * 2;
        const size = block[start] ?? 0;
        // A paragraph's size counts words, and 0 means that it is in the next byte.
        const [from, length] =
          entryBytes === 1
            ? [start + 1, size]
            : size === 0
              ? [start + 2, (block[start + 1] ?? 0) * 2]
              : [start + 1, size * 2 - 1];
        const formatting = start === 0 ? Buffer.alloc(0) : block.subarray(from, from + length);
        runs.push({ from: block.readUInt32LE(j * 4), to: block.readUInt32LE(j * 4 + 4), formatting });
      }
    }
    return runs.sort((a, b) => a.from - b.from);
  }

  #mark({ from, to, formatting }: Run): void {
    let mark = 0;
    for (const [code, at] of modifiers(formatting, 0)) {
      const isOn = formatting[at] !== 0;
      if (code === 0x0801 && isOn && mark === 0) mark = INSERTED;
      if (code === 0x6a09) mark = SYMBOL;
      if (code === 0x083c && isOn) mark = HIDDEN;
      if (code === 0x0800 && isOn) mark = DELETED;
    }
    if (mark === 0) return;
    for (const { start, end, offset, bytesPerLetter } of this.#pieces) {
      const first = Math.max(Math.ceil((from - offset) / bytesPerLetter), 0);
      const last = Math.min(Math.ceil((to - offset) / bytesPerLetter), end - start);
      if (first < last) this.marks.fill(mark, start + first, start + last);
    }
  }

  #offsetOf(position: number): number {
    const piece = this.#pieces.find(({ start, end }) => position >= start && position < end);
    return piece ? piece.offset + (position - piece.start) * piece.bytesPerLetter : -1;
  }

  #runAt(offset: number): Run | undefined {
    let [low, high] = [0, this.#paragraphs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#paragraphs[middle]?.from ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    const run = this.#paragraphs[low - 1];
    return run && offset < run.to ? run : undefined;
  }

  /** Styles (2.9.271): built-in ones 1 to 9 are headings, 62 the title. Each takes over from the one that it is based on. */
  #readStyles(): DocParagraph[] {
    const bytes = this.#slice(TABLES.styles);
    if (bytes.length < 6) return [];
    const baseBytes = bytes.readUInt16LE(4);
    const own: { base: number; formatting: Buffer; level: number }[] = [];
    let at = 2 + bytes.readUInt16LE(0);
    for (let i = 0; at + 2 <= bytes.length; i += 1) {
      const style = bytes.subarray(at + 2, at + 2 + bytes.readUInt16LE(at));
      if (style.length >= 10) {
        const builtIn = style.readUInt16LE(0) & 0xfff;
        const level = builtIn >= 1 && builtIn <= 9 ? builtIn : builtIn === 62 ? 1 : 0;
        own[i] = { base: style.readUInt16LE(2) >> 4, formatting: styleFormatting(style, baseBytes), level };
      }
      at += 2 + style.length + (style.length % 2);
    }
    const resolve = (i: number, depth: number): DocParagraph => {
      const style = own[i];
      if (!style || depth > 20) return PLAIN;
      const base = style.base === i ? PLAIN : resolve(style.base, depth + 1);
      return applyModifiers({ ...base, level: style.level || base.level }, style.formatting, 2);
    };
    return Array.from(own, (_, i) => resolve(i, 0));
  }
}

const PLAIN: DocParagraph = { level: 0, inTable: false, endsRow: false, list: 0, listLevel: 0 };

/** A style's formatting of paragraphs: behind its name, a length, a style's number and modifiers (2.9.260). */
function styleFormatting(style: Buffer, baseBytes: number): Buffer {
  const isParagraphStyle = (style.readUInt16LE(2) & 15) === 1;
  if (!isParagraphStyle || baseBytes + 2 > style.length) return Buffer.alloc(0);
  const at = baseBytes + 2 + (style.readUInt16LE(baseBytes) + 1) * 2;
  if (at + 2 > style.length) return Buffer.alloc(0);
  return style.subarray(at + 2, at + 2 + style.readUInt16LE(at));
}

function applyModifiers(base: DocParagraph, bytes: Buffer, start: number): DocParagraph {
  const paragraph = { ...base };
  for (const [code, at] of modifiers(bytes, start)) {
    const value = bytes[at] ?? 0;
    if (code === 0x2416) paragraph.inTable = value !== 0;
    if (code === 0x2417) paragraph.endsRow = value !== 0;
    if (code === 0x2640) paragraph.level = (value + 1) % 10;
    if (code === 0x260a) paragraph.listLevel = value;
    if (code === 0x460b && at + 2 <= bytes.length) paragraph.list = Math.max(bytes.readInt16LE(at), 0);
  }
  return paragraph;
}

/** Single property modifiers (2.6.1): their codes and where their operands begin. */
function* modifiers(bytes: Buffer, start: number): Generator<[code: number, at: number]> {
  for (let at = start; at + 3 <= bytes.length;) {
    const code = bytes.readUInt16LE(at);
    yield [code, at + 2];
    at += 2 + operandBytes(code, bytes, at + 2);
  }
}

function operandBytes(code: number, bytes: Buffer, at: number): number {
  const kind = code >> 13;
  if (kind === 6) return code === 0xd608 ? bytes.readUInt16LE(at) + 1 : (bytes[at] ?? 0) + 1;
  return [1, 1, 2, 4, 2, 2, 0, 3][kind] ?? 1;
}
