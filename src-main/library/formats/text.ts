import { decode, type DecodedText } from './decode.ts';
import { blank } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { plainTextTitle } from './titles.ts';

export const plainText: DocumentParser = ({ bytes, name }) => {
  const { text, warnings } = wordsIn(bytes, name);
  return { text, headings: [], title: plainTextTitle(text), pages: [], warnings };
};

/** Like a PDF without text, a file without a word contains nothing that questions could find. */
function wordsIn(bytes: Buffer, name: string): DecodedText {
  const decoded = decode(bytes, name);
  if (decoded.text.trim() === '') throw blank(name, bytes);
  return decoded;
}

/** Source code and configuration: no headings, no paragraphs; the file's name is its title. It may be empty. */
export const code: DocumentParser = ({ bytes, name }) => ({ ...decode(bytes, name), title: '', pages: [] });
