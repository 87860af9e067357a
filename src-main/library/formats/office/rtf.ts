import { noText } from '../errors.ts';
import type { DocumentParser, ParsedHeading } from '../format.ts';
import { withEdges } from './page-numbers.ts';
import { RtfReader } from './rtf-reader.ts';
import { warningsOf } from './warnings.ts';
import { plainTextTitle } from '../titles.ts';

export const rtf: DocumentParser = ({ bytes, name }) => {
  const { text, headings, warnings } = readRtf(bytes);
  if (text === '') throw noText(name, 'it has no words', warnings);
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings };
};

export function readRtf(bytes: Buffer): { text: string; headings: ParsedHeading[]; warnings: string[] } {
  const reader = new RtfReader();
  const { text, headings } = withEdges(reader.read(bytes), reader.headers, reader.footers);
  return { text, headings, warnings: warningsOf(reader.remarks) };
}
