import { encrypted } from '../errors.ts';
import { decodeXml, OfficePackage } from '../office/package.ts';
import type { SourceFile } from '../format.ts';
import { tableText } from '../tables/table.ts';
import { descendants, element, localName, parseXml, readXml, textOf } from '../xml.ts';
import { cellName, Sheet } from './sheet.ts';

type Attributes = Readonly<Record<string, string>>;

/** Equal rows and cells are stored once with their number; files made to exhaust memory claim millions. */
const MAX_REPEATED_CELLS = 200_000;

/** The sheets of an OpenDocument spreadsheet (ODF 1.3 part 3, 9), zipped or as one file. DOCUMENT_ENCRYPTED. */
export async function readOpenDocument(file: SourceFile): Promise<Sheet[]> {
  if (file.bytes.toString('latin1', 0, 2) !== 'PK')
    return new OpenDocumentReader().read(decodeXml(file.bytes));
  const book = await OfficePackage.open(file);
  const manifest = await book.xml('META-INF/manifest.xml');
  if (descendants(manifest, 'encryption-data').length > 0) throw encrypted(file.name);
  const part = async (path: string): Promise<string> => decodeXml((await book.read(path)) ?? Buffer.alloc(0));
  const reader = new OpenDocumentReader();
  const sheets = reader.read(await part('content.xml'));
  for (const [sheet, path] of reader.objects) {
    const text = objectText(await part(`${path}/content.xml`));
    if (text !== '') sheet.drawings.push(text);
    else sheet.warnings.push(`An object in sheet “${sheet.name}” has no text that can be read.`);
  }
  return sheets;
}

/** A chart's title and the table that it keeps (ODF 1.3 part 3, 11). */
function objectText(xml: string): string {
  const chart = element(descendants(parseXml(xml), 'chart')[0], 'chart');
  if (!chart) return '';
  const rows = new OpenDocumentReader().read(xml).flatMap((table) => [...table.rows.values()]);
  const values = rows.map((cells) =>
    Array.from({ length: Math.min(Math.max(...cells.keys()) + 1, 1000) }, (_, i) => cells.get(i) ?? ''),
  );
  const title = textOf(element(chart, 'title')).trim();
  return [`Chart${title === '' ? '' : `: ${title}`}`, tableText(values)].filter(Boolean).join('\n');
}

interface Aside {
  /** A note on the cell, else a shape. */
  isNote: boolean;
  text: string;
  author: string;
  /** Of its element. */
  depth: number;
}

const SHAPES = new Set([
  'frame',
  'custom-shape',
  'text-box',
  'rect',
  'ellipse',
  'circle',
  'polygon',
  'caption',
  'path',
]);

class OpenDocumentReader {
  readonly #sheets: Sheet[] = [];
  /** Embedded objects: the sheet that each lies on, and its folder. */
  readonly objects: [Sheet, string][] = [];
  readonly #hiddenStyles = new Set<string>();
  #style = '';
  #sheet = new Sheet('', false);
  #row = 0;
  #column = 0;
  #columns = 0;
  #rowAttributes: Attributes = {};
  #cell: Attributes = {};
  #cellText = '';
  /** Where text goes at present: a note or a shape, inside a cell or not. */
  #aside: Aside | undefined;
  #paragraphs = 0;
  #depth = 0;
  #skipped = 0;
  #repeated = 0;
  /** Cells of the row, to be repeated with it. */
  #cells: { column: number; text: string; note: string }[] = [];
  #note = '';

  read(xml: string): Sheet[] {
    readXml(xml, {
      open: (name, attributes) => this.#open(localName(name), attributes),
      text: (text, inside) => this.#text(text, localName(inside.at(-1) ?? '')),
      close: (name) => this.#close(localName(name)),
    });
    return this.#sheets;
  }

  #open(name: string, attributes: Attributes): void {
    this.#depth++;
    if (this.#skipped > 0 || name === 'tracked-changes' || name === 'forms') {
      this.#skipped++;
      return;
    }
    if (!this.#openTablePart(name, attributes)) this.#openContent(name, attributes);
  }

