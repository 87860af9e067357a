import {
  descendants,
  flatText,
  isElement,
  nameOf,
  rolesOf,
  type HtmlElement,
  type HtmlNode,
} from './nodes.ts';

type Root = Parameters<typeof descendants>[0];

/** Selectors of one class or id, perhaps with an element's name, that a page's style sheets hide. */
export type HiddenSelectors = ReadonlySet<string>;

const HIDES = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))/i;
const SHOWS = /(?:^|[;\s])(?:display\s*:\s*(?!\s|none)|visibility\s*:\s*visible)/i;
const SIMPLE = /^([a-z][a-z0-9]*)?[.#][\w-]+$/i;

/**
 * Rules for all media that hide a class or an id. One that any other rule can show again is not hidden: tabs and menus show their parts one
 * at a time.
 */
export function hiddenSelectors(root: Root): HiddenSelectors {
  const hidden = new Map<string, string[]>();
  const shown: string[] = [];
  for (const node of descendants(root)) {
    if (!isElement(node) || node.name !== 'style' || node.attribs['media'] === 'print') continue;
    const css = node.children.map((child) => ('data' in child ? child.data : '')).join('');
    for (const { selectors, body, nested } of rulesOf(css)) {
      if (SHOWS.test(body)) shown.push(...selectors);
      if (nested || !HIDES.test(body)) continue;
      for (const selector of selectors.filter((one) => SIMPLE.test(one)).map((one) => one.toLowerCase()))
        hidden.set(partOf(selector), [...(hidden.get(partOf(selector)) ?? []), selector]);
    }
  }
  for (const selector of shown)
    for (const [part] of selector.toLowerCase().matchAll(/[.#][\w-]+/g)) hidden.delete(part);
  return new Set([...hidden.values()].flat());
}

/** The class or id in a simple selector. */
function partOf(selector: string): string {
  return selector.slice(Math.max(selector.indexOf('.'), selector.indexOf('#')));
}

function* rulesOf(css: string): Generator<{ selectors: string[]; body: string; nested: boolean }> {
  const parts = css.replace(/\/\*[\s\S]*?(?:\*\/|$)|<!--|-->/g, '').split(/([{}])/);
  const open: string[] = [];
  for (let i = 1; i < parts.length; i += 2) {
    const before = (parts[i - 1] ?? '').trim();
    if (parts[i] === '{') open.push(before.slice(before.lastIndexOf(';') + 1).trim());
    else {
      const selector = open.pop() ?? '';
      if (selector !== '' && !selector.startsWith('@'))
        yield {
          selectors: selector.split(',').map((one) => one.trim()),
          body: before,
          nested: open.length > 0,
        };
    }
  }
}

/** Elements that browsers do not show (HTML standard, 15.3.1), or whose text is for browsers without what everyone has. */
const NEVER_SHOWN = new Set(
  'script style template title meta link base datalist iframe audio video canvas param source track rp noembed area'.split(
    ' ',
  ),
);
const SHADOW_ROOT = ['shadowrootmode', 'shadowroot'];
const NOTES = new Set(['footnote', 'endnote', 'rearnote', 'note', 'doc-footnote', 'doc-endnote']);
/** Ligatures of icon fonts, signs that link to a heading, numbers of lines. */
const DECORATION =
  /(?:^|\s)(?:material-(?:icons|symbols)\S*|headerlink|linenos|katex-html|MathJax_Preview|mw-editsection)(?:\s|$)/;

export function isDecoration({ attribs }: HtmlElement): boolean {
  return DECORATION.test(attribs['class'] ?? '');
}

/** Whether browsers show neither the element nor anything in it. */
export function isHidden(element: HtmlElement, selectors: HiddenSelectors): boolean {
  const { attribs } = element;
  const name = nameOf(element);
  if (NEVER_SHOWN.has(name)) return name !== 'template' || !SHADOW_ROOT.some((one) => one in attribs);
  if (name === 'noscript') return isScriptPlea(element);
  // Reading systems show a note when its number is clicked; books hide it until then.
  if (rolesOf(element).some((role) => NOTES.has(role))) return false;
  if (name === 'dialog') return !('open' in attribs);
  if ('popover' in attribs) return true;
  if ('hidden' in attribs && attribs['hidden'] !== 'until-found') return true;
  if (/display\s*:\s*none|mso-hide\s*:\s*all/i.test(attribs['style'] ?? '')) return true;
  return selectors.size > 0 && keysOf(element, name).some((key) => selectors.has(key));
}

function keysOf({ attribs }: HtmlElement, name: string): string[] {
  const classes = (attribs['class'] ?? '')
    .split(/\s+/)
    .filter(Boolean)
    .map((one) => `.${one}`);
  const keys = attribs['id'] === undefined ? classes : [...classes, `#${attribs['id']}`];
  return keys.flatMap((key) => [key.toLowerCase(), `${name}${key}`.toLowerCase()]);
}

/** A request to switch JavaScript on. */
function isScriptPlea(element: HtmlElement): boolean {
  const text = flatText(element, 1000);
  return text.length < 300 && /java\s?script/i.test(text);
}

/** Properties that hide text and, unlike `display`, can be set back further inside. */
export interface Shown {
  visibility: boolean;
  size: boolean;
}

/** Whether text directly in an element is visible. */
export function showsText({ attribs }: HtmlElement, inherited: Shown): Shown {
  const style = attribs['style'];
  if (style === undefined) return inherited;
  const visibility = /visibility\s*:\s*(visible|hidden|collapse)/i.exec(style)?.[1];
  const size = /font-size\s*:\s*(0(?![.\d])|.)/i.exec(style)?.[1];
  return {
    visibility: visibility === undefined ? inherited.visibility : visibility.toLowerCase() === 'visible',
    size: size === undefined ? inherited.size : size !== '0',
  };
}

const CONTENTS = /(?:^|[\s_-])(?:toc|contents|tableofcontents)(?:$|[\s_-])/i;

/**
 * The navigation of a site that surrounds its text: lists of links only. A table of contents is text, and so are links that are most of a
 * page.
 */
export function siteNavigation(root: Root): ReadonlySet<HtmlNode> {
  const found = [...descendants(root)].filter(
    (node): node is HtmlElement =>
      isElement(node) &&
      (nameOf(node) === 'nav' || node.attribs['role'] === 'navigation') &&
      isLinksOnly(node),
  );
  if (found.length === 0) return new Set();
  const letters = found.reduce((sum, nav) => sum + flatText(nav).length, 0);
  return letters * 2 >= flatText(root).length ? new Set() : new Set(found);
}

function isLinksOnly(nav: HtmlElement): boolean {
  const { attribs } = nav;
  const label = [attribs['class'], attribs['id'], attribs['aria-label'], ...rolesOf(nav)].join(' ');
  if (CONTENTS.test(label)) return false;
  let links = 0;
  for (const node of descendants(nav)) {
    if (isElement(node) && /^(?:a|button|h[1-6]|label)$/.test(node.name)) links += flatText(node).length;
  }
  return flatText(nav).length - links <= 0.25 * links + 10;
}
