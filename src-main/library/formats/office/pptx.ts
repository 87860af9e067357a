import { broken, noText } from '../errors.ts';
import { joinPages, type DocumentParser, type ParsedHeading } from '../format.ts';
import { oneLine, Remarks, TextBlocks } from './blocks.ts';
import { OfficePackage, type Relationship } from './package.ts';
import { drawingsOf, paragraphText, SlideReader, type SlideText } from './slide.ts';
import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';

interface Slide {
  label: string;
  title: string;
  text: string;
  headings: ParsedHeading[];
  hidden: boolean;
  remarks: Remarks;
}

export const pptx: DocumentParser = async (file) => {
  const pack = await OfficePackage.open(file);
  const main = await pack.mainPart();
  const presentation = await pack.xml(main);
  if (presentation?.name !== 'presentation') throw broken(file.name, 'it is not a presentation');
  const links = await pack.relationships(main);
  const reader = new PresentationReader(pack, await authorsOf(pack, links));
  const slides: Slide[] = [];
  for (const id of elements(element(presentation, 'sldIdLst'), 'sldId')) {
    const key = Object.entries(id.attributes).find(([name]) => name.endsWith(':id'))?.[1];
    const path = links.get(key ?? '')?.target;
    slides.push(await reader.slide(path ?? '', String(slides.length + 1)));
  }
  const joined = joinPages(slides);
  const warnings = warningsOf(slides);
  if (joined.text === '') throw noText(file.name, 'its slides have no text', warnings);
  return { ...joined, title: slides[0]?.title ?? '', warnings };
};

/** Reads slides; what several of them show alike (footers, the layout's own text) only once. */
class PresentationReader {
  readonly #pack: OfficePackage;
  readonly #authors: ReadonlyMap<string, string>;
  readonly #edges = new Set<string>();
  readonly #layouts = new Set<string>();

  constructor(pack: OfficePackage, authors: ReadonlyMap<string, string>) {
    this.#pack = pack;
    this.#authors = authors;
  }

  async slide(path: string, label: string): Promise<Slide> {
    const remarks = new Remarks();
    const root = await this.#pack.xml(path);
    if (!root) remarks.add('missing');
    const links = await this.#pack.relationships(path);
    const { title, body, edges } = await this.#shapes(path, root, remarks, () => true);
    const hidden = root !== undefined && ['0', 'false'].includes(attribute(root, 'show') ?? '1');
    const out = new TextBlocks();
    out.heading(2, title);
    if (hidden && (title !== '' || body.text !== '')) out.paragraph('(Hidden slide)');
    out.include(body.text, []);
    out.include((await this.#layoutText(root, links)).join('\n'), []);
    for (const line of edges) if (isNew(this.#edges, line)) out.paragraph(line);
    const notes = await this.#notes(links, remarks);
    if (notes !== '') out.include(`Notes: ${notes}`, []);
    for (const comment of await this.#comments(links)) out.paragraph(comment);
    return { label, title, text: out.text, headings: out.headings, hidden, remarks };
  }

  async #shapes(
    path: string,
    root: XmlElement | undefined,
    remarks: Remarks,
    only: (placeholder: string | undefined) => boolean,
  ): Promise<SlideText> {
    return new SlideReader(await drawingsOf(this.#pack, path), remarks).read(root, only);
  }

  /** Text that a layout and its master put on every slide, at the first of them. Their placeholders are only prompts. */
  async #layoutText(
    root: XmlElement | undefined,
    links: ReadonlyMap<string, Relationship>,
  ): Promise<string[]> {
    const lines: string[] = [];
    let [shows, above] = [root, links];
    for (const type of ['slideLayout', 'slideMaster']) {
      const path = [...above.values()].find((each) => each.type === type)?.target;
      const hides = shows === undefined || attribute(shows, 'showMasterSp') === '0';
      if (path === undefined || hides || !isNew(this.#layouts, path)) break;
      shows = await this.#pack.xml(path);
      above = await this.#pack.relationships(path);
      const { body } = await this.#shapes(
        path,
        shows,
        new Remarks(),
        (placeholder) => placeholder === undefined,
      );
      lines.push(body.text);
    }
    return lines.filter(Boolean);
  }

  async #notes(links: ReadonlyMap<string, Relationship>, remarks: Remarks): Promise<string> {
    const link = [...links.values()].find(({ type }) => type === 'notesSlide');
    if (link === undefined) return '';
    const root = await this.#pack.xml(link.target);
    const { body } = await this.#shapes(
      link.target,
      root,
      remarks,
      (type) => type === undefined || type === 'body',
    );
    // A notes page repeats the slide's number; that alone is not a note.
    return /^[\s\d]*$/.test(body.text) ? '' : body.text;
  }

  /** Comments of both kinds: `p:cm` with its text, and newer ones with answers below. */
  async #comments(links: ReadonlyMap<string, Relationship>): Promise<string[]> {
    const comments: string[] = [];
    for (const { type, target } of links.values()) {
      if (type !== 'comments') continue;
      for (const comment of elements(await this.#pack.xml(target), 'cm')) {
        comments.push(...[comment, ...descendants(comment, 'reply')].map((each) => this.#comment(each)));
      }
    }
    return comments.filter(Boolean);
  }

  #comment(comment: XmlElement): string {
    const author = this.#authors.get(attribute(comment, 'authorId') ?? '');
    const written = textOf(element(comment, 'text'));
    const text = oneLine(written || elements(element(comment, 'txBody'), 'p').map(paragraphText).join(' '));
    return text === '' ? '' : `[Comment${author === undefined ? '' : ` by ${author}`}: ${text}]`;
  }
}

async function authorsOf(
  pack: OfficePackage,
  links: ReadonlyMap<string, Relationship>,
): Promise<Map<string, string>> {
  const roots = [await pack.related(links, 'commentAuthors'), await pack.related(links, 'authors')];
  const authors = roots.flatMap((root) => elements(root));
  return new Map(authors.map((author) => [attribute(author, 'id') ?? '', attribute(author, 'name') ?? '']));
}

function isNew(seen: Set<string>, value: string): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  return true;
}

function warningsOf(slides: readonly Slide[]): string[] {
  const those = (matches: (slide: Slide) => boolean): string =>
    slides
      .filter(matches)
      .map(({ label }) => label)
      .join(', ');
  const onSlides = (kind: string): string => those(({ remarks }) => remarks.count(kind) > 0);
  const hidden = those((slide) => slide.hidden && slide.text !== '');
  const [missing, shapes, charts, diagrams] = [
    onSlides('missing'),
    onSlides('hidden'),
    onSlides('chart'),
    onSlides('diagram'),
  ];
  const objects = slides.flatMap(({ label, remarks }) => {
    const kinds = remarks.list('object:');
    return kinds === '' ? [] : [`${kinds} on slide ${label}`];
  });
  const empty = those(({ text, remarks }) => text === '' && remarks.count('missing') === 0);
  return [
    hidden === '' ? '' : `Hidden slides were read and are marked: ${hidden}.`,
    missing === '' ? '' : `Slides that the file lacks: ${missing}.`,
    shapes === '' ? '' : `Hidden shapes were left out on slides: ${shapes}.`,
    charts === '' ? '' : `Charts that keep no values were left out on slides: ${charts}.`,
    diagrams === '' ? '' : `Diagrams without text were left out on slides: ${diagrams}.`,
    objects.length === 0 ? '' : `Embedded objects were left out: ${objects.join('; ')}.`,
    empty === '' ? '' : `Slides without text: ${empty}.`,
  ].filter(Boolean);
}
