import { localName, readXml } from '../xml.ts';
import { shownNumber } from './cell-value.ts';
import { cellName, type Range, type Sheet } from './sheet.ts';
import type { CellStyle } from './styles.ts';

export interface CellContext {
  strings: readonly string[];
  styles: readonly CellStyle[];
  date1904: boolean;
}

type Attributes = Readonly<Record<string, string>>;

/** The last row and column that a sheet can have (ECMA-376 part 1, 18.18.62 and Excel's limits). */
const MAX_ROW = 1_048_576;
const MAX_COLUMN = 16_384;

/** Reads a sheet's part as a stream: it may be large (ECMA-376 part 1, 18.3.1.99). */
export function readCells(xml: string, sheet: Sheet, context: CellContext): void {
  const reader = new CellReader(sheet, context);
  readXml(xml, {
    open: (name, attributes) => reader.open(localName(name), attributes),
    text: (text, inside) => reader.text(text, inside),
    close: (name) => reader.close(localName(name)),
  });
}

class CellReader {
  readonly #sheet: Sheet;
  readonly #context: CellContext;
  #row = -1;
  #column = -1;
  #type = 'n';
  #style: CellStyle | undefined;
  #value = '';
  #formula: string | undefined;
  /** Cells in the row with text, and how many of them are bold. */
  #cells = 0;
  #bold = 0;

  constructor(sheet: Sheet, context: CellContext) {
    this.#sheet = sheet;
    this.#context = context;
  }

  open(name: string, attributes: Attributes): void {
    switch (name) {
      case 'row':
        return this.#openRow(attributes);
      case 'c':
        return this.#openCell(attributes);
      case 'f':
        this.#formula = '';
        return;
      case 'col':
        return this.#hideColumns(attributes);
      case 'mergeCell': {
        const range = rangeOf(attributes['ref'] ?? '');
        if (range) this.#sheet.merges.push(range);
        return;
      }
      case 'autoFilter': {
        const range = rangeOf(attributes['ref'] ?? '');
        if (range) this.#sheet.headerRows.add(range.top);
      }
    }
  }

  text(text: string, inside: readonly string[]): void {
    const name = localName(inside.at(-1) ?? '');
    if (name === 'v' || (name === 't' && localName(inside.at(-2) ?? '') !== 'rPh')) this.#value += text;
    else if (name === 'f') this.#formula = (this.#formula ?? '') + text;
  }

  close(name: string): void {
    if (name === 'c') this.#closeCell();
    else if (name === 'row' && this.#cells > 1 && this.#bold === this.#cells)
      this.#sheet.headerRows.add(this.#row);
  }

  /** Rows and cells without a reference follow the one before (18.3.1.4, 18.3.1.73). */
  #openRow({ r, hidden, ht }: Attributes): void {
    this.#row = r === undefined ? this.#row + 1 : Number(r) - 1;
    this.#column = -1;
    this.#cells = 0;
    this.#bold = 0;
    if (isOn(hidden) || ht === '0') this.#sheet.hiddenRows.add(this.#row);
  }

  #openCell({ r, t, s }: Attributes): void {
    this.#column = r === undefined ? this.#column + 1 : columnOf(r);
    this.#type = t ?? 'n';
    this.#style = this.#context.styles[Number(s ?? 0)];
    this.#value = '';
    this.#formula = undefined;
  }

  #closeCell(): void {
    const [row, column] = [this.#row, this.#column];
    if (!(row >= 0 && row < MAX_ROW && column >= 0 && column < MAX_COLUMN)) return;
    let text = this.#shown();
    if (this.#value === '' && this.#formula !== undefined && this.#type !== 'str') {
      text = this.#formula === '' ? '(formula)' : `=${this.#formula}`;
      this.#sheet.uncomputed.push(cellName(row, column));
    }
    if (text.trim() === '') return;
    this.#sheet.set(row, column, text);
    this.#cells++;
    if (this.#style?.bold) this.#bold++;
  }

  /** The cell as the program shows it (18.18.11). */
  #shown(): string {
    const value = this.#value;
    switch (this.#type) {
      case 's':
        return this.#context.strings[Number(value)] ?? '';
      case 'inlineStr':
      case 'str':
        return unescapeUnits(value);
      case 'b':
        return value === '' ? '' : isOn(value.trim()) ? 'TRUE' : 'FALSE';
      case 'd':
        return value.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '').replace('T', ' ');
      case 'e':
        return value;
      default: {
        const number = Number(value);
        if (value.trim() === '' || Number.isNaN(number)) return value;
        return shownNumber(number, this.#style?.format ?? '', this.#context.date1904);
      }
    }
  }

  #hideColumns({ min, max, hidden, width }: Attributes): void {
    if (!isOn(hidden) && width !== '0') return;
    const last = Math.min(Number(max ?? min), MAX_COLUMN);
    for (let column = Number(min); column <= last; column++) this.#sheet.hiddenColumns.add(column - 1);
  }
}

function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on';
}

/** Escapes of characters that XML cannot have (ECMA-376 part 1, 22.4.2.4). */
export function unescapeUnits(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The cells of a reference such as `B2` or `$A$1:D7`; undefined for others. */
export function rangeOf(ref: string): Range | undefined {
  const match = /^\$?([A-Z]{1,3})\$?(\d+)(?::\$?([A-Z]{1,3})\$?(\d+))?$/.exec(ref);
  if (!match) return undefined;
  const [, first = '', top = '', last = first, bottom = top] = match;
  return { top: Number(top) - 1, left: columnOf(first), bottom: Number(bottom) - 1, right: columnOf(last) };
}

function columnOf(ref: string): number {
  let column = 0;
  for (const letter of /^[A-Z]+/i.exec(ref)?.[0].toUpperCase() ?? '')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
