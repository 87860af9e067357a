import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { broken, noText } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import { openPdf } from './pdf/document.ts';
import { pdfHeadings } from './pdf/headings.ts';
import { PlainWords } from './pdf/hyphens.ts';
import { pageText, type Line, type PageText } from './pdf/layout.ts';
import { readPage, type Layers, type PageLines } from './pdf/page.ts';
import { withoutRunning } from './pdf/running.ts';
import { pdfWarnings } from './pdf/warnings.ts';
import { xfaText } from './pdf/xfa.ts';

export const pdf: DocumentParser = async (file) => {
  if (file.bytes.length === 0) throw noText(file.name, 'the file is empty');
  const document = await openPdf(file);
  try {
    const labels = await labelsOf(document);
    const pages = await pagesOf(document);
    if (pages.every((page) => page === undefined)) throw broken(file.name, 'all of its pages are damaged');
    const info = await infoOf(document);
    const texts = textsOf(pages);
    const formWarnings = addForm(texts, info);
    const headings = await pdfHeadings(document, texts);
    const joined = joinPages(
      texts.map(({ text }, i) => ({ label: labels[i] ?? '', text, headings: headings[i] ?? [] })),
    );
    if (joined.text === '' && !pages.some((page) => page?.isScan))
      throw noText(file.name, 'its pages are empty');
    return {
      ...joined,
      pages: joined.pages.map((page, i) => (pages[i]?.isScan ? { ...page, confidence: null } : page)),
      title: titleOf(info),
      warnings: [...(await pdfWarnings(document, pages, labels)), ...formWarnings],
    };
  } finally {
    await document.loadingTask.destroy();
  }
};

interface PdfInfo {
  Title?: unknown;
  IsXFAPresent?: boolean;
  IsAcroFormPresent?: boolean;
  /** The XML of an XFA form, in parts (pdf-document.ts). */
  Xfa?: readonly string[];
}

async function infoOf(document: PDFDocumentProxy): Promise<PdfInfo> {
  const metadata = await document.getMetadata().catch(() => undefined);
  return metadata?.info ?? {};
}

/** The label of each page: its number where the document defines none. */
async function labelsOf(document: PDFDocumentProxy): Promise<string[]> {
  const labels = await document.getPageLabels().catch(() => null);
  return Array.from({ length: document.numPages }, (_, i) => labels?.[i] || String(i + 1));
}

/** Pages that are damaged are undefined. */
async function pagesOf(document: PDFDocumentProxy): Promise<(PageLines | undefined)[]> {
  const layers = await document.getOptionalContentConfig();
  const pages: (PageLines | undefined)[] = [];
  for (let number = 1; number <= document.numPages; number++)
    pages.push(await pageOf(document, number, layers).catch(() => undefined));
  return pages;
}

async function pageOf(document: PDFDocumentProxy, number: number, layers: Layers): Promise<PageLines> {
  return readPage(await document.getPage(number), layers);
}

function textsOf(pages: readonly (PageLines | undefined)[]): PageText[] {
  const lines = withoutRunning(pages.map((page) => page?.lines ?? []));
  const words = new PlainWords();
  for (const each of lines) words.add(each.map(({ text }) => text));
  return lines.map((each, i) => pageText([...each, ...(pages[i]?.comments ?? [])] satisfies Line[], words));
}

/** What a viewer without XFA shows of a form. */
const SHELL = /please wait/i;

/** Puts the values of an XFA form in the place of its shell; a form with ordinary fields, too, is read by those. */
function addForm(texts: PageText[], { IsXFAPresent, IsAcroFormPresent, Xfa }: PdfInfo): string[] {
  const shell = texts[0];
  if (!IsXFAPresent || !shell || (IsAcroFormPresent && !SHELL.test(shell.text))) return [];
  const text = xfaText((Xfa ?? []).join(''));
  if (text === '') return ['It is an XFA form, whose values could not be read.'];
  texts[0] = SHELL.test(shell.text) ? { text, lines: [] } : { ...shell, text: `${shell.text}\n\n${text}` };
  return [];
}

function titleOf({ Title: title }: PdfInfo): string {
  // Printing programs write the file's name or their own instead of a title.
  if (typeof title !== 'string' || /^(untitled|microsoft word|about:blank)|\.\w{2,5}$/i.test(title))
    return '';
  return title.trim();
}
