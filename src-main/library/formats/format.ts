/** A file to be parsed. */
export interface SourceFile {
  /** Where it is. */
  path: string;
  /** How people know it: relative to its root. For messages. */
  name: string;
  /** The file's bytes. */
  bytes: Buffer;
}

/** A page, slide, sheet or chapter: UTF-16 range in the text. */
export interface ParsedPage {
  label: string;
  start: number;
  end: number;
}

/** What a document says. Headings are Markdown's, since that is what the chunker looks for. */
export interface ParsedDocument {
  text: string;
  /** '' when the document has none. */
  title: string;
  pages: readonly ParsedPage[];
  /** Sentences on what could not be read although the rest could. */
  warnings: readonly string[];
}

/**
 * Reads one kind of document. Parsers run in a process of their own (parser/worker.ts) and may take what time they need.
 * DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_NO_TEXT, DOCUMENT_UNSUPPORTED, DOCUMENT_ENCODING, DOCUMENT_TOO_LARGE.
 */
export type Parse = (file: SourceFile) => Promise<ParsedDocument> | ParsedDocument;

/** Joins the texts of pages, with the range of each. */
export function joinPages(
  pages: readonly { label: string; text: string }[],
): Pick<ParsedDocument, 'text' | 'pages'> {
  const ranges: ParsedPage[] = [];
  let text = '';
  for (const page of pages) {
    const trimmed = page.text.trim();
    if (text !== '' && trimmed !== '') text += '\n\n';
    ranges.push({ label: page.label, start: text.length, end: text.length + trimmed.length });
    text += trimmed;
  }
  return { text, pages: ranges };
}
