import WordExtractor from 'word-extractor';
import { broken, noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { counted, oneLine, TextBlocks } from './office/blocks.ts';
import { edgeLines, withEdges } from './office/page-numbers.ts';
import { plainTextTitle } from './titles.ts';

/** Word documents from 1997 to 2003. Their headings and automatic numbers are in formatting that the library does not read. */
export const doc: DocumentParser = async ({ name, bytes }) => {
  const document = await extract(name, bytes);
  const body = new TextBlocks();
  for (const line of document.getBody().split('\n')) body.paragraph(rowOf(line));
  for (const note of [document.getFootnotes(), document.getEndnotes()]) addLines(body, '[Note] ', note);
  addLines(body, '', document.getTextboxes({ includeHeadersAndFooters: false }));
  addLines(body, '[Comment] ', document.getAnnotations());
  const headers = edgeLines(document.getHeaders({ includeFooters: false }));
  const { text } = withEdges(body, headers, edgeLines(document.getFooters()));
  if (text === '') throw noText(name, 'it has no words');
  const warnings = ['Its headings, the numbers of its lists and its tracked changes could not be told from other text.'];
  return { text, headings: [], title: plainTextTitle(text), pages: [], warnings };
};
