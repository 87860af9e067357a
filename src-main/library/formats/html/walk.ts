import { BLOCKS, countWords, dropFirstLineEnd, isLink, keepsSpace, leadsToNote } from './blocks.ts';
import { HEADING, TextBuilder, targetMark } from './builder.ts';
import { altText, inputText, listNumber, selectText } from './controls.ts';
import { isDecoration, isHidden, showsText, type HiddenSelectors, type Shown } from './hidden.ts';
import { mathText } from './math.ts';
import { flatText, idOf, isElement, isWords, nameOf, type HtmlElement, type HtmlNode } from './nodes.ts';
import { contentOf, isLayout, strayNodes, tableLines } from './table.ts';

/** Elements nested deeper than this are read as plain words, as browsers do beyond 512. */
const MAX_DEPTH = 400;

const STRUCK = new Set(['del', 's', 'strike']);
const LISTS = new Set(['ul', 'ol', 'menu', 'dir']);

interface Context {
  depth: number;
  /** White space stays. */
  preformatted: boolean;
  shown: Shown;
  /** Nested lists follow without a blank line. */
  inList: boolean;
}

/** What the walk needs to know about the whole page. */
interface PageFacts {
  hiddenBySheet: HiddenSelectors;
  navigation: ReadonlySet<HtmlNode>;
  /** The numbers of notes by the ids of these. */
  notes: ReadonlyMap<string, string>;
  /** Marks to place, by id. */
  targets: Map<string, number>;
}

export class PageWriter {
  readonly #page: PageFacts;
  #out = new TextBuilder();
  #lastPicture = '';
  /** Words of hidden elements, not counting navigation. */
  hiddenWords = 0;

  constructor(page: PageFacts) {
    this.#page = page;
  }

  get text(): string {
    return this.#out.text;
  }

  write(
    nodes: readonly HtmlNode[],
    context: Context = {
      depth: 0,
      preformatted: false,
      shown: { visibility: true, size: true },
      inList: false,
    },
  ): void {
    for (const node of nodes) {
      if (isElement(node)) this.#element(node, context);
      else if (isWords(node)) this.#words(node.data, context);
      else if ('children' in node) this.write(node.children, context); // a CDATA section
    }
  }

