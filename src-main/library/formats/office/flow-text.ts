import { tableText } from '../tables/table.ts';
import { oneLine, TextBlocks } from './blocks.ts';

/** One stream of text whose paragraphs, cells and rows are told by marks at their ends, as in RTF and old Word documents. */
export class FlowText {
  readonly out = new TextBlocks();
  /** What has been read of the current paragraph. */
  line = '';
  /** Visible number of the current paragraph. */
  number = '';
  /** 0 for text. */
  level = 0;
  inTable = false;
  /** Cells of the current row's definition that go on with the one above. */
  merged: boolean[] = [];
  /** Notes and text boxes follow their paragraph. */
  after: string[] = [];
  #cell: string[] = [];
  #row: string[] = [];
  #rows: string[][] = [];
  /** Notes of the table's cells. */
  #tableNotes: string[] = [];

  paragraph(): void {
    const text = this.#take();
    if (this.inTable) {
      this.#cell.push(text);
      return;
    }
    this.#table();
    if (this.level > 0 && text.trim() !== '')
      this.out.heading(this.level, `${this.number === '-' ? '' : this.number} ${text}`);
    else if (this.number !== '') this.out.item(this.number, text);
    else this.out.paragraph(text);
    this.number = '';
    for (const note of this.after.splice(0)) this.out.paragraph(note);
  }

  cell(): void {
    this.#cell.push(this.#take());
    this.#tableNotes.push(...this.after.splice(0));
    this.#row.push(this.#cell.filter((line) => line.trim() !== '').join('\n'));
    this.#cell = [];
  }

  row(): void {
    const above = this.#rows.at(-1);
    this.#rows.push(this.#row.map((text, i) => (this.merged[i] === true ? (above?.[i] ?? text) : text)));
    this.#row = [];
  }

  end(): TextBlocks {
    this.inTable = false;
    if (this.#cell.length > 0 || this.#row.length > 0) this.cell();
    if (this.#row.length > 0) this.row();
    this.paragraph();
    return this.out;
  }

  #take(): string {
    const text = this.inTable && this.number !== '' ? `${this.number} ${this.line}` : this.line;
    if (this.inTable) this.number = '';
    this.line = '';
    return text;
  }

  #table(): void {
    if (this.#rows.length === 0) return;
    const isFrame = this.#rows.every((row) => row.length <= 1);
    if (isFrame) for (const [only = ''] of this.#rows) this.out.paragraph(only);
    else this.out.paragraph(tableText(this.#rows.map((row) => row.map(oneLine))));
    this.#rows = [];
    for (const note of this.#tableNotes.splice(0)) this.out.paragraph(note);
  }
}
