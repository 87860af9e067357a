import { extname } from 'node:path';
import type { TextKind } from '../queue/outline.ts';

/** The kinds of documents, each with a parser in formats/, by file name extension. */
const EXTENSIONS = {
  pdf: 'pdf',
  docx: 'docx',
  pptx: 'pptx',
  xlsx: 'xlsx',
  epub: 'epub',
  html: 'html htm xhtml',
  csv: 'csv tsv',
  markdown: 'md markdown mdown mdx qmd rmd',
  text: 'txt text log rst adoc asciidoc org tex srt vtt',
  json: 'json jsonl ndjson geojson',
  code:
    'js mjs cjs jsx ts mts cts tsx vue svelte css scss less py pyi rb php pl pm lua r jl java kt kts scala groovy clj cs fs vb ' +
    'go rs c h cc cpp cxx hpp hh hxx m mm swift zig nim d dart ex exs erl hrl hs ml mli lisp el scm sql sh bash zsh fish ps1 bat ' +
    'cmake mk gradle toml yaml yml ini cfg conf properties xml xsd xsl proto graphql tf diff patch',
} as const;

export type Kind = keyof typeof EXTENSIONS;

/** Cut line by line: there are no sentences in them, and a # is no heading. */
const LINES: readonly Kind[] = ['csv', 'json', 'code'];

const KINDS = new Map<string, Kind>(
  (Object.keys(EXTENSIONS) as Kind[]).flatMap((kind) =>
    EXTENSIONS[kind].split(' ').map((extension) => [extension, kind] as const),
  ),
);

/** The extension of a file name, lower case, without the dot. */
export function formatOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** A file of unknown kind, which somebody named on purpose, is tried as text; the parser refuses what is none. */
export function kindOf(format: string): Kind {
  return KINDS.get(format) ?? 'text';
}

export function textKindOf(format: string): TextKind {
  return LINES.includes(kindOf(format)) ? 'lines' : 'prose';
}

/** Whether a file in a folder is picked up. */
export function isDocument(name: string): boolean {
  return KINDS.has(formatOf(name));
}
