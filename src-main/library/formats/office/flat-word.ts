import type { DocumentParser } from '../format.ts';
import { readWordPackage } from './docx.ts';
import { decodeXml, OfficePackage } from './package.ts';

/** A header or footer, to be a part. */
interface Edge {
  id: string;
  kind: string;
  xml: string;
}

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
 * are beside each paragraph, sections are elements around paragraphs, changes are annotations, and headers, footers and notes are inside.
 */
function converted(xml: string): Map<string, Buffer> {
  const parts = { styles: cut(xml, '<w:styles>', 'styles'), footnotes: '', endnotes: '' };
  const edges: Edge[] = [];
  let document = xml
    .replace(/<\/?wx:(?:sect|sub-section)\b[^>]*>/g, '')
    .replace(/<(\/?)w:wordDocument\b/g, '<$1w:document')
    .replace(/<(\/?)aml:(?:annotation|content)\b/g, '<$1w:ins')
    .replaceAll(LIST, (_, list: string, rest: string) => {
      const [, number = ''] = /<wx:t wx:val="([^"]*)"/.exec(list) ?? [];
      return `${rest}<w:r><w:t>${number === '' ? '' : `${number} `}</w:t></w:r>`;
    });
  let notes = 0;
  for (const kind of ['footnote', 'endnote'] as const)
    document = replaced(document, `<w:${kind}>`, `</w:${kind}>`, (_, content) => {
      parts[`${kind}s`] += `<w:${kind} w:id="${++notes}">${content}</w:${kind}>`;
      return `<w:${kind}Reference w:id="${notes}"/>`;
    });
  for (const [name, kind] of [
    ['hdr', 'header'],
    ['ftr', 'footer'],
  ] as const)
    document = replaced(document, `<w:${name} `, `</w:${name}>`, (opening, content) => {
      const id = `${kind}${edges.length}`;
      edges.push({ id, kind, xml: `${opening}${content}</w:${name}>` });
      return `<w:${kind}Reference r:id="${id}" ${opening.slice(`<w:${name} `.length, -1).replace('odd', 'default')}/>`;
    });
  const links = [...Object.keys(parts).map((kind) => ({ id: kind, kind })), ...edges]
    .map(({ id, kind }) => `<Relationship Id="${id}" Type="/${kind}" Target="${id}.xml"/>`)
    .join('');
  const files: [string, string][] = [
    ['document.xml', document],
    ['_rels/document.xml.rels', `<Relationships>${links}</Relationships>`],
    ...Object.entries(parts).map(([id, text]): [string, string] => [
      `${id}.xml`,
      `<w:${id}>${text}</w:${id}>`,
    ]),
    ...edges.map(({ id, xml: text }): [string, string] => [`${id}.xml`, text]),
  ];
  return new Map(files.map(([path, text]) => [`word/${path}`, Buffer.from(text)]));
}

/** What is between the first `opening` and the end of that element. */
function cut(xml: string, opening: string, name: string): string {
  const start = xml.indexOf(opening);
  return start < 0 ? '' : xml.slice(start + opening.length, xml.indexOf(`</w:${name}>`, start));
}

/** Replaces elements that begin with `start` and contain none of their kind. In linear time, also if some do not end. */
function replaced(
  xml: string,
  start: string,
  end: string,
  by: (opening: string, content: string) => string,
): string {
  const pieces = xml.split(end);
  const last = pieces.pop() ?? '';
  const done = pieces.map((piece) => {
    const from = piece.lastIndexOf(start);
    if (from < 0) return piece + end;
    const content = piece.indexOf('>', from) + 1;
    return piece.slice(0, from) + by(piece.slice(from, content), piece.slice(content));
  });
  return done.join('') + last;
}
