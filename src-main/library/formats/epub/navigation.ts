import { decodedUri } from '../../../platform/decoded-uri.ts';
import { tidyTitle } from '../titles.ts';
import { joinParts, localName, readXml } from '../xml.ts';

/** A section in a book's navigation. */
export interface Section {
  title: string;
  /** 1 for the outermost. */
  depth: number;
  /** In the archive. */
  path: string;
  /** The id of an element; '' for the beginning of the file. */
  fragment: string;
}

/** Entries deeper than this, or more than these, are useless as headings. */
export const MAX_DEPTH = 6;
const MAX_ENTRIES = 20_000;

type Target = Pick<Section, 'path' | 'fragment'>;

/** Elements of EPUB 3 and EPUB 2. */
const ENTRIES = new Set(['li', 'navPoint']);
const LINKS = new Set(['a', 'content']);

interface Entry {
  title: string;
  depth: number;
  href: string | undefined;
}

/** The table of contents in a navigation document of EPUB 3 or EPUB 2, which have the same parts under other names. */
export function readNavigation(xml: string, path: string): Section[] {
  const sections: Section[] = [];
  let target: Target | undefined;
  let nextDepth = 0;
  for (const { title, depth, href } of readEntries(xml).reverse()) {
    // An entry without a target begins where its first descendant does.
    if (href !== undefined) target = resolve(path, href);
    else if (nextDepth <= depth) target = undefined;
    nextDepth = depth;
    if (target !== undefined && /[\p{L}\p{N}]/u.test(title)) sections.push({ title, depth, ...target });
  }
  return sections.reverse();
}

function readEntries(xml: string): Entry[] {
  const entries: Entry[] = [];
  let contents = '';
  let depth = 0;
  readXml(xml, {
    open: (name, attributes) => {
      const element = localName(name);
      if (isContents(element, attributes)) contents = name;
      if (contents === '') return;
      if (ENTRIES.has(element)) entries.push({ title: '', depth: ++depth, href: undefined });
      const entry = entries.at(-1);
      if (entry && LINKS.has(element)) entry.href ??= attributes['href'] ?? attributes['src'];
    },
    text: (text) => {
      const entry = entries.at(-1);
      if (entry && depth > 0) entry.title += text;
    },
    close: (name) => {
      if (name === contents) contents = '';
      else if (contents !== '' && ENTRIES.has(localName(name))) depth--;
    },
  });
  return entries
    .slice(0, MAX_ENTRIES)
    .map(({ title, depth, href }) => ({ title: tidyTitle(title), depth: Math.min(depth, MAX_DEPTH), href }));
}

function isContents(element: string, attributes: Readonly<Record<string, string>>): boolean {
  return element === 'navMap' || (element === 'nav' && wordsOf(attributes['epub:type']).includes('toc'));
}

/** Splits an attribute that lists words. */
export function wordsOf(attribute = ''): string[] {
  return attribute.split(/\s+/);
}

/** Resolves a reference in the file at this path. */
export function resolve(from: string, href: string): Target {
  const [file = '', fragment = ''] = href.split('#', 2);
  const path = joinParts(from.split('/').slice(0, -1).join('/'), decodedUri(file));
  return { path, fragment: decodedUri(fragment) };
}
