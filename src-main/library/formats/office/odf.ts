import { broken, encrypted, noText } from '../errors.ts';
import { joinPages, type DocumentParser, type ParsedDocument, type SourceFile } from '../format.ts';
import { oneLine, TextBlocks } from './blocks.ts';
import { mathmlText } from './math.ts';
import { OdfReader } from './odf-reader.ts';
import { odfEdges, OdfStyles } from './odf-styles.ts';
import { decodeXml, OfficePackage } from './package.ts';
import { withEdges } from './page-numbers.ts';
import { warningsOf } from './warnings.ts';
import { plainTextTitle } from '../titles.ts';
import { attribute, descendants, element, elements, parseXml, textOf, type XmlElement } from '../xml.ts';

/** OpenDocument texts and presentations, in an archive or as one XML file. */
export const odf: DocumentParser = async (file) => {
  const { content, common, objects } = await open(file);
  const styles = new OdfStyles([common, content]);
  const reader = new OdfReader(styles, objects);
  const body = element(content, 'body');
  const text = element(body, 'text');
  const presentation =
    element(body, 'presentation') ?? element(body, 'drawing') ?? element(body, 'spreadsheet');
  if (!text && !presentation) throw broken(file.name, 'it is not an OpenDocument text or presentation');
  const parsed = text
    ? readText(reader, styles, text, common ?? content)
    : readPages(reader, styles, presentation);
  if (parsed.text === '') throw noText(file.name, 'it has no words', parsed.warnings);
  return parsed;
};

async function open(file: SourceFile): Promise<{
  content: XmlElement | undefined;
  common: XmlElement | undefined;
  objects: Map<string, string>;
}> {
  const objects = new Map<string, string>();
  if (file.bytes.toString('latin1', 0, 2) !== 'PK') {
    const content = elements(parseXml(decodeXml(file.bytes)))[0];
    return { content, common: content, objects };
  }
  const pack = await OfficePackage.open(file);
  const manifest = await pack.xml('META-INF/manifest.xml');
  if (descendants(manifest, 'encryption-data').length > 0) throw encrypted(file.name);
  for (const entry of descendants(manifest, 'file-entry')) {
    const [, folder] = /^(.+)\/content\.xml$/.exec(attribute(entry, 'full-path') ?? '') ?? [];
    if (folder !== undefined) objects.set(folder, objectText(await pack.xml(`${folder}/content.xml`)));
  }
  const content = await pack.xml('content.xml');
  const common = await pack.xml('styles.xml');
  return { content, common, objects };
}

/** A formula in marks of LaTeX, or a chart with its table. */
function objectText(root: XmlElement | undefined): string {
  if (root?.name === 'math') return `$${mathmlText(root)}$`;
  const chart = element(root, 'body', 'chart', 'chart');
  if (!chart) return '';
  const title = oneLine(textOf(element(chart, 'title')));
  const table = new OdfReader(new OdfStyles([root]), new Map()).read({
    ...chart,
    children: elements(chart, 'table'),
  });
  return [`Chart${title === '' ? '' : `: ${title}`}`, table.text].filter(Boolean).join('\n');
}

function readText(
  reader: OdfReader,
  styles: OdfStyles,
  body: XmlElement,
  common: XmlElement | undefined,
): ParsedDocument {
  const read = reader.read(body);
  const edges = (kind: 'header' | 'footer'): Set<string> =>
    new Set(odfEdges(styles, common, kind).flatMap((edge) => reader.edgeLines(edge)));
  const { text, headings } = withEdges(read, edges('header'), edges('footer'));
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings: warningsOf(reader.remarks) };
}

function readPages(reader: OdfReader, styles: OdfStyles, body: XmlElement | undefined): ParsedDocument {
  const footers = new Map(
    elements(body, 'footer-decl').map((footer) => [attribute(footer, 'name') ?? '', textOf(footer)]),
  );
  const hidden: string[] = [];
  const pages = elements(body)
    .filter(({ name }) => name === 'page' || name === 'table')
    .map((page, i) => {
      const label = String(i + 1);
      const isHidden = styles.isHiddenPage(attribute(page, 'style-name'));
      if (isHidden) hidden.push(label);
      const footer = attribute(page, 'use-footer-name') ?? '';
      const slide = readPage(reader, page, isHidden, footers.get(footer) ?? '');
      footers.delete(footer);
      return { label, ...slide };
    });
  const empty = pages.filter(({ text }) => text === '').map(({ label }) => label);
  const warnings = [
    ...(hidden.length > 0 ? [`Hidden slides were read and are marked: ${hidden.join(', ')}.`] : []),
    ...warningsOf(reader.remarks),
    ...(empty.length > 0 ? [`Slides without text: ${empty.join(', ')}.`] : []),
  ];
  return { ...joinPages(pages), title: pages[0]?.title ?? '', warnings };
}

function readPage(
  reader: OdfReader,
  page: XmlElement,
  isHidden: boolean,
  footer: string,
): { title: string; text: string; headings: TextBlocks['headings'] } {
  const isTitle = (shape: XmlElement): boolean => attribute(shape, 'class') === 'title';
  const shapes = page.name === 'table' ? [page] : elements(page);
  const title = oneLine(
    shapes
      .filter(isTitle)
      .map((shape) => reader.read(shape).text)
      .join(' '),
  );
  const out = new TextBlocks();
  out.heading(2, title);
  if (isHidden) out.paragraph('(Hidden slide)');
  out.include(reader.read({ ...page, children: shapes.filter((shape) => !isTitle(shape)) }).text, []);
  out.paragraph(footer);
  const notes = reader.read(element(page, 'notes')).text;
  if (notes !== '') out.include(`Notes: ${notes}`, []);
  return { title, text: out.text, headings: out.headings };
}
