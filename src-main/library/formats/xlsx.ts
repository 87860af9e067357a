import { broken, noText } from './errors.ts';
import { joinPages, type DocumentParser, type SourceFile } from './format.ts';
import { OfficePackage } from './office/package.ts';
import { readOfficeSheets } from './sheets/office-workbook.ts';
import { readOtherSheets } from './sheets/other-workbooks.ts';
import { sheetOf, type ParsedSheet } from './sheets/parsed-sheet.ts';
import { headingOf, linesOf, SheetTexts, type Sheet } from './sheets/sheet.ts';

/** Workbooks of all kinds. Names and contents often disagree, so the content decides how a file is read. */
export const xlsx: DocumentParser = async (file) => {
  const parser = await textParserOf(file);
  if (parser) return parser(file);
  const sheets = await readSheets(file);
  const texts = new SheetTexts(file.name);
  const joined = joinPages(sheets.map((sheet) => texts.page(sheet)));
  if (joined.text === '') throw noText(file.name, 'its sheets are empty', texts.warnings);
  const parsed = (): ParsedSheet[] =>
    sheets.map((sheet, i) => {
      const { label = '', start = 0 } = joined.pages[i] ?? {};
      return sheetOf(label, linesOf(sheet), { start: start + headingOf(label).length });
    });
  return { ...joined, title: '', warnings: texts.warnings, sheets: parsed };
};

/** For web pages and plain tables, which many programs write under the name .xls. */
async function textParserOf({ bytes, name }: SourceFile): Promise<DocumentParser | undefined> {
  const head = bytes.toString('latin1', 0, 4096).replace(/^(?:ï»¿)?\s*/, '');
  if (/^<(?:!doctype html|html|table|meta|head|style|div)\b/i.test(head))
    return (await import('./html.ts')).html;
  const isText = head.startsWith('ÿþ') || (head !== '' && !/^<|^PK|\0/.test(head));
  return isText && /\.xl[st]$/i.test(name) ? (await import('./csv.ts')).csv : undefined;
}

async function readSheets(file: SourceFile): Promise<Sheet[]> {
  try {
    return (
      (await readOtherSheets(file)) ?? (await readOfficeSheets(await OfficePackage.open(file), file.name))
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'KvasirError') throw error;
    throw broken(file.name, 'it is damaged or not a workbook', error);
  }
}
