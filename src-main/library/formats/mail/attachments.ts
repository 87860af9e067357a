import { KvasirError } from '../../../../src-shared/errors.ts';
import type { ParsedDocument, ParsedHeading } from '../format.ts';
import type { Letter } from './letter.ts';

/** A message or an attachment, or a page of one. */
export interface MailPage {
  label: string;
  text: string;
  headings: ParsedHeading[];
}

interface ReadAttachments {
  pages: MailPage[];
  /** Names of those of an unknown kind, and of those that could not be read. */
  unread: string[];
  warnings: string[];
}

/** Attached documents as pages under their names. */
export async function readAttachments({ attachments }: Letter): Promise<ReadAttachments> {
  const read: ReadAttachments = { pages: [], unread: [], warnings: [] };
  for (const { name, bytes } of attachments) {
    const document = await documentOf(name, bytes);
    if (!document) {
      read.unread.push(name);
      continue;
    }
    read.pages.push(...pagesOf(name, document));
    read.warnings.push(...document.warnings.map((warning) => `${name}: ${warning}`));
  }
  return read;
}

async function documentOf(name: string, bytes: Buffer): Promise<ParsedDocument | undefined> {
  // The table of formats loads this file's format, too.
  const { formatOf, isDocument, parserOf } = await import('../formats.ts');
  if (!isDocument(name)) return undefined;
  try {
    return await (
      await parserOf(formatOf(name))
    )({ name, bytes });
  } catch (error) {
    if (error instanceof KvasirError) return undefined;
    throw error;
  }
}

function pagesOf(name: string, { text, pages, headings = [] }: ParsedDocument): MailPage[] {
  const parts = pages.length > 0 ? pages : [{ label: '', start: 0, end: text.length }];
  return parts.map(({ label, start, end }, i) => {
    const own = headings
      .filter((heading) => heading.start >= start && heading.start < end)
      .map((heading) => ({ ...heading, start: heading.start - start }));
    const page = { text: text.slice(start, end), headings: own };
    return {
      label: label === '' ? name : `${name}, ${label}`,
      ...(i === 0 ? under(name, page.text, own) : page),
    };
  });
}

/** A text below a heading; its own headings are one level deeper. */
export function under(
  title: string,
  text: string,
  headings: readonly ParsedHeading[],
): { text: string; headings: ParsedHeading[] } {
  let whole = `# ${title}\n\n`;
  const all: ParsedHeading[] = [{ start: 0, level: 1, title }];
  let from = 0;
  for (const heading of headings) {
    whole += text.slice(from, heading.start);
    all.push({ ...heading, start: whole.length, level: Math.min(heading.level + 1, 6) });
    if (heading.level < 6) whole += '#';
    from = heading.start;
  }
  return { text: whole + text.slice(from), headings: all };
}
