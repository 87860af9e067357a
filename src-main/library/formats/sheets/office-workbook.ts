import { broken } from '../errors.ts';
import { decodeXml, type OfficePackage, type Relationship } from '../office/package.ts';
import { attribute, element, elements, localName, readXml } from '../xml.ts';
import { readComments, readPersons } from './comments.ts';
import { readDrawings } from './drawings.ts';
import { Sheet } from './sheet.ts';
import { readCells, unescapeUnits, type CellContext } from './sheet-xml.ts';
import { readStyles } from './styles.ts';

/** The sheets of a workbook in Office Open XML (ECMA-376 part 1, 18), whatever its extension. DOCUMENT_UNREADABLE. */
export async function readOfficeSheets(book: OfficePackage, file: string): Promise<Sheet[]> {
  const main = await book.mainPart();
  const workbook = await book.xml(main);
  if (workbook?.name !== 'workbook') throw broken(file, 'it is not a workbook');
  const links = await book.relationships(main);
  const context = {
    strings: readSharedStrings(await xmlOf(book, linkOf(links, 'sharedStrings')?.target)),
    styles: readStyles(await book.related(links, 'styles')),
    date1904: /^(?:1|true|on)$/.test(attributeOf(element(workbook, 'workbookPr'), 'date1904')),
  };
  const persons = readPersons(await book.related(links, 'person'));
  const sheets: Sheet[] = [];
  for (const entry of elements(element(workbook, 'sheets'), 'sheet')) {
    const sheet = new Sheet(attributeOf(entry, 'name'), /hidden/i.test(attributeOf(entry, 'state')));
    await readSheet(book, links.get(attributeOf(entry, 'id')), sheet, context, persons);
    sheets.push(sheet);
  }
  return sheets;
}

async function readSheet(
  book: OfficePackage,
  link: Relationship | undefined,
  sheet: Sheet,
  context: CellContext,
  persons: ReadonlyMap<string, string>,
): Promise<void> {
  if (!link || !book.has(link.target)) {
    sheet.drawings.push('(This sheet is missing in the file.)');
    sheet.warnings.push(`Sheet “${sheet.name}” is missing in the file.`);
    return;
  }
  const links = await book.relationships(link.target);
  if (link.type !== 'chartsheet') {
    readCells(await xmlOf(book, link.target), sheet, context);
    for (const { type, target } of links.values())
      if (type === 'table') markHeader(sheet, await xmlOf(book, target));
    await readComments(book, links, sheet, persons);
  }
  await readDrawings(book, links, sheet);
}

/** The first row of a table is its header unless it says that it has none (ECMA-376 part 1, 18.5.1.2). */
function markHeader(sheet: Sheet, table: string): void {
  readXml(table, {
    open: (name, { ref, headerRowCount }) => {
      const row = /\d+/.exec(ref ?? '')?.[0];
      if (localName(name) === 'table' && row !== undefined && headerRowCount !== '0')
        sheet.headerRows.add(Number(row) - 1);
    },
  });
}

/** Texts by their index, without phonetic readings (ECMA-376 part 1, 18.4). */
function readSharedStrings(xml: string): string[] {
  const strings: string[] = [];
  let parts: string[] = [];
  readXml(xml, {
    open: (name) => {
      if (localName(name) === 'si') parts = [];
    },
    text: (text, inside) => {
      if (localName(inside.at(-1) ?? '') === 't' && localName(inside.at(-2) ?? '') !== 'rPh')
        parts.push(text);
    },
    close: (name) => {
      if (localName(name) === 'si') strings.push(unescapeUnits(parts.join('')));
    },
  });
  return strings;
}

function linkOf(links: ReadonlyMap<string, Relationship>, type: string): Relationship | undefined {
  return [...links.values()].find((link) => link.type === type);
}

function attributeOf(node: Parameters<typeof attribute>[0] | undefined, name: string): string {
  return (node && attribute(node, name)) ?? '';
}

async function xmlOf(book: OfficePackage, path: string | undefined): Promise<string> {
  const bytes = path === undefined ? undefined : await book.read(path);
  return bytes === undefined ? '' : decodeXml(bytes);
}
