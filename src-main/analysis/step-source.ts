import type { StepSource } from '../../src-shared/contract/analysis.ts';
import type { Citation } from '../../src-shared/contract/chat.ts';

/** UTF-16 units of a quotation at most. */
const QUOTE_UNITS = 300;

/** A passage of a step's prompt, with the text that supports the answer; `tokenBytes`: stored KV bytes per token. */
export function sourceOf(citation: Citation, tokenBytes: number): StepSource {
  const { documentId, libraryId, path, title, page, ordinal, start, end, tier, tokens } = citation;
  const said = citation.highlights
    .map((range) => citation.text.slice(range.start, range.end).replace(/\s+/g, ' ').trim())
    .join(' … ');
  const quote = said.length > QUOTE_UNITS ? `${said.slice(0, QUOTE_UNITS).toWellFormed()}…` : said;
  const place = { documentId, libraryId, path, title, page, ordinal, start, end };
  return { ...place, tier, tokens, quote, bytes: tokens * tokenBytes };
}
