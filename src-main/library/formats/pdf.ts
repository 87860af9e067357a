import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { broken, encrypted, noText, reasonOf } from './errors.ts';
import { joinPages, type DocumentParser, type SourceFile } from './format.ts';
import { pdfHeadings } from './pdf-headings.ts';
import { PlainWords } from './pdf-hyphens.ts';
import { pageLines, pageText, type Line, type PageText } from './pdf-layout.ts';
import { withoutRunning } from './pdf-running.ts';

/** Adobe's predefined character collections, which Chinese, Japanese and Korean documents take for granted. */
const CMAPS = join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), 'cmaps', sep);

export const pdf: DocumentParser = async (file) => {
  if (file.bytes.length === 0) throw noText(file.name, 'the file is empty');
  const document = await open(file);
  const labels = await labelsOf(document);
  const lines: Line[][] = [];
  let unreadable = 0;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await linesOf(document, number).catch(() => undefined);
    if (page === undefined) unreadable++;
    lines.push(page ?? []);
  }
  const texts = textsOf(withoutRunning(lines));
  const title = await titleOf(document);
  const headings = await pdfHeadings(document, texts);
  const pages = texts.map(({ text }, i) => ({ label: labels[i] ?? '', text, headings: headings[i] ?? [] }));
  await document.loadingTask.destroy();
  const joined = joinPages(pages);
  if (joined.text === '') throw noText(file.name, 'its pages are pictures, or empty');
  const empty = pages.filter(({ text }) => text.trim() === '').map(({ label }) => label);
  const warnings = [];
  if (empty.length > unreadable) warnings.push(`Pages without text (scanned?): ${list(empty)}.`);
  if (unreadable > 0) warnings.push(`${unreadable} pages are damaged and were left out.`);
  return { ...joined, title, warnings };
};

async function open({ bytes, name }: SourceFile): Promise<PDFDocumentProxy> {
  try {
    return await getDocument({
      data: new Uint8Array(bytes),
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      cMapUrl: CMAPS,
      stopAtErrors: false,
      enableXfa: false,
    }).promise;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') throw encrypted(name);
    throw broken(name, `it is damaged or not a PDF (${reasonOf(error)})`, error);
  }
}

/** The label of each page: its number where the document defines none. */
async function labelsOf(document: PDFDocumentProxy): Promise<string[]> {
  const labels = await document.getPageLabels();
  return Array.from({ length: document.numPages }, (_, i) => labels?.[i] || String(i + 1));
}

async function linesOf(document: PDFDocumentProxy, number: number): Promise<Line[]> {
  const page = await document.getPage(number);
  const { items, styles } = await page.getTextContent();
  page.cleanup();
  return pageLines(
    items.filter((item) => 'str' in item),
    styles,
  );
}

function textsOf(pages: readonly (readonly Line[])[]): PageText[] {
  const words = new PlainWords();
  for (const lines of pages) words.add(lines.map(({ text }) => text));
  return pages.map((lines) => pageText(lines, words));
}

async function titleOf(document: PDFDocumentProxy): Promise<string> {
  const metadata = await document.getMetadata().catch(() => undefined);
  const info: { Title?: unknown } | undefined = metadata?.info;
  const title = info?.Title;
  // Printing programs write the file's name or their own instead of a title.
  if (typeof title !== 'string' || /^(untitled|microsoft word|about:blank)|\.\w{2,5}$/i.test(title))
    return '';
  return title.trim();
}

function list(labels: readonly string[]): string {
  const shown = labels.slice(0, 20).join(', ');
  return labels.length > 20 ? `${shown} and ${labels.length - 20} more` : shown;
}
