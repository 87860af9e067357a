import type { ParsedSheet } from './sheets/parsed-sheet.ts';

export interface SourceFile {
  /** Its name for people: relative to its root. For messages. */
  name: string;
  bytes: Buffer;
}

/** A page, slide, sheet or chapter: UTF-16 range in the text. */
export interface ParsedPage {
  label: string;
  start: number;
  end: number;
  /** Of recognised text, 0 to 100; null: the page is a picture, whose text is to be recognised. */
  confidence?: number | null;
}

/** A line of the text that is a heading in the document's format, however it looks. */
export interface ParsedHeading {
  /** UTF-16 offset of its line. */
  start: number;
  /** 1 for the outermost. */
  level: number;
  title: string;
}

export interface ParsedDocument {
  text: string;
  /** In order; absent: use Markdown's headings. */
  headings?: readonly ParsedHeading[];
  /** '' when the document has none. */
  title: string;
  pages: readonly ParsedPage[];
  /** Sentences about parts that could not be read. */
  warnings: readonly string[];
  /** Of a workbook or another table. Made when asked for: they take as much memory as the text. */
  sheets?: () => ParsedSheet[];
}

/**
 * Reads one kind of document. Parsers run in a separate process (parser/worker.ts) and may be slow. DOCUMENT_UNREADABLE,
 * DOCUMENT_ENCRYPTED, DOCUMENT_NO_TEXT, DOCUMENT_UNSUPPORTED, DOCUMENT_ENCODING, DOCUMENT_TOO_LARGE.
 */
export type DocumentParser = (file: SourceFile) => Promise<ParsedDocument> | ParsedDocument;

/** Joins the texts of pages, with the range of each. A page's text has no white space before it. */
export function joinPages(
  pages: readonly { label: string; text: string; headings: readonly ParsedHeading[] }[],
): { text: string; pages: ParsedPage[]; headings: ParsedHeading[] } {
  const ranges: ParsedPage[] = [];
  const headings: ParsedHeading[] = [];
  let text = '';
  for (const page of pages) {
    const trimmed = page.text.trimEnd();
    if (text !== '' && trimmed !== '') text += '\n\n';
    const start = text.length;
    ranges.push({ label: page.label, start, end: start + trimmed.length });
    headings.push(...page.headings.map((heading) => ({ ...heading, start: start + heading.start })));
    text += trimmed;
  }
  return { text, pages: ranges, headings };
}
