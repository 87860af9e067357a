import type { TextPiece } from '../../../../src-shared/find-passage.ts';
import { BLOCKS } from '../html/blocks.ts';
import { hiddenSelectors, isHidden, type HiddenSelectors } from '../html/hidden.ts';
import { mathText } from '../html/math.ts';
import {
  flatText,
  idOf,
  isElement,
  isWords,
  nameOf,
  type parseHtml,
  type HtmlElement,
  type HtmlNode,
} from '../html/nodes.ts';

/** Of a page that is built anew: a tag of ours, or text that is still to be escaped. */
export type PagePiece = { tag: string } | TextPiece;

/** Elements that a page may have; of all others only the content stays. */
const ELEMENTS = new Set(
  (
    'a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em ' +
    'figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main menu nav ol p pre q rp rt ruby s samp section ' +
    'small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr'
  ).split(' '),
);
const EMPTY = new Set('br hr img wbr col'.split(' '));
/** Elements whose content is no text of the page, beside those that browsers never show. */
const DROPPED = new Set('svg select datalist object applet frameset noframes plaintext xmp'.split(' '));

/** What the value of an attribute must be. */
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  alt: /^[^]{0,1000}$/,
  colspan: /^\d{1,3}$/,
  dir: /^(?:ltr|rtl|auto)$/i,
  height: /^\d{1,4}$/,
  lang: /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i,
  rowspan: /^\d{1,4}$/,
  start: /^-?\d{1,6}$/,
  title: /^[^]{0,1000}$/,
  type: /^[1aAiI]$/,
  value: /^-?\d{1,6}$/,
  width: /^\d{1,4}$/,
};
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i;

/** Deeper elements are plain text. */
const MAX_DEPTH = 200;
/** UTF-16 units of a page without and with its pictures. */
const MAX_UNITS = 4 * 1024 * 1024;
const MAX_PICTURES = 20 * 1024 * 1024;

/**
 * Builds a page anew from the tree of another: elements and attributes of a list, with text. Nothing is copied from its source, so that no
 * browser can read more in it than a list's elements. Without what a browser would not show.
 */
export function safeHtml(root: ReturnType<typeof parseHtml>): { pieces: PagePiece[]; isCut: boolean } {
  const builder = new PageBuilder(hiddenSelectors(root));
  builder.add(root.children, 0);
  return { pieces: builder.pieces, isCut: builder.isCut };
}

class PageBuilder {
  readonly pieces: PagePiece[] = [];
  isCut = false;
  readonly #hidden: HiddenSelectors;
  #units = 0;
  #pictures = 0;
  /** Whether a line or block begins with the next text. */
  #begins = true;

  constructor(hidden: HiddenSelectors) {
    this.#hidden = hidden;
  }

  add(nodes: readonly HtmlNode[], depth: number): void {
    for (const node of nodes) {
      if (this.#units > MAX_UNITS) this.isCut = true;
      if (this.isCut) return;
      if (isElement(node)) this.#element(node, depth);
      else if (isWords(node)) this.#text(node.data);
      else if ('children' in node) this.add(node.children, depth); // a CDATA section
    }
  }

  #element(element: HtmlElement, depth: number): void {
    const name = nameOf(element);
    if (DROPPED.has(name) || isHidden(element, this.#hidden)) return;
    const isBlock = BLOCKS.has(name) || /^(?:h[1-6]|br|hr|img)$/.test(name);
    if (isBlock) this.#begins = true;
    if (name === 'math') this.#text(`$${mathText(element)}$`);
    else if (depth >= MAX_DEPTH) this.#text(flatText(element));
    else if (!ELEMENTS.has(name)) this.add(element.children, depth + 1);
    else if (name === 'img') this.#picture(element);
    else {
      this.#tag(`<${name}${attributesOf(element)}>`);
      if (!EMPTY.has(name)) {
        this.add(element.children, depth + 1);
        this.#tag(`</${name}>`);
      }
    }
    if (isBlock) this.#begins = true;
  }

  /** One that is elsewhere is not loaded: its description is shown. */
  #picture(element: HtmlElement): void {
    const { src = '', alt = '' } = element.attribs;
    const fits = this.#pictures + src.length <= MAX_PICTURES;
    if (fits && PICTURE.test(src)) {
      this.#pictures += src.length;
      this.pieces.push({ tag: `<img${attributesOf(element)} src="${src}">` });
    } else if (alt.trim() !== '') {
      this.#tag('<span class="picture">');
      this.#text(alt);
      this.#tag('</span>');
    }
  }

  #tag(tag: string): void {
    this.pieces.push({ tag });
    this.#units += tag.length;
  }

  #text(text: string): void {
    if (text === '') return;
    this.pieces.push({ text, begins: this.#begins });
    this.#units += text.length;
    if (text.trim() !== '') this.#begins = false;
  }
}

function attributesOf(element: HtmlElement): string {
  const { attribs } = element;
  const kept = Object.entries(ATTRIBUTES).flatMap(([name, form]) => {
    const value = attribs[name];
    return value !== undefined && form.test(value) ? [` ${name}="${escapeHtml(value)}"`] : [];
  });
  const id = idOf(element);
  if (id !== '') kept.push(` id="${escapeHtml(ownId(id))}"`);
  const [, target] = /^#(.+)$/.exec(attribs['href'] ?? '') ?? [];
  if (target !== undefined && element.name === 'a')
    kept.push(` href="#${encodeURIComponent(ownId(target))}"`);
  if (element.name === 'details') kept.push(' open');
  return kept.join('');
}

/** No id of a document is that of the passage. */
function ownId(id: string): string {
  return `d-${id.slice(0, 200)}`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
