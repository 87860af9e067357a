import type { Kind } from '../sources/kinds.ts';
import type { Parse } from './format.ts';

/** Loaded when the first document of the kind comes: some of these are large. */
const PARSERS: Record<Kind, () => Promise<Parse>> = {
  pdf: async () => (await import('./pdf.ts')).pdf,
  docx: async () => (await import('./docx.ts')).docx,
  pptx: async () => (await import('./pptx.ts')).pptx,
  xlsx: async () => (await import('./xlsx.ts')).xlsx,
  epub: async () => (await import('./epub.ts')).epub,
  html: async () => (await import('./html.ts')).html,
  csv: async () => (await import('./csv.ts')).csv,
  markdown: async () => (await import('./text.ts')).markdown,
  text: async () => (await import('./text.ts')).plainText,
  json: async () => (await import('./text.ts')).json,
  code: async () => (await import('./text.ts')).code,
};

export function parserOf(kind: Kind): Promise<Parse> {
  return PARSERS[kind]();
}