  #words(data: string, { preformatted, shown }: Context): void {
    if (!isShown(shown)) this.hiddenWords += countWords(data);
    else if (preformatted) this.#out.preformatted(data.replaceAll('\u00ad', ''));
    else this.#out.words(data.replaceAll('\u00ad', ''));
  }

  #element(element: HtmlElement, outer: Context): void {
    this.#placeTarget(element);
    if (this.#page.navigation.has(element) || isDecoration(element)) return;
    const shown = showsText(element, outer.shown);
    if (isHidden(element, this.#page.hiddenBySheet)) {
      if (!/^(?:script|style|title|noscript|nav)$/.test(element.name))
        this.hiddenWords += countWords(flatText(element));
      return;
    }
    if (outer.depth >= MAX_DEPTH) return this.#out.words(` ${flatText(element)} `);
    const name = nameOf(element);
    const breaks = BLOCKS.get(name) ?? 0;
    const context = {
      ...outer,
      shown,
      depth: outer.depth + 1,
      preformatted: keepsSpace(element, name, outer),
    };
    const around = LISTS.has(name) && outer.inList ? 1 : breaks;
    if (around > 0) this.#out.break(around);
    if (isShown(shown)) this.#noteNumber(element);
    this.#content(element, name, context);
    if (around > 0) this.#out.break(around);
  }

  #content(element: HtmlElement, name: string, context: Context): void {
    const out = this.#out;
    const inner = (): void => this.write(element.children, context);
    if (/^h[1-6]$/.test(name)) return this.#heading(element, Number(name[1]), context);
    if (LISTS.has(name)) return this.#list(element, name, context);
    if (name === 'table') return this.#table(element, context);
    if (name === 'dl') return this.#definitions(element, context);
    if (name === 'blockquote') return out.prefixed('> ', '> ', inner);
    if (!isShown(context.shown)) return inner();
    if (STRUCK.has(name) && flatText(element, 100) !== '') return this.#between('~~', '~~', inner);
    switch (name) {
      case 'br':
        return out.newLine();
      case 'a':
      case 'sup':
        return this.#raised(element, name, inner);
      case 'ruby':
        return this.#ruby(element, context);
      case 'q':
        return this.#between('“', '”', inner);
      case 'math':
        return out.literal(`$${mathText(element)}$`);
      case 'svg':
        return this.#drawing(element, context);
      case 'img':
        return this.#picture(element);
      case 'input':
        return this.#words(inputText(element), context);
      case 'select':
        return this.#words(selectText(element), context);
      case 'textarea':
        return out.preformatted(element.children.map((node) => ('data' in node ? node.data : '')).join(''));
      case 'epub:case': // the default after it is for readers that do not know the format (EPUB 3.3, 6.1.4)
        return;
      default:
        if (name === 'pre') dropFirstLineEnd(element);
        inner();
    }
  }

  /** A heading is one line, in HTML's own order of levels. */
  #heading(element: HtmlElement, level: number, context: Context): void {
    const text = this.#apart(element.children, context).replace(/\s+/g, ' ').trim();
    this.#out.break(2);
    if (text !== '') this.#out.literal(`${HEADING}${level}${text}`);
    this.#out.break(2);
  }

  /** The text of nodes, written aside. */
  #apart(nodes: readonly HtmlNode[], context: Context): string {
    const out = this.#out;
    this.#out = new TextBuilder();
    this.write(nodes, context);
    const { text } = this.#out;
    this.#out = out;
    return text;
  }

  #table(table: HtmlElement, context: Context): void {
    if (isLayout(table)) return this.write(table.children, context);
    // A caption, and what is in no cell: browsers show it before the table.
    this.write(strayNodes(table), context);
    this.#out.break(1);
    const hidden = (element: HtmlElement): boolean => isHidden(element, this.#page.hiddenBySheet);
    const lines = tableLines(table, hidden, (cell) => {
      this.#placeTarget(cell);
      return this.#apart(contentOf(cell), {
        ...context,
        inList: true,
        preformatted: false,
        shown: showsText(cell, context.shown),
      });
    });
    for (const line of lines.split('\n').filter(Boolean)) {
      this.#out.break(1);
      this.#out.literal(line);
    }
  }

  #list(list: HtmlElement, name: string, context: Context): void {
    const inside = { ...context, inList: true };
    const items = list.children.filter(isElement).filter((node) => nameOf(node) === 'li');
    const number = listNumber(list, items.length);
    for (const node of list.children) {
      if (!isElement(node) || nameOf(node) !== 'li') {
        this.write([node], inside);
        continue;
      }
      if (!isHidden(node, this.#page.hiddenBySheet)) number.next(node);
      const mark = name === 'ol' ? `${number.text(node)} ` : '- ';
      this.#out.item(mark, () => this.#element(node, inside));
    }
  }

  /** “- Term: definition”; further definitions follow on lines of their own. */
  #definitions(list: HtmlElement, context: Context): void {
    const inside = { ...context, inList: true };
    const nodes = list.children.flatMap((node) =>
      isElement(node) && nameOf(node) === 'div' ? node.children : [node],
    );
    this.write(
      nodes.filter((node) => !isElement(node)),
      inside,
    );
    const groups: HtmlElement[][] = [];
    let before = '';
    for (const part of nodes.filter(isElement)) {
      const name = nameOf(part);
      if (groups.length === 0 || (name === 'dt' && before !== 'dt')) groups.push([]);
      groups.at(-1)?.push(part);
      before = name;
    }
    for (const group of groups)
      this.#out.item('- ', () => group.forEach((part, i) => this.#definition(part, group[i - 1], inside)));
  }

  #definition(part: HtmlElement, before: HtmlElement | undefined, context: Context): void {
    if (isHidden(part, this.#page.hiddenBySheet)) return;
    const isTerm = nameOf(part) === 'dt';
    if (!before || nameOf(before) !== 'dt') this.#out.break(1);
    else this.#out.literal(isTerm ? ', ' : this.#out.endsWith(':：') ? ' ' : ': ');
    this.#placeTarget(part);
    this.#out.hold();
    this.#noteNumber(part);
    this.write(part.children, {
      ...context,
      depth: context.depth + 1,
      shown: showsText(part, context.shown),
    });
  }

  /** Raised numbers are powers, unless they lead to a note. */
  #raised(element: HtmlElement, name: string, inner: () => void): void {
    const label = flatText(element, 40);
    const leads =
      leadsToNote(element) ||
      (name === 'sup' &&
        (isLink(element.parent, label) || element.children.some((node) => isLink(node, label))));
    if (leads && /^[\p{L}\p{N}*†‡§]{1,5}$/u.test(label)) this.#out.literal(`[${label}]`);
    else if (name === 'sup' && /^[-+−]?(?:\d+|\p{L})$/u.test(label)) this.#out.literal(`^${label}`);
    else inner();
  }

  /** The reading after the whole word, so that the word can be found. */
  #ruby(ruby: HtmlElement, context: Context): void {
    const isReading = (node: HtmlNode): boolean => isElement(node) && /^(?:rt|rtc)$/.test(nameOf(node));
    this.write(
      ruby.children.filter((node) => !isReading(node)),
      context,
    );
    const reading = ruby.children
      .filter(isReading)
      .map((node) => flatText(node))
      .join('');
    if (reading !== '') this.#out.literal(`(${reading})`);
  }

  #drawing(element: HtmlElement, context: Context): void {
    for (const child of element.children.filter(isElement)) {
      const name = nameOf(child).toLowerCase();
      if (name === 'text') {
        this.#placeTarget(child);
        if (isHidden(child, this.#page.hiddenBySheet) || !isShown(showsText(child, context.shown))) continue;
        this.#out.break(1);
        this.#out.words(
          child.children
            .map((part) => (isElement(part) ? flatText(part) : 'data' in part ? part.data : ''))
            .join(' '),
        );
        this.#out.break(1);
      } else if (name === 'foreignobject') this.write([child], context);
      else if (
        !/^(?:title|desc|metadata|defs|symbol|style|script)$/.test(name) &&
        context.depth < MAX_DEPTH &&
        !isHidden(child, this.#page.hiddenBySheet)
      )
        this.#drawing(child, { ...context, depth: context.depth + 1 });
    }
  }

  /** Its text, once: pages repeat pictures for browsers without scripts. */
  #picture(element: HtmlElement): void {
    const text = altText(element);
    if (text === '' || text === this.#lastPicture) return;
    this.#lastPicture = text;
    this.#out.words(text);
  }

  #between(before: string, after: string, inner: () => void): void {
    this.#out.literal(before);
    inner();
    this.#out.literal(after);
  }

  #placeTarget(element: HtmlElement): void {
    const id = idOf(element);
    const target = id === '' ? undefined : this.#page.targets.get(id);
    if (target === undefined) return;
    this.#out.mark(targetMark(target));
    this.#page.targets.delete(id);
  }

  /** A note begins with the number by which the text refers to it. */
  #noteNumber(element: HtmlElement): void {
    const label = this.#page.notes.get(idOf(element));
    if (label === undefined || element.name === 'li' || element.name === 'a') return;
    if (!flatText(element, 40).replace(/^[[(]/, '').startsWith(label)) {
      this.#out.literal(`[${label}] `);
      this.#out.hold();
    }
  }
}

function isShown({ visibility, size }: Shown): boolean {
  return visibility && size;
}
