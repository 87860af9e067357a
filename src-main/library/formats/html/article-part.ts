import { createRequire } from 'node:module';
import { Readability } from '@mozilla/readability';
import {
  descendants,
  flatText,
  idOf,
  isElement,
  isWords,
  nameOf,
  type HtmlElement,
  type HtmlNode,
} from './nodes.ts';
import type { PageRoot } from './nodes.ts';

/** As much of a node of Readability's own DOM as is used here. */
interface PlainNode {
  /** 1: an element, 3: text. */
  readonly nodeType: number;
  readonly childNodes: readonly PlainNode[];
  readonly textContent: string;
  getAttribute(name: string): string | null;
}

type ReadableDocument = ConstructorParameters<typeof Readability>[0];

/** The DOM of Readability's authors, without types: it reads well-formed markup, has no scripts and loads nothing. */
const JSDOMParser = createRequire(import.meta.url)('@mozilla/readability/JSDOMParser.js') as new () => {
  parse(markup: string): ReadableDocument;
};

interface ArticlePart {
  nodes: readonly HtmlNode[];
  /** '' when the page has none. */
  title: string;
}

/** Elements nested deeper are plain text to Readability, which is recursive. */
const MAX_DEPTH = 400;
/** Readability's time grows faster than their number. */
const MAX_ELEMENTS = 50_000;

/** The number of an element of the page, for those that Readability keeps. */
const NUMBER = 'data-number';
/** All that Readability looks at. */
const ATTRIBUTES =
  'class id role rel href src style hidden aria-hidden aria-modal itemprop itemtype name property content datetime'.split(
    ' ',
  );
const WITHOUT_TEXT = new Set(
  'script style template link iframe object embed svg canvas audio video'.split(' '),
);

/**
 * Chooses the article of a page by Readability. Its part of the page is kept as it is, whatever Readability cleans away in it, but for
 * blocks that it leaves out whole and that are no part of the article: these are removed from `root`. undefined when it finds no article.
 */
export function articlePart(root: PageRoot): ArticlePart | undefined {
  const elements: HtmlElement[] = [];
  const markup = new Markup(elements).page(root);
  if (elements.length > MAX_ELEMENTS) return undefined;
  const found = readable(markup);
  if (!found) return undefined;
  const kept = new Set<HtmlElement>();
  const tops: HtmlElement[] = [];
  const isWhole = collect(found.content, elements, kept, tops);
  const nodes = isWhole ? tops : root.children;
  removeLeftOut(elements, kept, compact(found.content.textContent));
  return { nodes, title: found.title };
}

function readable(markup: string): { title: string; content: PlainNode } | undefined {
  try {
    const options = { serializer: (node: unknown) => node as PlainNode };
    const article = new Readability(new JSDOMParser().parse(markup), options).parse();
    return article?.content ? { title: article.title ?? '', content: article.content } : undefined;
  } catch {
    return undefined; // a page that it cannot cope with
  }
}

/**
 * Collects the page's elements in what Readability kept: all of them, and the outermost. False if it also kept text that is in no element of
 * the page.
 */
function collect(
  node: PlainNode,
  elements: readonly HtmlElement[],
  kept: Set<HtmlElement>,
  tops: HtmlElement[],
): boolean {
  let isWhole = true;
  for (const child of node.childNodes) {
    const element = child.nodeType === 1 ? elements[Number(child.getAttribute(NUMBER) ?? -1)] : undefined;
    if (element) {
      kept.add(element);
      tops.push(element);
      collect(child, elements, kept, []);
    } else if (child.nodeType === 1) isWhole = collect(child, elements, kept, tops) && isWhole;
    else if (child.nodeType === 3 && child.textContent.trim() !== '') isWhole = false;
  }
  return isWhole;
}

/**
 * Removes blocks that hold nothing kept from the page: navigation, and text before the first and after the last that was kept. The article's
 * notes stay.
 */
