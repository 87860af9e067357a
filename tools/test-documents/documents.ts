/**
 * Documents in real formats, made with common libraries. All are about the same invented company, so that tests can ask for facts that
 * only one of them contains.
 */
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from 'docx';
import ExcelJS from 'exceljs';
import { PDFDocument, PDFHexString, PDFName, StandardFonts } from 'pdf-lib';
import pptxgenModule from 'pptxgenjs';
import { zip } from './zip.ts';

/** Its types declare a module with a default export, but Node loads the export itself. */
const PptxGen = pptxgenModule as unknown as typeof pptxgenModule.default;

interface PdfLooks {
  /** Font size in points. */
  size?: (line: string) => number;
  font?: keyof typeof StandardFonts;
  /** Pages from 0. */
  bookmarks?: readonly { title: string; page: number }[];
}

/** One page per list of lines; an empty list gives an empty page. */
export async function pdf(
  pages: readonly (readonly string[])[],
  title = '',
  { size = () => 12, font: name = 'Helvetica', bookmarks = [] }: PdfLooks = {},
): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts[name]);
  if (title !== '') document.setTitle(title);
  for (const lines of pages) {
    const page = document.addPage([595, 842]);
    lines.forEach((line, i) => page.drawText(line, { x: 60, y: 760 - i * 16, size: size(line), font }));
  }
  if (bookmarks.length > 0) addBookmarks(document, bookmarks);
  return Buffer.from(await document.save());
}

/** As in PDF 32000-1, 12.3.3: list items, each with its destination. */
function addBookmarks(document: PDFDocument, bookmarks: readonly { title: string; page: number }[]): void {
  const { context } = document;
  const root = context.nextRef();
  const refs = bookmarks.map(() => context.nextRef());
  bookmarks.forEach(({ title, page }, i) => {
    const [ref, before, behind] = [refs[i], refs[i - 1], refs[i + 1]];
    if (!ref) return;
    const item = context.obj({
      Title: PDFHexString.fromText(title),
      Parent: root,
      Dest: [document.getPage(page).ref, 'Fit'],
      ...(before && { Prev: before }),
      ...(behind && { Next: behind }),
    });
    context.assign(ref, item);
  });
  const ends = { First: refs[0] ?? root, Last: refs.at(-1) ?? root };
  context.assign(root, context.obj({ Type: 'Outlines', ...ends, Count: bookmarks.length }));
  document.catalog.set(PDFName.of('Outlines'), root);
}

/** A PDF that requires a password. Its key matches no password; the tests never try one. */
export function encryptedPdf(): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'5a'.repeat(32)}> /U <${'c3'.repeat(32)}> >>`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const at of offsets) text += `${String(at).padStart(10, '0')} 00000 n \n`;
  const id = `<${'11'.repeat(16)}>`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Encrypt 4 0 R /ID [${id} ${id}] >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

export function word(): Promise<Buffer> {
  const cell = (text: string): TableCell => new TableCell({ children: [new Paragraph(text)] });
  const document = new Document({
    sections: [
      {
        children: [
          new Paragraph({ text: 'Harbour handbook', heading: HeadingLevel.HEADING_1 }),
          new Paragraph('The harbour office opens at seven. Every ship pays at the red counter.'),
          new Paragraph({ text: 'Tariffs', heading: HeadingLevel.HEADING_2 }),
          new Paragraph('A sailing boat pays twelve crowns a night.'),
          new Paragraph({ text: 'Bring the papers', bullet: { level: 0 } }),
          new Table({
            rows: [
              new TableRow({ children: [cell('Berth'), cell('Crowns')] }),
              new TableRow({ children: [cell('North pier'), cell('40')] }),
            ],
          }),
        ],
      },
    ],
  });
  return Packer.toBuffer(document);
}

export async function slides(): Promise<Buffer> {
  const deck = new PptxGen();
  deck.defineSlideMaster({
    title: 'MASTER',
    objects: [
      { placeholder: { options: { name: 'title', type: 'title', x: 0.5, y: 0.3, w: 9, h: 1 }, text: '' } },
      { placeholder: { options: { name: 'body', type: 'body', x: 0.5, y: 1.5, w: 9, h: 3 }, text: '' } },
    ],
  });
  const first = deck.addSlide({ masterName: 'MASTER' });
  first.addText('Lighthouse plan', { placeholder: 'title' });
  first.addText('The lamp is changed in October.', { placeholder: 'body' });
  first.addNotes('Ask Mara about the ladder.');
  const second = deck.addSlide({ masterName: 'MASTER' });
  second.addText('Costs', { placeholder: 'title' });
  second.addText('The new lamp costs nine hundred crowns.', { x: 1, y: 2, w: 8, h: 1 });
  return (await deck.write({ outputType: 'nodebuffer' })) as Buffer;
}

export async function workbook(): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  const ships = book.addWorksheet('Ships');
  ships.addRow(['Name', 'Built', 'Crew']);
  ships.addRow(['Aurora', new Date(Date.UTC(1987, 4, 1)), 12]);
  ships.addRow(['Borealis', new Date(Date.UTC(1999, 0, 9)), 7]);
  const notes = book.addWorksheet('Notes');
  notes.addRow(['Aurora is being painted.']);
  return Buffer.from(await book.xlsx.writeBuffer());
}

export interface Chapter {
  file: string;
  html: string;
}

interface EpubExtras {
  /** Content of META-INF/encryption.xml. */
  encryption?: string;
  /** Content of EPUB 3's navigation document, OEBPS/nav/nav.xhtml. */
  nav?: string;
  /** Content of EPUB 2's navigation document, OEBPS/toc.ncx. */
  ncx?: string;
}

export function epub(
  chapters: readonly Chapter[],
  title = 'The Keeper',
  { encryption, nav, ncx }: EpubExtras = {},
): Buffer {
  const items = chapters.map(
    ({ file }, i) => `<item id="c${i}" href="${file}" media-type="application/xhtml+xml"/>`,
  );
  if (ncx !== undefined) items.push('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>');
  if (nav !== undefined)
    items.push('<item id="nav" href="nav/nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>');
  const spine = chapters.map((_, i) => `<itemref idref="c${i}"/>`);
  const container = `<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
    <rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`;
  const opf = `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
    <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier><dc:title>${title}</dc:title>
    <dc:language>en</dc:language></metadata><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`;
  return zip([
    { name: 'mimetype', data: 'application/epub+zip' },
    { name: 'META-INF/container.xml', data: container },
    ...(encryption === undefined ? [] : [{ name: 'META-INF/encryption.xml', data: encryption }]),
    { name: 'OEBPS/book.opf', data: opf },
    ...(nav === undefined ? [] : [{ name: 'OEBPS/nav/nav.xhtml', data: nav }]),
    ...(ncx === undefined ? [] : [{ name: 'OEBPS/toc.ncx', data: ncx }]),
    // A file may be listed several times, with different fragments.
    ...chapters
      .filter(({ file }) => !file.includes('#'))
      .map(({ file, html }) => ({ name: `OEBPS/${decodeURI(file)}`, data: html })),
  ]);
}

/** A Word document whose text unpacks to `bytes` bytes of spaces. */
export function bomb(bytes: number, announcedBytes = bytes): Buffer {
  return zip([
    { name: '[Content_Types].xml', data: '<Types/>' },
    { name: 'word/document.xml', data: Buffer.alloc(bytes, 32), announcedBytes },
  ]);
}
