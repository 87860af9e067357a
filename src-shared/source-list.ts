import type { Citation, CitedSentence } from './contract/chat.ts';

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

/** An answer's text with the numbers of its sources after each sentence: "She lives in Oslo. [1]". */
export function citedText(text: string, sentences: readonly CitedSentence[] = []): string {
  let [cited, from] = ['', 0];
  for (const { end, sources } of sentences) {
    const numbers = new Set(sources.map(({ citation }) => citation + 1));
    cited += [text.slice(from, end), ...[...numbers].sort((a, b) => a - b).map((n) => `[${n}]`)].join(' ');
    from = end;
  }
  return cited + text.slice(from);
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
