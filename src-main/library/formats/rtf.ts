import { noText } from './errors.ts';
import type { DocumentParser, ParsedHeading } from './format.ts';
import { counted } from './office/blocks.ts';
import { withEdges } from './office/page-numbers.ts';
import { RtfReader } from './office/rtf-reader.ts';
import { plainTextTitle } from './titles.ts';

export const rtf: DocumentParser = ({ bytes, name }) => {
  const { text, headings, warnings } = readRtf(bytes);
  if (text === '') throw noText(name, ['it has no words', ...warnings].join('; '));
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings };
};

export function readRtf(bytes: Buffer): { text: string; headings: ParsedHeading[]; warnings: string[] } {
  const reader = new RtfReader();
  const { text, headings } = withEdges(reader.read(bytes), reader.headers, reader.footers);
  const changes = ['insertion', 'deletion'].flatMap((kind) => {
    const count = reader.remarks.count(kind);
    return count === 0 ? [] : [counted(count, kind)];
  });
  const [hidden, formulas] = [reader.remarks.count('hidden'), reader.remarks.count('moMath')];
  const symbols = reader.remarks.list('symbol:');
  const warnings = [
    changes.length > 0 ? `Tracked changes were read as accepted: ${changes.join(', ')}.` : '',
    hidden > 0 ? `Hidden text was left out: ${counted(hidden, 'piece')}.` : '',
    formulas > 0 ? `Formulas were read without fractions and exponents: ${formulas}.` : '',
    symbols !== '' ? `Symbols without a Unicode character were left out, of the fonts ${symbols}.` : '',
  ].filter(Boolean);
  return { text, headings, warnings };
}
