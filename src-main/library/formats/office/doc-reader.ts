import { oneLine, Remarks, type TextBlocks } from './blocks.ts';
import { DELETED, HIDDEN, INSERTED, SYMBOL, type DocFile } from './doc-file.ts';
import { FlowText } from './flow-text.ts';
import { PAGE_NUMBER } from './page-numbers.ts';
import { formatNumber, WordNumbers } from './word-numbers.ts';

/** Characters with a meaning ([MS-DOC] 2.4.1). */
const CELL = '\x07';
const PARAGRAPH = '\r';
const FIELD_BEGIN = '\x13';
const FIELD_RESULT = '\x14';
const FIELD_END = '\x15';
const SHOWN: Readonly<Record<string, string>> = { '\x0b': '\n', '\x1e': '-', '\x0e': '\n', '\t': '\t' };

/** Reads the parts of a Word 97 document as they are shown. */
export class DocReader {
  readonly remarks = new Remarks();
  readonly #file: DocFile;
  readonly #numbers: WordNumbers;
  /** Notes and comments by the position of their reference. */
  readonly #notes = new Map<number, { mark: string; text: () => string }>();
  readonly #starts: Record<'footnotes' | 'headers' | 'comments' | 'endnotes' | 'boxes', number>;
  #isEdge = false;

  constructor(file: DocFile) {
    this.#file = file;
    this.#numbers = new WordNumbers(file.numbering(), () => undefined);
    const { body, footnotes, headers, comments, endnotes } = file.lengths;
    this.#starts = {
      footnotes: body,
      headers: body + footnotes,
      comments: body + footnotes + headers,
      endnotes: body + footnotes + headers + comments,
      boxes: body + footnotes + headers + comments + endnotes,
    };
    this.#collect('footnoteReferences', 2, 'footnotes', (i) => `[${i + 1}]`);
    this.#collect('endnoteReferences', 2, 'endnotes', (i) => `[${formatNumber(i + 1, 'lowerRoman')}]`);
    this.#collect('commentReferences', 30, 'comments', () => '');
  }

  /** The document with its notes, then its text boxes, whose places are not read. */
  body(): TextBlocks {
    const out = this.#read(0, this.#file.lengths.body);
    const boxes = this.#read(this.#starts.boxes, this.#starts.boxes + this.#file.lengths.boxes);
    out.include(boxes.text, boxes.headings);
    return out;
  }

  /** Six stories for each section, after six of separators (2.8.22). */
  edges(): { kind: 'headers' | 'footers'; text: string }[] {
    const positions = this.#file.positions('headers', 0);
    this.#isEdge = true;
    const edges = positions.slice(6, -1).map((start, i) => ({
      kind: [2, 3, 5].includes(i % 6) ? ('footers' as const) : ('headers' as const),
      text: this.#read(this.#starts.headers + start, this.#starts.headers + (positions[i + 7] ?? start)).text,
    }));
    this.#isEdge = false;
    return edges;
  }

  #collect(
    references: 'footnoteReferences' | 'endnoteReferences' | 'commentReferences',
    dataBytes: number,
    notes: 'footnotes' | 'endnotes' | 'comments',
    mark: (i: number) => string,
  ): void {
    const bounds = this.#file.positions(notes, 0);
    const start = this.#starts[notes];
    for (const [i, position] of this.#file.positions(references, dataBytes).slice(0, -1).entries()) {
      const [from = 0, to = from] = [bounds[i], bounds[i + 1]];
      this.#notes.set(position, { mark: mark(i), text: () => this.#read(start + from, start + to).text });
    }
  }

  #read(start: number, end: number): TextBlocks {
    const flow = new FlowText();
    const fields: { instruction: string; isShown: boolean }[] = [];
    let last = 0;
    for (let at = start; at < Math.min(end, this.#file.text.length); at += 1) {
      const letter = this.#file.text[at] ?? '';
      const mark = this.#file.marks[at] ?? 0;
      if (mark !== last && letter > ' ') this.#remark(mark);
      if (letter > ' ' || mark === 0) last = mark;
      if (letter === FIELD_BEGIN) fields.push({ instruction: '', isShown: false });
      else if (letter === FIELD_END) fields.pop();
      else if (letter === FIELD_RESULT) {
        const field = fields.at(-1);
        if (field) field.isShown = true;
        if (field && this.#isPageNumber(field.instruction)) flow.line += PAGE_NUMBER;
      } else if (letter === PARAGRAPH || letter === CELL || letter === '\x0c')
        this.#endParagraph(flow, at, letter, mark);
      else if (mark !== HIDDEN && mark !== DELETED && mark !== SYMBOL) {
        const field = fields.at(-1);
        if (field?.isShown === false) field.instruction += letter;
        else if (!(field && this.#isPageNumber(field.instruction)))
          flow.line += this.#letter(flow, at, letter);
      }
    }
    return flow.end();
  }

  #remark(mark: number): void {
    const kind = {
      [HIDDEN]: 'hidden',
      [DELETED]: 'deletion',
      [INSERTED]: 'insertion',
      [SYMBOL]: 'symbol:of the document',
    }[mark];
    if (kind !== undefined) this.remarks.add(kind);
  }

  #isPageNumber(instruction: string): boolean {
    return this.#isEdge && /^\s*(PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(instruction);
  }

  #letter(flow: FlowText, at: number, letter: string): string {
    const note = this.#notes.get(at);
    if (note && (letter === '\x02' || letter === '\x05' || letter > ' ')) {
      this.#notes.delete(at);
      const text = note.text();
      if (text !== '')
        flow.after.push(note.mark === '' ? `[Comment: ${oneLine(text)}]` : `${note.mark} ${text}`);
      return letter > ' ' ? letter : note.mark;
    }
    return letter >= ' ' ? letter : (SHOWN[letter] ?? '');
  }

  #endParagraph(flow: FlowText, at: number, letter: string, mark: number): void {
    if (letter === PARAGRAPH && (mark === DELETED || mark === HIDDEN)) return;
    if (letter === '\x0c' && flow.line.trim() === '') return;
    const { level, inTable, endsRow, list, listLevel } = this.#file.paragraphAt(at);
    Object.assign(flow, { level, inTable: inTable || letter === CELL });
    if (list > 0 && !endsRow) flow.number = this.#numbers.next(String(list), listLevel);
    if (letter !== CELL) flow.paragraph();
    else if (endsRow) flow.row();
    else flow.cell();
  }
}
