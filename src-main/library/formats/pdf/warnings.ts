import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PageLines } from './page.ts';

const MAX_LISTED = 20;

/** Sentences on what was left out of a document. */
export async function pdfWarnings(
  document: PDFDocumentProxy,
  pages: readonly (PageLines | undefined)[],
  labels: readonly string[],
): Promise<string[]> {
  const on = (holds: (page: PageLines | undefined) => boolean): string[] =>
    pages.flatMap((page, i) => (holds(page) ? [labels[i] ?? ''] : []));
  const warnings: string[] = [];
  const say = (found: readonly string[], sentence: (found: string) => string): void => {
    if (found.length > 0) warnings.push(sentence(list(found)));
  };
  say(
    on((page) => page !== undefined && !page.isScan && page.lines.length + page.comments.length === 0),
    (found) => `Pages without text: ${found}.`,
  );
  const damaged = on((page) => page === undefined);
  say(
    damaged,
    (found) =>
      `${damaged.length === 1 ? '1 page is' : `${damaged.length} pages are`} damaged and left out: ${found}.`,
  );
  say(
    on((page) => page?.hasUnseen === true),
    (found) => `Text that is not visible was left out on these pages: ${found}.`,
  );
  say(
    on((page) => page?.hasHiddenLayer === true),
    (found) => `Text in layers that are switched off was left out on these pages: ${found}.`,
  );
  say(await attachmentsOf(document), (found) => `Attached files were not read: ${found}.`);
  return warnings;
}

async function attachmentsOf(document: PDFDocumentProxy): Promise<string[]> {
  const files: unknown = await document.getAttachments().catch(() => null);
  const entries = files instanceof Map ? [...files.values()] : Object.values(files ?? {});
  return entries.map((file: { filename?: unknown }) => String(file.filename));
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown;
}
