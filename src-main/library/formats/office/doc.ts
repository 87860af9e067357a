import { broken, encrypted, noText } from '../errors.ts';
import type { DocumentParser } from '../format.ts';
import { oneLine } from './blocks.ts';
import { compoundStreams } from './compound.ts';
import { DocFile } from './doc-file.ts';
import { DocReader } from './doc-reader.ts';
import { edgeLines, withEdges } from './page-numbers.ts';
import { warningsOf } from './warnings.ts';
import { plainTextTitle } from '../titles.ts';

/** Word documents from 1997 to 2003. */
export const doc: DocumentParser = ({ name, bytes }) => {
  const streams = compoundStreams(bytes);
  const document = streams?.get('worddocument')?.();
  if (document === undefined || document.length < 0x220)
    throw broken(name, 'it is damaged or not a Word document');
  const flags = document.readUInt16LE(10);
  if (document.readUInt16LE(0) !== 0xa5ec) throw broken(name, 'it is of a version of Word before 1997');
  if ((flags & 0x100) !== 0) throw encrypted(name);
  const table = streams?.get((flags & 0x200) === 0 ? '0table' : '1table')?.();
  if (table === undefined) throw broken(name, 'it is damaged');
  const reader = readerOf(name, document, table);
  const body = reader.body();
  const edges = { headers: new Set<string>(), footers: new Set<string>() };
  for (const { kind, text } of reader.edges())
    for (const line of edgeLines(text)) edges[kind].add(oneLine(line));
  const { text, headings } = withEdges(body, edges.headers, edges.footers);
  const warnings = warningsOf(reader.remarks);
  if (text === '') throw noText(name, 'it has no words', warnings);
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings };
};

function readerOf(name: string, document: Buffer, table: Buffer): DocReader {
  try {
    return new DocReader(new DocFile(document, table));
  } catch (error) {
    if (error instanceof RangeError) throw broken(name, 'its text is damaged', error);
    throw error;
  }
}
