import type { Citation } from './contract/chat.ts';

/** Words of a list of sources, in the reader's language. */
export interface SourceWords {
  title: string;
  page: (label: string) => string;
  /** From 1. */
  part: (number: number) => string;
}

/** The sources of an answer as Markdown: a numbered list with titles, files, pages and the sentences that support the answer. */
export function sourceList(citations: readonly Citation[], words: SourceWords): string {
  const line = ({ path, title, page, ordinal, text, highlights }: Citation, index: number): string => {
    const place = page === null ? words.part(ordinal + 1) : words.page(page);
    const said = highlights.map(({ start, end }) => oneLine(text.slice(start, end))).join(' … ');
    return `${index + 1}. ${oneLine(title)} (\`${path}\`, ${place})${said === '' ? '' : `: “${said}”`}`;
  };
  return [words.title, '', ...citations.map(line)].join('\n');
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
