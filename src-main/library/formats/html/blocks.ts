import { flatText, isWords, rolesOf, type HtmlElement, type HtmlNode } from './nodes.ts';

/** Elements that begin and end a line; the value is the number of line ends around them (2: a paragraph). */
export const BLOCKS = new Map<string, number>([
  ...words(
    'p pre blockquote table ul ol dl figure section article main header footer aside nav details dialog fieldset form hgroup',
    2,
  ),
  ...words('listing xmp hr address center', 2),
  ...words(
    'div li dt dd tr summary figcaption legend caption optgroup body html head frameset noframes search menu dir',
    1,
  ),
  ...words('thead tbody tfoot th td foreignobject', 1),
]);

function words(names: string, value: number): [string, number][] {
  return names.split(' ').map((name) => [name, value]);
}

/** Whether an element is the number of a note in the text (EPUB's and ARIA's names). */
export function leadsToNote(element: HtmlElement): boolean {
  return rolesOf(element).some((role) => role === 'noteref' || role === 'doc-noteref');
}

/** Whether a node is a link with just this text. */
export function isLink(node: HtmlElement['parent'] | HtmlNode, label: string): boolean {
  return node !== null && 'name' in node && node.name === 'a' && flatText(node, 100) === label;
}

export function keepsSpace(
  element: HtmlElement,
  name: string,
  outer: { readonly preformatted: boolean },
): boolean {
  const own = /white-space\s*:\s*(pre|break-spaces|normal|nowrap)/i.exec(element.attribs['style'] ?? '')?.[1];
  if (own !== undefined) return !/^n/i.test(own);
  return outer.preformatted || name === 'pre' || name === 'listing' || name === 'xmp';
}

/** HTML standard, 13.2.6.4.7: the line end after the tag is not part of the text. */
export function dropFirstLineEnd(element: HtmlElement): void {
  const [first] = element.children;
  if (first !== undefined && isWords(first)) first.data = first.data.replace(/^\n/, '');
}

export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}
