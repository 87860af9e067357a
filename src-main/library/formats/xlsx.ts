import readSheets, { type CellValue } from 'read-excel-file/node';
import { broken, noText, reasonOf } from './errors.ts';
import { joinPages, type DocumentParser, type SourceFile } from './format.ts';
import { tableText } from './table.ts';
import { ZipArchive } from './zip.ts';

export const xlsx: DocumentParser = async (file) => {
  const zip = await ZipArchive.open(file);
  if (!zip.has('xl/workbook.xml')) throw broken(file.name, 'it is not a workbook');
  await zip.check((path) => path.endsWith('.xml') || path.endsWith('.rels'));
  zip.close();
  const sheets = (await read(file)).map(({ sheet, data }) => {
    const table = tableText(data.map((row) => row.map(cellText)));
    if (table === '') return { label: sheet, text: '', headings: [] };
    const headings = [{ start: 0, level: 2, title: sheet }];
    return { label: sheet, text: `## ${sheet}\n\n${table}`, headings };
  });
  const joined = joinPages(sheets);
  if (joined.text === '') throw noText(file.name, 'its sheets are empty');
  return { ...joined, title: '', warnings: [] };
};

async function read({ bytes, name }: SourceFile): Promise<{ sheet: string; data: (CellValue | null)[][] }[]> {
  try {
    return await readSheets(bytes);
  } catch (error) {
    throw broken(name, `it is damaged or not a workbook (${reasonOf(error)})`, error);
  }
}

function cellText(cell: CellValue | null): string {
  if (cell === null) return '';
  if (cell instanceof Date)
    return cell
      .toISOString()
      .replace(/T00:00:00\.000Z$/, '')
      .replace(/\.000Z$/, 'Z');
  return String(cell);
}
