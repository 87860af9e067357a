import { noText } from './errors.ts';
import type { DocumentParser, ParsedDocument } from './format.ts';
import { htmlToText } from './html/text.ts';
import { decodeMarkup } from './html/encoding.ts';

export const html: DocumentParser = ({ bytes, name }) => readPage(decodeMarkup(bytes, name), name);

/** The document in a page's source. */
export function readPage(page: string, name: string): ParsedDocument & { headings: readonly object[] } {
  const xhtml = /^\s*<\?xml\s/.test(page) || /\.xht(?:ml)?$/i.test(name);
  const { text, headings, title, hiddenWords } = htmlToText(page, [], xhtml);
  if (text === '') throw noText(name, 'it has only scripts, pictures or hidden text');
  return { text, headings, title, pages: [], warnings: hiddenWarnings(hiddenWords) };
}

export function hiddenWarnings(words: number): string[] {
  return words > 0 ? [`Hidden text was left out: ${words} ${words === 1 ? 'word' : 'words'}.`] : [];
}
