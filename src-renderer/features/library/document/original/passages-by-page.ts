import type { DocumentText } from '../../../../../src-shared/contract/libraries.ts';
import type { PagePassage } from './pdf-pages.ts';

/** What of a passage is on which page of a PDF, whose pages are those of its text. */
export function passagesByPage({ text, offset, pages }: DocumentText): PagePassage[] {
  const end = offset + text.length;
  return pages.flatMap((page, index) => {
    const from = Math.max(offset, page.start);
    const part = text.slice(from - offset, Math.min(end, page.end) - offset);
    if (page.start >= end || part.trim() === '') return [];
    return [{ page: index + 1, text: part, near: (from - page.start) / (page.end - page.start) }];
  });
}
