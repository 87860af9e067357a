import { Parser } from 'htmlparser2';
import { decodeText } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { htmlToText } from './html-text.ts';

/** The bytes in which a page declares its encoding. */
const HEAD_BYTES = 4096;
const CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)/i;

export const html: DocumentParser = ({ bytes, name }) => {
  const declared = CHARSET.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1];
  const page = decodeText(bytes, name, declared);
  const { text, headings } = htmlToText(page);
  if (text === '') throw noText(name, 'it has only scripts, pictures or navigation');
  return { text, headings, title: htmlTitle(page), pages: [], warnings: [] };
};

/** The text of the first <title>, else of the first <h1>. */
export function htmlTitle(page: string): string {
  const found: Record<string, string> = {};
  let open = '';
  const parser = new Parser({
    onopentagname: (name) => {
      if ((name === 'title' || name === 'h1') && found[name] === undefined) open = name;
    },
    ontext: (text) => {
      if (open !== '') found[open] = (found[open] ?? '') + text;
    },
    onclosetag: (name) => {
      if (name === open) open = '';
    },
  });
  parser.end(page);
  return (found['title'] ?? found['h1'] ?? '')
    .replace(/\s+/g, ' ')
    .replace(/[\s¶§]+$/u, '')
    .trim()
    .slice(0, 300);
}
