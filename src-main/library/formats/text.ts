import { decodeText } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { markdownTitle, plainTextTitle } from './titles.ts';

export const markdown: DocumentParser = ({ bytes, name }) => {
  const text = wordsIn(bytes, name);
  return { text, title: markdownTitle(text), pages: [], warnings: [] };
};

export const plainText: DocumentParser = ({ bytes, name }) => {
  const text = wordsIn(bytes, name);
  return { text, headings: [], title: plainTextTitle(text), pages: [], warnings: [] };
};

/** Like a PDF without text, a file without a word contains nothing that questions could find. */
function wordsIn(bytes: Buffer, name: string): string {
  const text = decodeText(bytes, name);
  if (text.trim() === '') throw noText(name, 'the file is empty');
  return text;
}

/** Source code and configuration: no headings, no paragraphs; the file's name is its title. It may be empty. */
export const code: DocumentParser = ({ bytes, name }) => ({
  text: decodeText(bytes, name),
  title: '',
  pages: [],
  warnings: [],
});
