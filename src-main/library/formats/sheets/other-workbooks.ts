import * as sheetjs from '@e965/xlsx';
import { read, type CellObject, type ParsingOptions, type WorkBook, type WorkSheet } from '@e965/xlsx';
import { encrypted } from '../errors.ts';
import type { SourceFile } from '../format.ts';
import { COMPOUND_MAGIC } from '../office/compound.ts';
import { decodeXml, OfficePackage } from '../office/package.ts';
import { ZipArchive } from '../zip.ts';
import { shownNumber } from './cell-value.ts';
import { readDrawings } from './drawings.ts';
import { readOpenDocument } from './open-document.ts';
import { Sheet } from './sheet.ts';
import { rangeOf } from './sheet-xml.ts';

/** An export that its types leave out. */
const { parse_zip: parseZip } = sheetjs as unknown as {
  parse_zip: (zip: { FullPaths: string[]; FileIndex: ZipPart[] }, options: ParsingOptions) => WorkBook;
};

interface ZipPart {
  name: string;
  asNodeBuffer: () => Buffer;
}

const HEAD_BYTES = 16_384;
const OPTIONS: ParsingOptions = {
  dense: true,
  cellNF: true,
  cellHTML: false,
  cellStyles: true,
  cellFormula: false,
};

/**
 * The sheets of workbooks that are not in Office Open XML: .xls and .xlsb, which SheetJS reads, and .ods; undefined for others.
 * DOCUMENT_ENCRYPTED.
 */
export async function readOtherSheets(file: SourceFile): Promise<Sheet[] | undefined> {
  const { bytes, name } = file;
  if (bytes.toString('hex', 0, 8) === COMPOUND_MAGIC) {
    const holds = (stream: string): boolean => bytes.includes(Buffer.from(stream, 'utf16le'));
    if (holds('EncryptedPackage')) throw encrypted(name);
    if (holds('Workbook') || holds('Book') || /\.xl[st]$/i.test(name)) return sheetsOf(readOld(file));
    throw encrypted(name);
  }
  if (isOldStream(bytes)) return sheetsOf(readOld(file));
  if (bytes.toString('latin1', 0, 2) !== 'PK') return readXmlBook(file);
  const zip = await ZipArchive.open(file);
  const isBinary = zip.has('xl/workbook.bin');
  const book = isBinary ? await readZip(zip) : undefined;
  const isOpen = zip.has('content.xml');
  if (isOpen) return readOpenDocument(file);
  const sheets = book && sheetsOf(book);
  if (book && sheets) await addDrawings(file, book, sheets);
  return sheets;
}

/** Workbooks of Excel 2 to 4 are one stream without a container; it begins with a BOF record ([MS-XLS] 2.4.21). */
function isOldStream(bytes: Buffer): boolean {
  return (
    bytes[0] === 9 &&
    [0, 2, 4].includes(bytes[1] ?? -1) &&
    [4, 6, 8].includes(bytes[2] ?? -1) &&
    bytes[3] === 0
  );
}

/** Excel's XML of 2003, or OpenDocument in one file. */
function readXmlBook(file: SourceFile): Promise<Sheet[]> | Sheet[] | undefined {
  const head = file.bytes.subarray(0, HEAD_BYTES).toString('latin1').replaceAll('\0', '');
  if (head.includes('urn:oasis:names:tc:opendocument')) return readOpenDocument(file);
  if (!head.includes('urn:schemas-microsoft-com:office:spreadsheet')) return undefined;
  return sheetsOf(read(decodeXml(file.bytes), { ...OPTIONS, type: 'string' }));
}

function readOld({ bytes, name }: SourceFile): WorkBook {
  try {
    return read(bytes, { ...OPTIONS, type: 'buffer' });
  } catch (error) {
    if (error instanceof Error && /password|encryption/i.test(error.message)) throw encrypted(name);
    throw error;
  }
}

/** SheetJS gets the parts that it reads, unpacked within our limits. */
async function readZip(zip: ZipArchive): Promise<WorkBook> {
  const names = zip.names.filter((path) => /\.(?:xml|rels|bin|vml)$|^mimetype$/i.test(path));
  const entries: ZipPart[] = [];
  for (const name of names) {
    const bytes = (await zip.read(name)) ?? Buffer.alloc(0);
    entries.push({ name, asNodeBuffer: () => bytes });
  }
  return parseZip({ FullPaths: names, FileIndex: entries }, { ...OPTIONS });
}

function sheetsOf(book: WorkBook): Sheet[] {
  const date1904 = book.Workbook?.WBProps?.date1904 === true;
  return book.SheetNames.map((name, i) => {
    const sheet = new Sheet(name, (book.Workbook?.Sheets?.[i]?.Hidden ?? 0) !== 0);
    const source = book.Sheets[name];
    if (source) fill(sheet, source, date1904);
    else sheet.warnings.push(`Sheet “${name}” could not be read.`);
    return sheet;
  });
}

/** Its types leave out that rows and columns without properties may be absent. */
type Hideable = { hidden?: boolean } | undefined;

function fill(sheet: Sheet, source: WorkSheet, date1904: boolean): void {
  const rows = (source['!data'] ?? []) as (CellObject | undefined)[][];
  rows.forEach((cells, row) =>
    cells.forEach((cell, column) => {
      if (!cell) return;
      sheet.set(row, column, shown(cell, date1904));
      for (const { a, t } of cell.c ?? []) sheet.addNote(row, column, noteText(a, t));
    }),
  );
  for (const { s, e } of source['!merges'] ?? [])
    sheet.merges.push({ top: s.r, left: s.c, bottom: e.r, right: e.c });
  source['!rows']?.forEach((row: Hideable, i) => row?.hidden && sheet.hiddenRows.add(i));
  source['!cols']?.forEach((column: Hideable, i) => column?.hidden && sheet.hiddenColumns.add(i));
  const filter = rangeOf(source['!autofilter']?.ref ?? '');
  if (filter) sheet.headerRows.add(filter.top);
}

function shown({ t, v, w, z }: CellObject, date1904: boolean): string {
  if (t === 'z' || v === undefined) return '';
  if (t === 'b') return v === true ? 'TRUE' : 'FALSE';
  if (t === 'e') return w ?? '';
  if (typeof v !== 'number') return String(v);
  return z === undefined && w !== undefined ? w : shownNumber(v, String(z ?? ''), date1904);
}

function noteText(author: string | undefined, text: string): string {
  const words = text.trim();
  return author === undefined || author === '' || words.startsWith(`${author}:`)
    ? words
    : `${author}: ${words}`;
}

/** Drawings of a binary workbook are XML, as in the others. */
async function addDrawings(file: SourceFile, book: WorkBook, sheets: readonly Sheet[]): Promise<void> {
  const parts = await OfficePackage.open(file);
  const links = await parts.relationships('xl/workbook.bin');
  for (const [i, sheet] of sheets.entries()) {
    const id = (book.Workbook?.Sheets?.[i] as { strRelID?: string } | undefined)?.strRelID ?? '';
    const target = links.get(id)?.target;
    if (target !== undefined) await readDrawings(parts, await parts.relationships(target), sheet);
  }
}
