import type { DocumentParser } from '../format.ts';
import { readWordPackage } from './docx.ts';
import { decodeXml, OfficePackage } from './package.ts';

/** A list's properties, and the rest of its paragraph's. Of limited length: a file made for it would take forever. */
const LIST =
  /<w:listPr>((?:(?!<\/w:listPr>)[^]){0,1000})<\/w:listPr>((?:(?!<\/w:pPr>)[^]){0,1000}<\/w:pPr>)/g;

/** Word documents in one XML file, which programs that make reports write under the name .doc: Word 2003's own format, and packages. */
export const flatWord: DocumentParser = ({ bytes, name }) => {
  const xml = decodeXml(bytes);
  const files = xml.includes('<pkg:package') ? partsOf(xml) : converted(xml);
  const pack = { names: [...files.keys()], read: (path: string) => Promise.resolve(files.get(path)) };
  return readWordPackage(new OfficePackage(pack, name), name);
};

/** The parts of a package whose namespace is .../office/2006/xmlPackage, which Word writes with this prefix. */
function partsOf(xml: string): Map<string, Buffer> {
  const parts = new Map<string, Buffer>();
  for (const part of xml.split(/<pkg:part\s/).slice(1)) {
    const [, path = ''] = /^[^>]*pkg:name="\/?([^">]*)"/.exec(part) ?? [];
    const [opening, kind] = /<pkg:(xml|binary)Data[^>]*>/.exec(part) ?? [''];
    const start = part.indexOf(opening) + opening.length;
    const data = part.slice(start, part.lastIndexOf('</pkg:', part.lastIndexOf('</pkg:part') - 1));
    parts.set(path, Buffer.from(data, kind === 'binary' ? 'base64' : 'utf8'));
  }
  return parts;
}

/**
 * A document of Word 2003 (namespace .../word/2003/wordml) as the parts of a newer one. Its text has the same elements. Numbers of lists
 * are beside each paragraph, sections are elements around paragraphs, and changes are annotations.
 */
function converted(xml: string): Map<string, Buffer> {
  const document = xml
    .replace(/<\/?wx:(?:sect|sub-section)\b[^>]*>/g, '')
    .replace(/<(\/?)w:wordDocument\b/g, '<$1w:document')
    .replace(/<(\/?)aml:(?:annotation|content)\b/g, '<$1w:ins')
    .replaceAll(LIST, (_, list: string, rest: string) => {
      const [, number = ''] = /<wx:t wx:val="([^"]*)"/.exec(list) ?? [];
      return `${rest}<w:r><w:t>${number === '' ? '' : `${number} `}</w:t></w:r>`;
    });
  const styles = xml.slice(xml.indexOf('<w:styles>'), xml.indexOf('</w:styles>') + '</w:styles>'.length);
  const links =
    '<Relationships><Relationship Id="styles" Type="/styles" Target="styles.xml"/></Relationships>';
  const files = {
    'word/document.xml': document,
    'word/_rels/document.xml.rels': links,
    'word/styles.xml': styles,
  };
  return new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
}
