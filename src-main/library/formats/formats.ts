import { extname } from 'node:path';
import { KvasirError } from '../../../src-shared/errors.ts';
import { PLAIN_TABLES, WORKBOOKS } from '../../../src-shared/sheets.ts';
import type { TextKind } from '../queue/outline.ts';
import type { DocumentParser } from './format.ts';
import type { PageMaker } from './page/page.ts';

/** A kind of document. */
interface Format {
  /** File name extensions, without the dot, separated by spaces. */
  extensions: string;
  /** Loaded with the first document of the kind: some parsers are large, and they run in a separate process. */
  parser: () => Promise<DocumentParser>;
  /** Shows the file; absent: the text that was read. Loaded as the parser. */
  page?: () => Promise<PageMaker>;
  /** Its text is the file's own: its lines have the same numbers. */
  asWritten?: boolean;
  /** Split line by line: it contains no sentences, and a # is not a heading. */
  lines?: boolean;
}

const CODE =
  'js mjs cjs jsx ts mts cts tsx vue svelte css scss less py pyi rb php pl pm lua r jl java kt kts scala groovy clj cs fs vb ' +
  'go rs c h cc cpp cxx hpp hh hxx m mm swift zig nim d dart ex exs erl hrl hs ml mli lisp el scm sql sh bash zsh fish ps1 bat ' +
  'cmake mk gradle toml yaml yml ini cfg conf properties xml xsd xsl proto graphql tf diff patch';

/** All kinds of documents. To add one, add a file to this folder and a line here. */
const FORMATS = {
  pdf: { extensions: 'pdf', parser: async () => (await import('./pdf.ts')).pdf },
  image: {
    extensions: 'png jpg jpeg tif tiff webp heic heif',
    parser: async () => (await import('./image.ts')).image,
  },
  office: {
    extensions:
      'docx docm dotx dotm doc dot rtf odt ott fodt pptx pptm potx potm ppsx ppsm ppt pps pot odp otp fodp odg pages numbers key',
    parser: async () => (await import('./office.ts')).office,
    page: async () => (await import('./page/office.ts')).officePage,
  },
  xlsx: {
    extensions: WORKBOOKS,
    parser: async () => (await import('./xlsx.ts')).xlsx,
  },
  epub: {
    extensions: 'epub',
    parser: async () => (await import('./epub.ts')).epub,
    page: async () => (await import('./epub.ts')).epubPage,
  },
  html: {
    extensions: 'html htm xhtml',
    parser: async () => (await import('./html.ts')).html,
    page: async () => (await import('./html.ts')).htmlPage,
  },
  csv: { extensions: PLAIN_TABLES, parser: async () => (await import('./csv.ts')).csv, lines: true },
  markdown: {
    extensions: 'md markdown mdown mdx qmd rmd',
    parser: async () => (await import('./markdown.ts')).markdown,
    page: async () =>
      (await import('./page/reading.ts')).markdownPage((await import('./markdown.ts')).markdown),
  },
  text: {
    extensions: 'txt text log rst adoc asciidoc org',
    parser: async () => (await import('./text.ts')).plainText,
    asWritten: true,
  },
  eml: {
    extensions: 'eml emlx',
    parser: async () => (await import('./mail.ts')).eml,
    page: async () => (await import('./mail.ts')).emlPage,
  },
  mbox: {
    extensions: 'mbox mbx',
    parser: async () => (await import('./mail.ts')).mbox,
    page: async () => (await import('./mail.ts')).mboxPage,
  },
  mhtml: {
    extensions: 'mhtml mht',
    parser: async () => (await import('./mail.ts')).mhtml,
    page: async () => (await import('./mail.ts')).mhtmlPage,
  },
  msg: {
    extensions: 'msg',
    parser: async () => (await import('./mail/msg.ts')).msg,
    page: async () => (await import('./mail/msg.ts')).msgPage,
  },
  subtitles: { extensions: 'srt vtt', parser: async () => (await import('./subtitles.ts')).subtitles },
  notebook: {
    extensions: 'ipynb',
    parser: async () => (await import('./notebook.ts')).notebook,
    page: async () =>
      (await import('./page/reading.ts')).markdownPage((await import('./notebook.ts')).notebook),
  },
  latex: { extensions: 'tex latex ltx', parser: async () => (await import('./latex.ts')).latex },
  json: {
    extensions: 'json jsonl ndjson geojson',
    parser: async () => (await import('./json.ts')).json,
    asWritten: true,
    lines: true,
  },
  code: {
    extensions: CODE,
    parser: async () => (await import('./text.ts')).code,
    asWritten: true,
    lines: true,
  },
} satisfies Record<string, Format>;

type Kind = keyof typeof FORMATS;

const KINDS = new Map<string, Kind>(
  (Object.keys(FORMATS) as Kind[]).flatMap((kind) =>
    FORMATS[kind].extensions.split(' ').map((extension) => [extension, kind] as const),
  ),
);

/** The extension of a file name, lower case, without the dot. */
export function formatOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Documents of unsupported programs. They must not be read as text, which some of them (RTF) resemble. */
const UNSUPPORTED = new Set('wpd ps'.split(' '));

/**
 * The parser for files of this extension. An unknown kind, which somebody named on purpose, is tried as text; the parser rejects it if it
 * is not. `article`: of a web page, only that.
 */
export async function parserOf(format: string, article = false): Promise<DocumentParser> {
  if (UNSUPPORTED.has(format))
    return ({ name }) => {
      throw unsupported(name);
    };
  if (article && KINDS.get(format) === 'html') return (await import('./html/article.ts')).article;
  return kindOf(format).parser();
}

/** What shows files of this extension as a page. */
export async function pageOf(format: string): Promise<PageMaker> {
  const { page } = kindOf(format);
  return page ? page() : (await import('./page/reading.ts')).readingPage(await parserOf(format));
}

/** DOCUMENT_UNSUPPORTED, for a file that no scan picks up. */
export function unsupported(name: string): KvasirError {
  const format = formatOf(name);
  const what = format === '' ? 'has no known extension' : `is a .${format} file`;
  return new KvasirError(
    'DOCUMENT_UNSUPPORTED',
    `Kvasir does not read this kind of file: ${name} ${what}.`,
    'Save it as PDF, DOCX, HTML or plain text, and add that.',
  );
}

export function textKindOf(format: string): TextKind {
  return kindOf(format).lines === true ? 'lines' : 'prose';
}

/** Whether the lines of a document's text are those of its file. */
export function hasLineNumbers(format: string): boolean {
  return kindOf(format).asWritten === true;
}

/** Whether a file in a folder is picked up. Of files with the extension of Keynote, most are private keys: a person has to name them. */
export function isDocument(name: string): boolean {
  const format = formatOf(name);
  return format !== 'key' && KINDS.has(format);
}

function kindOf(format: string): Format {
  return FORMATS[KINDS.get(format) ?? 'text'];
}