function removeLeftOut(
  elements: readonly HtmlElement[],
  kept: ReadonlySet<HtmlElement>,
  keptText: string,
): void {
  const holders = withParents(kept);
  const inner = withParents([...kept].map(({ parent }) => parent));
  const ends = elements.map((element) => kept.has(element) && !inner.has(element));
  const [first, last] = [ends.indexOf(true), ends.lastIndexOf(true)];
  const notes = withParents(notesOf(elements, kept));
  for (const [i, element] of elements.entries()) {
    // What Readability did not see as an element, it did not leave out.
    if (holders.has(element) || notes.has(element) || !element.parent) continue;
    const isOutside = i < first || i > last;
    if (isNavigation(element) || (isOutside && isLongBlock(element, keptText)))
      element.parent.children = element.parent.children.filter((child) => child !== element);
  }
}

/** What the links of kept elements lead to on the page. */
function notesOf(elements: readonly HtmlElement[], kept: ReadonlySet<HtmlElement>): HtmlElement[] {
  const ids = new Set([...kept].flatMap(({ attribs }) => /^#(.+)/.exec(attribs['href'] ?? '')?.[1] ?? []));
  return elements.filter((element) => ids.has(idOf(element)));
}

/** These nodes and all that they are in. */
function withParents(nodes: Iterable<HtmlElement['parent']>): ReadonlySet<unknown> {
  const all = new Set<unknown>();
  for (let node of nodes) for (; node !== null && !all.has(node); node = node.parent) all.add(node);
  return all;
}

const NAVIGATION = new Set(['nav', 'footer', 'form']);
const ROLES = new Set(['navigation', 'contentinfo', 'search']);
const BLOCKS = new Set(['div', 'section', 'aside', 'header', 'ul', 'ol', 'dl', 'table', 'menu']);
/** UTF-16 units of a block that is more than a date, a name or a subtitle. */
const LONG = 300;
/** Letters by which text is found again. */
const SAMPLE = 40;

function isNavigation(element: HtmlElement): boolean {
  const name = nameOf(element);
  if (NAVIGATION.has(name) || ROLES.has(element.attribs['role'] ?? '')) return true;
  return BLOCKS.has(name) && isMostlyLinks(element);
}

/** Not one whose text was kept: Readability replaces some elements by others, without their number. */
function isLongBlock(element: HtmlElement, keptText: string): boolean {
  if (!BLOCKS.has(nameOf(element))) return false;
  const text = compact(flatText(element));
  return (
    text.length > LONG && !keptText.includes(text.slice(0, SAMPLE)) && !keptText.includes(text.slice(-SAMPLE))
  );
}

function compact(text: string): string {
  return text.replace(/\s+/g, '');
}

function isMostlyLinks(element: HtmlElement): boolean {
  let links = 0;
  for (const node of descendants(element))
    if (isElement(node) && node.name === 'a') links += flatText(node).length;
  return links * 2 > flatText(element).length;
}

/** Writes a page as well-formed markup, with a number for each element. */
class Markup {
  readonly #elements: HtmlElement[];
  #head = '';

  constructor(elements: HtmlElement[]) {
    this.#elements = elements;
  }

  page(root: PageRoot): string {
    const body = this.#nodes(root.children, 0);
    return `<html><head>${this.#head}</head><body>${body}</body></html>`;
  }

  #nodes(nodes: readonly HtmlNode[], depth: number): string {
    return nodes.map((node) => this.#node(node, depth)).join('');
  }

  #node(node: HtmlNode, depth: number): string {
    if (isWords(node)) return escaped(node.data);
    if (!isElement(node)) return 'children' in node ? this.#nodes(node.children, depth) : '';
    const name = nameOf(node).toLowerCase();
    if (WITHOUT_TEXT.has(name)) return '';
    if (depth > MAX_DEPTH) return escaped(flatText(node));
    const inner = this.#nodes(node.children, depth + 1);
    if (/^(?:html|head|body)$/.test(name) || !/^[a-z][a-z0-9-]*$/.test(name)) return inner;
    const own = `<${name}${this.#attributes(node)}${inner === '' ? '/>' : `>${inner}</${name}>`}`;
    if (name !== 'title' && name !== 'meta') return own;
    this.#head += own;
    return '';
  }

  #attributes(element: HtmlElement): string {
    const { attribs } = element;
    const number = this.#elements.push(element) - 1;
    const known = ATTRIBUTES.filter((name) => name in attribs);
    return [...known.map((name) => [name, attribs[name]]), [NUMBER, String(number)]]
      .map(([name = '', value = '']) => ` ${name}="${escaped(value)}"`)
      .join('');
  }
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
