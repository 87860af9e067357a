import { parseDocument } from 'htmlparser2';

type Root = ReturnType<typeof parseDocument>;
export type HtmlNode = Root['childNodes'][number];
export type HtmlElement = Extract<HtmlNode, { attribs: Record<string, string> }>;

/**
 * `xhtml`: elements may close themselves and CDATA sections are text, as in XML. Otherwise it is read like HTML, since books and saved
 * pages are often not well formed.
 */
export function parseHtml(html: string, xhtml: boolean): Root {
  return parseDocument(html, { recognizeSelfClosing: xhtml, recognizeCDATA: xhtml });
}

export function isElement(node: HtmlNode): node is HtmlElement {
  return 'attribs' in node;
}

export function childrenOf(node: HtmlNode | Root): readonly HtmlNode[] {
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
export function* descendants(root: HtmlNode | Root): Generator<HtmlNode> {
  const stack = [...childrenOf(root)].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    const children = childrenOf(node);
    for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!);
  }
}

const TEXTLESS = new Set(['script', 'style', 'title']);

/** The words in a node, with single spaces; at most about `limit` UTF-16 units. */
export function flatText(root: HtmlNode, limit = 100_000): string {
  let text = '';
  for (const node of descendants(root)) {
    if (node.type !== 'text' || !('data' in node)) continue;
    const parent = node.parent;
    if (parent !== null && 'name' in parent && TEXTLESS.has(parent.name)) continue;
    text += node.data;
    if (text.length > limit) break;
  }
  return text.replace(/\s+/g, ' ').trim();
}
