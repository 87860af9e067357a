import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { htmlToText } from './html/text.ts';
import { decodePage } from './html/encoding.ts';

export const html: DocumentParser = ({ bytes, name }) => {
  const { text: page, warnings } = decodePage(bytes, name);
  const xhtml = /^\s*<\?xml\s/.test(page) || /\.xht(?:ml)?$/i.test(name);
  const { text, headings, title, hiddenWords } = htmlToText(page, [], xhtml);
  if (text === '') throw noText(name, 'it has only scripts, pictures or hidden text');
  return { text, headings, title, pages: [], warnings: [...warnings, ...hiddenWarnings(hiddenWords)] };
};

export function hiddenWarnings(words: number): string[] {
  return words > 0 ? [`Hidden text was left out: ${words} ${words === 1 ? 'word' : 'words'}.`] : [];
}
