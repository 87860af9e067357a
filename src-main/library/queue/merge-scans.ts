import { joinPages, type ParsedDocument, type ParsedPage } from '../formats/format.ts';
import { isNonsense } from '../formats/pdf/nonsense.ts';
import type { RecognisedPage } from '../recognition/recognise.ts';

/** Below this, more than a tenth of the letters may be wrong (decision 0261). */
const DOUBTFUL = 80;
const MAX_LISTED = 20;

type Paged = Pick<ParsedDocument, 'text' | 'headings' | 'pages'>;
/** By page, from 0. */
export type Scans = ReadonlyMap<number, Pick<RecognisedPage, 'text' | 'confidence'>>;

/** Whether a page's text is to be recognised. */
export function isScan({ confidence }: Pick<ParsedPage, 'confidence'>): boolean {
  return confidence === null;
}

/** The warning of a document whose pages are not recognised yet, or are not to be. */
export function unrecognised(pages: readonly ParsedPage[]): string[] {
  return sentence('The text of pages that are pictures is not recognised:', pages.filter(isScan));
}

/** Puts the recognised texts in the places of their pages. The text that the file has for a page stays where none better was found. */
export function mergeScans({ text, headings, pages }: Paged, scans: Scans): Paged & { warnings: string[] } {
  const better = pages.map((page, i) => (isScan(page) ? betterText(scans.get(i)) : undefined));
  const joined = joinPages(
    pages.map(({ label, start, end }, i) => {
      const scan = better[i];
      if (scan) return { label, text: scan.text, headings: [] };
      const own = (headings ?? []).filter((heading) => heading.start >= start && heading.start < end);
      const shifted = own.map((heading) => ({ ...heading, start: heading.start - start }));
      return { label, text: text.slice(start, end), headings: shifted };
    }),
  );
  const merged = joined.pages.map((page, i) => ({
    ...page,
    ...(better[i] && { confidence: better[i].confidence }),
  }));
  const kept = merged.filter((page, i) => isScan(pages[i] ?? {}) && !better[i]);
  const doubtful = merged.filter(({ confidence }) => (confidence ?? 100) < DOUBTFUL);
  return {
    ...joined,
    pages: merged,
    warnings: [
      ...sentence('Text recognition is not sure of these pages:', doubtful),
      ...sentence(
        'Text recognition found no text on these pages:',
        kept.filter(({ start, end }) => start === end),
      ),
      ...sentence(
        'The text that the file has for these pages may be wrong:',
        kept.filter(({ start, end }) => start < end),
      ),
    ],
  };
}

function betterText<T extends { text: string }>(scan: T | undefined): T | undefined {
  return scan && scan.text !== '' && !isNonsense(scan.text) ? scan : undefined;
}

function sentence(words: string, pages: readonly ParsedPage[]): string[] {
  if (pages.length === 0) return [];
  const shown = pages.slice(0, MAX_LISTED).map(({ label }) => label);
  const more = pages.length > MAX_LISTED ? ` and ${pages.length - MAX_LISTED} more` : '';
  return [`${words} ${shown.join(', ')}${more}.`];
}
