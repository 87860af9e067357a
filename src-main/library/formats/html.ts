import { noText } from './errors.ts';
import type { DocumentParser, SourceFile } from './format.ts';
import { htmlToText, type HtmlText } from './html/text.ts';
import { decodePage } from './html/encoding.ts';
import type { PageMaker } from './page/page.ts';

export const html: DocumentParser = (file) => {
  const { page, xhtml, warnings } = pageOf(file);
  const whole = htmlToText(page, [], xhtml);
  if (whole.text === '') throw noText(file.name, 'it has only scripts, pictures or hidden text');
  return documentOf(whole, warnings);
};

export const htmlPage: PageMaker = (file) => {
  const { page, xhtml } = pageOf(file);
  return { html: page, xhtml };
};

export function pageOf({ bytes, name }: SourceFile): { page: string; xhtml: boolean; warnings: string[] } {
  const { text: page, warnings } = decodePage(bytes, name);
  return { page, xhtml: /^\s*<\?xml\s/.test(page) || /\.xht(?:ml)?$/i.test(name), warnings };
}

export function documentOf(
  { text, headings, title, hiddenWords }: HtmlText,
  warnings: readonly string[],
): ReturnType<DocumentParser> {
  return { text, headings, title, pages: [], warnings: [...warnings, ...hiddenWarnings(hiddenWords)] };
}

export function hiddenWarnings(words: number): string[] {
  return words > 0 ? [`Hidden text was left out: ${words} ${words === 1 ? 'word' : 'words'}.`] : [];
}
