import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

/** Elements nested deeper than this are left out: no page for people has them. */
const MAX_DEPTH = 200;

const heading: FormatCallback = (elem, walk, builder) => {
  const level = Number(elem.name?.slice(1) ?? 1);
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addLiteral(`${'#'.repeat(level)} `);
  walk(elem.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** A row of a table is a line. */
const row: FormatCallback = (elem, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  builder.addLiteral('- ');
  walk(elem.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

const cell: FormatCallback = (elem, walk, builder) => {
  walk(elem.children, builder);
  builder.addLiteral(' | ');
};

const skipped = [
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
  formatters: { heading, row, cell },
  baseElements: { selectors: ['main', 'article', 'body'], returnDomByDefault: true },
  limits: { maxDepth: MAX_DEPTH, maxInputLength: 64 * 1024 * 1024 },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    ...skipped.map((selector) => ({ selector, format: 'skip' })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    { selector: 'table', format: 'block' },
    { selector: 'tr', format: 'row' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
  ],
};

const convert = compile(OPTIONS);

/** What a page says, as text with Markdown's headings and lists. */
export function htmlToText(html: string): string {
  return convert(html)
    .replace(/[ \t]*\| *$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
