import { ZipFile } from 'yazl';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

interface SheetParts {
  name?: string;
  state?: string;
  /** Content of sheetData: rows and cells. */
  data: string;
  /** Elements before and after sheetData. */
  before?: string;
  after?: string;
  /** Further parts that belong to it: type of relationship → XML by path below xl. */
  parts?: readonly { type: string; path: string; xml: string; links?: readonly Link[] }[];
}

type Link = readonly [id: string, type: string, target: string];

interface BookParts {
  styles?: string;
  strings?: readonly string[];
  date1904?: boolean;
  /** Relationships of the workbook to further parts, and those parts. */
  parts?: readonly { type: string; path: string; xml: string }[];
}

/** A workbook of the given parts, as XML that no program would correct. */
export async function workbookOf(sheets: readonly SheetParts[], book: BookParts = {}): Promise<Buffer> {
  const parts = new Map<string, string>();
  const links: Link[] = [
    ['s', 'styles', 'styles.xml'],
    ['t', 'sharedStrings', 'sharedStrings.xml'],
  ];
  const entries = sheets.map(({ name, state }, i) => {
    links.push([`r${i}`, 'worksheet', `worksheets/sheet${i}.xml`]);
    return `<sheet name="${name ?? `S${i + 1}`}" sheetId="${i + 1}" r:id="r${i}"${state === undefined ? '' : ` state="${state}"`}/>`;
  });
  parts.set('_rels/.rels', relationships([['m', 'officeDocument', 'xl/workbook.xml']]));
  const properties = book.date1904 === true ? '<workbookPr date1904="1"/>' : '';
  parts.set('xl/workbook.xml', root('workbook', `${properties}<sheets>${entries.join('')}</sheets>`));
  parts.set('xl/styles.xml', root('styleSheet', book.styles ?? ''));
  parts.set(
    'xl/sharedStrings.xml',
    root('sst', (book.strings ?? []).map((text) => `<si>${text}</si>`).join('')),
  );
  for (const [i, part] of (book.parts ?? []).entries()) {
    links.push([`p${i}`, part.type, part.path]);
    parts.set(`xl/${part.path}`, part.xml);
  }
  for (const [i, sheet] of sheets.entries()) addSheet(parts, i, sheet);
  parts.set('xl/_rels/workbook.xml.rels', relationships(links));
  return zipOf(parts);
}

function addSheet(parts: Map<string, string>, i: number, sheet: SheetParts): void {
  const content = `${sheet.before ?? ''}<sheetData>${sheet.data}</sheetData>${sheet.after ?? ''}`;
  parts.set(`xl/worksheets/sheet${i}.xml`, root('worksheet', content));
  const own = sheet.parts ?? [];
  const links = own.map(({ type, path }, at): Link => [`d${at}`, type, `../${path}`]);
  parts.set(
    `xl/worksheets/_rels/sheet${i}.xml.rels`,
    relationships(links.filter((_, at) => own[at]?.type !== '')),
  );
  for (const { path, xml, links: inner } of own) {
    parts.set(`xl/${path}`, xml);
    if (inner) parts.set(`xl/${path.replace(/([^/]+)$/, '_rels/$1.rels')}`, relationships(inner));
  }
}

function root(name: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="${MAIN}" xmlns:r="${OFFICE}">${content}</${name}>`;
}

function relationships(links: readonly Link[]): string {
  const content = links.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}">${content.join('')}</Relationships>`;
}

/** An archive of these parts. */
export async function zipOf(parts: ReadonlyMap<string, string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, xml] of parts) zip.addBuffer(Buffer.from(xml), path);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Rows of cells: texts, numbers, `{ s, v }` for a number in a style; undefined leaves a cell out. */
export type CellInput = string | number | { s: number; v: number } | { xml: string } | undefined;

/** The XML of rows that begin at A1. */
export function rowsOf(rows: readonly (readonly CellInput[])[]): string {
  return rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}">${cells.map((cell, column) => cellOf(cell, `${String.fromCharCode(65 + column)}${row + 1}`)).join('')}</row>`,
    )
    .join('');
}

function cellOf(cell: CellInput, ref: string): string {
  if (cell === undefined) return '';
  if (typeof cell === 'string') return `<c r="${ref}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  if (typeof cell === 'number') return `<c r="${ref}"><v>${cell}</v></c>`;
  return 'xml' in cell
    ? cell.xml.replace('<c', `<c r="${ref}"`)
    : `<c r="${ref}" s="${cell.s}"><v>${cell.v}</v></c>`;
}

/** Styles with these number formats (codes, or numbers of built-in ones), and one more that is bold. */
export function stylesOf(formats: readonly (string | number)[]): string {
  const custom = formats.map((format, i) =>
    typeof format === 'number'
      ? ''
      : `<numFmt numFmtId="${200 + i}" formatCode="${format.replaceAll('"', '&quot;')}"/>`,
  );
  const styles = formats.map(
    (format, i) => `<xf numFmtId="${typeof format === 'number' ? format : 200 + i}" fontId="0"/>`,
  );
  return (
    `<numFmts>${custom.join('')}</numFmts><fonts><font/><font><b/></font></fonts>` +
    `<cellXfs>${styles.join('')}<xf numFmtId="0" fontId="1"/></cellXfs>`
  );
}
