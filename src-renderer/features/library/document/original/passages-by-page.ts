import type { DocumentText, PageLines } from '../../../../../src-shared/contract/libraries.ts';
import type { PagePassage } from './pdf-pages.ts';

/** What of a passage is on which page of a PDF, whose pages are those of its text; `recognised`: its lines on pages that are pictures. */
export function passagesByPage(
  { text, offset, pages }: DocumentText,
  recognised: readonly PageLines[],
): PagePassage[] {
  const end = offset + text.length;
  return pages.flatMap((page, index) => {
    const from = Math.max(offset, page.start);
    const to = Math.max(from, Math.min(end, page.end));
    const part = text.slice(from - offset, to - offset);
    if (part.trim() === '') return [];
    const near = (from - page.start) / (page.end - page.start);
    const lines = recognised.find((scan) => scan.page === index)?.lines ?? [];
    return [{ page: index + 1, text: part, near, lines }];
  });
}
