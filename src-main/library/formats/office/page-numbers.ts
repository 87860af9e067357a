import { oneLine, TextBlocks } from './blocks.ts';

/** Stands for the number of a page, which a flowing text does not have, or the count of pages. */
export const PAGE_NUMBER = '\uE000';

const WORDS =
  'page|pg\\.?|p\\.|seite|s\\.|pagina|página|pág\\.?|side|sida|sivu|strona|strana|oldal|стр\\.?|страница|第|페이지';
const NUMBERS = new RegExp(`((?<!\\p{L})(${WORDS})\\s*)?\uE000(\\s*\\S{1,4}\\s*\uE000)?\\s*[页頁]?`, 'giu');

/** Lines of a header or footer without numbers of pages, and without lines that had nothing else. */
export function edgeLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) =>
      line.includes(PAGE_NUMBER)
        ? oneLine(line.replace(NUMBERS, ' ')).replace(/[\s|–—-]+$/, '')
        : oneLine(line),
    )
    .filter((line) => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line));
}

/** A text between its headers and footers, each line of them that it does not have itself. */
export function withEdges(
  body: TextBlocks,
  headers: Iterable<string>,
  footers: Iterable<string>,
): TextBlocks {
  const lines = new Set(body.text.split('\n').map((line) => oneLine(line.replace(/^#+ /, ''))));
  const out = new TextBlocks();
  for (const line of headers) if (!lines.has(line)) out.paragraph(line);
  out.include(body.text, body.headings);
  for (const line of footers) if (!lines.has(line)) out.paragraph(line);
  return out;
}
