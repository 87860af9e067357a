import { compile, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { Parser } from 'htmlparser2';
import type { ParsedHeading } from './format.ts';

/** Elements nested deeper than this are dropped: no page for people has them. */
const MAX_DEPTH = 200;

/** The markers are private-use characters; the page is stripped of them first. */
const OURS = /[\uE000-\uE002]/g;
/** Precedes a heading until the text is complete. */
const HEADING = '\uE000';
/** Precedes, with its number, the first words of an element whose position is requested. */
const TARGET = /\uE001(\d+)\uE002/g;

/** Characters after a heading that link to it. */
const PERMALINK = /[\s¶§🔗#]+$/u;

const heading: FormatCallback = (elem, walk, builder) => {
  const level = Number(elem.name?.slice(1) ?? 1);
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addLiteral(`${HEADING}${'#'.repeat(level)} `);
  walk(elem.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** A row of a table becomes a line, unless the table only arranges parts of the page. */
const row: FormatCallback = (elem, walk, builder) => {
  const cells = elem.children.filter(({ name }) => name === 'td' || name === 'th');
  builder.openBlock({ leadingLineBreaks: 1 });
  if (cells.some((cell) => isLayout(cell))) for (const cell of cells) walk(cell.children, builder);
  else builder.addLiteral(`- ${cells.map((cell) => textOf(cell).trim()).join(' | ')}`);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

const LAYOUT = new Set([
  'h1',
  'h2',
  'h3',
  'h4',
  'table',
  'ul',
  'ol',
  'pre',
  'blockquote',
  'article',
  'section',
]);

/** Only tags have children, whatever the types say. */
function isLayout(elem: DomNode): boolean {
  if (elem.type !== 'tag') return false;
  return LAYOUT.has(elem.name ?? '') || elem.children.some(isLayout);
}

function textOf(elem: DomNode): string {
  if (elem.type === 'text') return (elem.data ?? '').replace(/\s+/g, ' ');
  if (elem.type !== 'tag' || SKIPPED.includes(elem.name ?? '')) return '';
  const text = elem.children.map(textOf).join('');
  return elem.name === 'p' || elem.name === 'div' || elem.name === 'br' ? `${text} ` : text;
}

const SKIPPED = [
  'script',
  'style',
  'noscript',
  'template',
  'nav',
  'aside',
  'footer',
  'svg',
  'iframe',
  'object',
  'img',
];

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  formatters: { heading, row },
  baseElements: { selectors: ['main', 'article', 'body'], returnDomByDefault: true },
  limits: { maxDepth: MAX_DEPTH, maxInputLength: 64 * 1024 * 1024 },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    { selector: 'table', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    { selector: 'tr', format: 'row' },
  ],
};

const convert = compile(OPTIONS);

/** A page's content as text, with Markdown's marks for headings and list items. */
export interface HtmlText {
  text: string;
  headings: ParsedHeading[];
  /** Offsets of the lines with the first words in or after the requested elements, by id. */
  targets: Map<string, number>;
}

/** `ids`: the elements whose positions are requested. */
export function htmlToText(html: string, ids: readonly string[] = []): HtmlText {
  const marked = convert(withTargets(html.replace(OURS, ' '), ids))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const headings: ParsedHeading[] = [];
  const targets = new Map<string, number>();
  let text = '';
  for (const markedLine of marked.split('\n')) {
    if (text !== '') text += '\n';
    for (const [, index] of markedLine.matchAll(TARGET)) targets.set(ids[Number(index)] ?? '', text.length);
    const line = markedLine.replace(TARGET, '');
    const [, marks = '', words = ''] = /^\uE000(#{1,6}) (.*)$/u.exec(line) ?? [];
    const title = words.replace(PERMALINK, '').trim();
    if (title !== '') headings.push({ start: text.length, level: marks.length, title });
    // A heading without words, or in a list or a table, is plain text.
    text += title === '' ? line.replaceAll(HEADING, '').replace(/^#{1,6} $/, '') : `${marks} ${title}`;
  }
  return { text, headings, targets };
}

/** Inserts a mark before the first words in or after the first element with each of these ids. */
function withTargets(html: string, ids: readonly string[]): string {
  const wanted = new Map(ids.map((id, i) => [id, i]));
  if (wanted.size === 0) return html;
  let marked = '';
  let from = 0;
  let marks = '';
  const parser = new Parser({
    onopentag: (_, attributes) => {
      const id = attributes['id'] ?? attributes['name'] ?? '';
      const index = wanted.get(id);
      if (index !== undefined) marks += `\uE001${index}\uE002`;
      wanted.delete(id);
    },
    ontext: (text) => {
      const words = text.search(/\S/);
      if (words < 0 || marks === '') return;
      marked += html.slice(from, parser.startIndex + words) + marks;
      from = parser.startIndex + words;
      marks = '';
    },
  });
  parser.end(html);
  return marked + html.slice(from);
}