  #openTablePart(name: string, attributes: Attributes): boolean {
    switch (name) {
      case 'style':
        this.#style = attributes['style:name'] ?? '';
        return true;
      case 'table-properties':
        if (attributes['table:display'] === 'false') this.#hiddenStyles.add(this.#style);
        return true;
      case 'table':
        this.#openTable(attributes);
        return true;
      case 'table-column':
        this.#openColumn(attributes);
        return true;
      case 'table-row':
        this.#rowAttributes = attributes;
        this.#column = 0;
        this.#cells = [];
        return true;
      case 'table-cell':
      case 'covered-table-cell':
        this.#cell = attributes;
        this.#cellText = '';
        this.#note = '';
        return true;
      default:
        return false;
    }
  }

  #openContent(name: string, attributes: Attributes): void {
    if (name === 'annotation' || SHAPES.has(name))
      this.#aside ??= { isNote: name === 'annotation', text: '', depth: this.#depth, author: '' };
    if (name === 'object')
      this.objects.push([this.#sheet, (attributes['xlink:href'] ?? '').replace(/^\.\//, '')]);
    if (name === 'p' || name === 'h') this.#paragraphs++;
    if (['p', 'h', 's', 'tab', 'line-break'].includes(name)) this.#add(' ');
  }

  #text(text: string, parent: string): void {
    if (this.#skipped > 0) return;
    if (parent === 'creator' && this.#aside) this.#aside.author = text;
    else if (this.#paragraphs > 0) this.#add(text);
  }

  #add(text: string): void {
    if (this.#aside) this.#aside.text += text;
    else this.#cellText += text;
  }

  #close(name: string): void {
    const depth = this.#depth--;
    if (this.#skipped > 0) {
      this.#skipped--;
      return;
    }
    if (name === 'p' || name === 'h') this.#paragraphs--;
    if (this.#aside?.depth === depth) this.#closeAside(this.#aside);
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell();
    else if (name === 'table-row') this.#closeRow();
  }

  #openTable(attributes: Attributes): void {
    const isHidden = this.#hiddenStyles.has(attributes['table:style-name'] ?? '');
    this.#sheet = new Sheet(attributes['table:name'] ?? '', isHidden);
    this.#sheets.push(this.#sheet);
    this.#row = 0;
    this.#columns = 0;
  }

  #openColumn(attributes: Attributes): void {
    const count = countOf(attributes['table:number-columns-repeated']);
    if (isCollapsed(attributes))
      for (let i = 0; i < Math.min(count, 16_384); i++) this.#sheet.hiddenColumns.add(this.#columns + i);
    this.#columns += count;
  }

  #closeAside({ isNote, text, author }: Aside): void {
    this.#aside = undefined;
    const words = text.replace(/\s+/g, ' ').trim();
    if (words === '') return;
    if (!isNote) this.#sheet.drawings.push(words);
    else this.#note = author === '' ? words : `${author}: ${words}`;
  }

  #closeCell(): void {
    const count = countOf(this.#cell['table:number-columns-repeated']);
    const text = this.#shown();
    if (text !== '' || this.#note !== '') {
      const rows = countOf(this.#cell['table:number-rows-spanned']);
      const columns = countOf(this.#cell['table:number-columns-spanned']);
      const [top, left] = [this.#row, this.#column];
      if (rows > 1 || columns > 1)
        this.#sheet.merges.push({ top, left, bottom: top + rows - 1, right: left + columns - 1 });
      for (let i = 0; i < count && (i === 0 || this.#mayRepeat(1)); i++)
        this.#cells.push({ column: left + i, text, note: i === 0 ? this.#note : '' });
    }
    this.#column += count;
  }

  /** The text as the program shows it; dates in full. */
  #shown(): string {
    const text = this.#cellText.replace(/\s+/g, ' ').trim();
    const date = this.#cell['office:date-value'];
    if (date !== undefined)
      return date
        .replace(/T00:00(:00(\.0+)?)?$/, '')
        .replace('T', ' ')
        .replace(/(\d\d:\d\d):00(\.0+)?$/, '$1');
    const value =
      this.#cell['office:value'] ?? this.#cell['office:string-value'] ?? this.#cell['office:boolean-value'];
    if (text !== '' || value !== undefined) return text || (value ?? '');
    const formula = this.#cell['table:formula'];
    if (formula === undefined || this.#cell['office:value-type'] !== undefined) return '';
    this.#sheet.uncomputed.push(cellName(this.#row, this.#column));
    return formula.replace(/^\w+:/, '');
  }

  #closeRow(): void {
    const count = countOf(this.#rowAttributes['table:number-rows-repeated']);
    const isHidden = isCollapsed(this.#rowAttributes);
    for (
      let i = 0;
      this.#cells.length > 0 && i < count && (i === 0 || this.#mayRepeat(this.#cells.length));
      i++
    ) {
      if (isHidden) this.#sheet.hiddenRows.add(this.#row + i);
      for (const { column, text, note } of this.#cells) {
        this.#sheet.set(this.#row + i, column, text);
        if (i === 0) this.#sheet.addNote(this.#row, column, note);
      }
    }
    this.#row += count;
  }

  /** Counts further cells. */
  #mayRepeat(cells: number): boolean {
    const before = this.#repeated;
    this.#repeated += cells;
    if (this.#repeated < MAX_REPEATED_CELLS) return true;
    if (before < MAX_REPEATED_CELLS)
      this.#sheet.warnings.push(`Not all repeated cells of sheet “${this.#sheet.name}” were read.`);
    return false;
  }
}

function countOf(value: string | undefined): number {
  const count = Number(value ?? 1);
  return Number.isSafeInteger(count) && count > 0 ? count : 1;
}

function isCollapsed(attributes: Attributes): boolean {
  return /^(?:collapse|filter)$/.test(attributes['table:visibility'] ?? '');
}
