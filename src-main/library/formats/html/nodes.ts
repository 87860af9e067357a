import { parseDocument } from 'htmlparser2';

export type PageRoot = ReturnType<typeof parseDocument>;
export type HtmlNode = PageRoot['childNodes'][number];
type HtmlWords = Extract<HtmlNode, { nodeType: 3 }>;
export type HtmlElement = Extract<HtmlNode, { attribs: Record<string, string> }>;

/**
 * `xhtml`: elements may close themselves and CDATA sections are text, as in XML. Otherwise it is read like HTML, since books and saved
 * pages are often not well formed.
 */
export function parseHtml(html: string, xhtml: boolean): PageRoot {
  return parseDocument(html, { recognizeSelfClosing: xhtml, recognizeCDATA: xhtml });
}

export function isElement(node: HtmlNode): node is HtmlElement {
  return 'attribs' in node;
}

/** Text that is neither in a comment nor the section of CDATA itself. */
export function isWords(node: HtmlNode): node is HtmlWords {
  return node.nodeType === 3;
}

export function childrenOf(node: HtmlNode | PageRoot): readonly HtmlNode[] {
  return 'children' in node ? node.children : [];
}

/** Prefixes of namespaces whose elements mean the same without them. Those of Office (`o:p`) do not. */
const PREFIX = /^(?:m|mml|math|svg|h|html|xhtml):/;

export function nameOf(element: HtmlElement): string {
  return element.name.replace(PREFIX, '');
}

export function idOf({ attribs }: HtmlElement): string {
  return attribs['id'] ?? attribs['xml:id'] ?? (attribs['name'] || '');
}

/** The values of EPUB's and ARIA's attributes for what an element is for. */
export function rolesOf({ attribs }: HtmlElement): string[] {
  return `${attribs['epub:type'] ?? ''} ${attribs['role'] ?? ''}`.toLowerCase().split(/\s+/).filter(Boolean);
}

/** All nodes below, in order, at any depth. */
export function* descendants(root: HtmlNode | PageRoot): Generator<HtmlNode> {
  const stack = childrenOf(root).toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (const child of childrenOf(node).toReversed()) stack.push(child);
  }
}

const TEXTLESS = new Set(['script', 'style', 'title']);

/** The words in a node, with single spaces; at most about `limit` UTF-16 units. */
export function flatText(root: HtmlNode | PageRoot, limit = 100_000): string {
  let text = '';
  for (const node of descendants(root)) {
    if (!isWords(node)) continue;
    const parent = node.parent;
    if (parent !== null && 'name' in parent && TEXTLESS.has(parent.name)) continue;
    text += node.data;
    if (text.length > limit) break;
  }
  return text.replace(/\s+/g, ' ').trim();
}
