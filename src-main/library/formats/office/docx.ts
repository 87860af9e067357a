import { broken, noText } from '../errors.ts';
import type { DocumentParser, ParsedDocument, ParsedHeading } from '../format.ts';
import { OfficePackage, type Relationship } from './package.ts';
import { edgeLines, withEdges } from './page-numbers.ts';
import { isOn, value, WordNumbers } from './word-numbers.ts';
import { loadWordPart, type WordPart } from './word-part.ts';
import { warningsOf } from './warnings.ts';
import { WordReader } from './word-reader.ts';
import { readWordStyles } from './word-styles.ts';
import { plainTextTitle } from '../titles.ts';
import { attribute, element, elements, type XmlElement } from '../xml.ts';

/** Documents inserted in one another are read to this depth. */
const MAX_INSERTED = 3;

export const docx: DocumentParser = async (file) =>
  readWordPackage(await OfficePackage.open(file), file.name);

/** As a DocumentParser. `name`: the file's. */
export async function readWordPackage(pack: OfficePackage, name: string): Promise<ParsedDocument> {
  const { text, headings, warnings } = await readWord(pack, name, 0);
  if (text === '') throw noText(name, 'it has no paragraph with letters', warnings);
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings };
}

interface WordText {
  text: string;
  headings: ParsedHeading[];
  warnings: string[];
}

async function readWord(pack: OfficePackage, name: string, depth: number): Promise<WordText> {
  const main = await pack.mainPart();
  const links = await pack.relationships(main);
  const load = (path: string | undefined): Promise<WordPart> =>
    loadWordPart(pack, path, async (bytes) => {
      if (depth >= MAX_INSERTED) return { text: '', headings: [] };
      return readWord(await OfficePackage.open({ name, bytes }), name, depth + 1);
    });
  const partOf = (type: string): Promise<WordPart> =>
    load([...links.values()].find((link) => link.type === type && !link.external)?.target);
  const body = await load(main);
  if (body.root?.name !== 'document') throw broken(name, 'it is not a Word document');
  const styles = readWordStyles(await pack.related(links, 'styles'));
  const numbers = new WordNumbers(await pack.related(links, 'numbering'), (style) =>
    value(element(styles.get(style)?.paragraph, 'numPr'), 'numId'),
  );
  const sources = {
    styles,
    numbers,
    footnotes: await partOf('footnotes'),
    endnotes: await partOf('endnotes'),
    comments: await partOf('comments'),
  };
  const reader = new WordReader(sources, body);
  const read = reader.read(body, element(body.root, 'body'));
  const settings = await pack.related(links, 'settings');
  const edges = await readEdges(reader, links, load, isSet(settings, 'evenAndOddHeaders'));
  const { text, headings } = withEdges(read, edges.headers, edges.footers);
  return { text, headings, warnings: warningsOf(reader.remarks) };
}

/** Lines of the headers and footers that are shown, each once, without page numbers (ECMA-376 part 1, 17.10). */
async function readEdges(
  reader: WordReader,
  links: ReadonlyMap<string, Relationship>,
  load: (path: string) => Promise<WordPart>,
  hasEven: boolean,
): Promise<{ headers: Set<string>; footers: Set<string> }> {
  const edges = { headers: new Set<string>(), footers: new Set<string>() };
  const read = new Set<string>();
  for (const section of reader.sections.slice()) {
    for (const reference of elements(section)) {
      const isHeader = reference.name === 'headerReference';
      if (!isHeader && reference.name !== 'footerReference') continue;
      const type = attribute(reference, 'type');
      if ((type === 'first' && !isSet(section, 'titlePg')) || (type === 'even' && !hasEven)) continue;
      const path = links.get(attribute(reference, 'id') ?? '')?.target;
      if (path === undefined || read.has(path)) continue;
      read.add(path);
      const part = await load(path);
      const lines = edgeLines(reader.read(part, part.root, true).text);
      for (const line of lines) (isHeader ? edges.headers : edges.footers).add(line);
    }
  }
  return edges;
}

function isSet(parent: XmlElement | undefined, name: string): boolean {
  const property = element(parent, name);
  return property !== undefined && isOn(property);
}
