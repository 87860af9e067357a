import type { ParsedHeading } from '../format.ts';
import { leadsToNote } from './blocks.ts';
import { HEADING, OURS } from './builder.ts';
import { hiddenSelectors, siteNavigation } from './hidden.ts';
import {
  descendants,
  flatText,
  isElement,
  nameOf,
  parseHtml,
  type HtmlElement,
  type HtmlNode,
  type PageRoot,
} from './nodes.ts';
import { PageWriter } from './walk.ts';

/** Precedes, with its number, the first words of an element whose position is requested. */
const TARGET = /\uE001(\d+)\uE002/g;

/** Characters after a heading that link to it. */
const PERMALINK = /[\s¶§🔗#]+$/u;

/** A page's content as text, with Markdown's marks for headings and list items. */
export interface HtmlText {
  text: string;
  headings: ParsedHeading[];
  /** Offsets of the lines with the first words in or after the requested elements, by id. */
  targets: Map<string, number>;
  /** The first <title>, else the first <h1>; '' when there is neither. */
  title: string;
  /** Number of words that browsers do not show. */
  hiddenWords: number;
  hasPictures: boolean;
}

/** `ids`: the elements whose positions are requested. `xhtml`: see parseHtml. `partOf`: what of the page is text. */
export function htmlToText(
  html: string,
  ids: readonly string[] = [],
  xhtml = false,
  partOf = (root: PageRoot): readonly HtmlNode[] => root.children,
): HtmlText {
  const root = parseHtml(html.replace(OURS, ' '), xhtml);
  const notes = new Map<string, string>();
  const titles = new Map<string, string>();
  let hasPictures = false;
  for (const node of descendants(root)) {
    if (!isElement(node)) continue;
    const name = nameOf(node);
    const inHead = node.parent !== null && 'name' in node.parent && node.parent.name === 'svg';
    if (/^(?:title|h1)$/.test(name) && !titles.has(name) && !inHead) titles.set(name, titleText(node));
    if (name === 'img' || name === 'image') hasPictures = true;
    const fragment = leadsToNote(node) ? /#(.+)$/.exec(node.attribs['href'] ?? '')?.[1] : undefined;
    if (fragment !== undefined && !notes.has(fragment))
      notes.set(fragment, flatText(node, 40).replace(/^[[(]|[\])]$/g, ''));
  }
  const writer = new PageWriter({
    hiddenBySheet: hiddenSelectors(root),
    navigation: siteNavigation(root),
    notes,
    targets: new Map(ids.map((id, i) => [id, i])),
  });
  writer.write(partOf(root));
  const title = titles.get('title') || titles.get('h1') || '';
  return { ...withHeadings(writer.text.trim(), ids), title, hiddenWords: writer.hiddenWords, hasPictures };
}

function titleText(node: HtmlElement): string {
  const text =
    nameOf(node) === 'title'
      ? node.children.map((child) => ('data' in child ? child.data : '')).join('')
      : flatText(node);
  return text.replace(/\s+/g, ' ').replace(PERMALINK, '').trim().slice(0, 300);
}

/** Replaces the marks of headings, and takes out those of targets. */
function withHeadings(
  marked: string,
  ids: readonly string[],
): Pick<HtmlText, 'text' | 'headings' | 'targets'> {
  const headings: ParsedHeading[] = [];
  const targets = new Map<string, number>();
  const lines: string[] = [];
  let start = 0;
  for (const markedLine of marked.split('\n')) {
    for (const [, index] of markedLine.matchAll(TARGET)) {
      const id = ids[Number(index)] ?? '';
      if (!targets.has(id)) targets.set(id, start);
    }
    const line = markedLine.replace(TARGET, '');
    const [, level = '', words = ''] = /^\uE000([1-6])(.*)$/u.exec(line) ?? [];
    const title = words.replace(PERMALINK, '').trim();
    if (title !== '') headings.push({ start, level: Number(level), title });
    // A heading in a list or a table is plain text.
    lines.push(
      title === ''
        ? line.replaceAll(new RegExp(`${HEADING}[1-6]`, 'g'), '')
        : `${'#'.repeat(Number(level))} ${title}`,
    );
    start += (lines.at(-1) ?? '').length + 1;
  }
  return { text: lines.join('\n'), headings, targets };
}
