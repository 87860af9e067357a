import { noText } from '../errors.ts';
import { joinPages, type ParsedDocument } from '../format.ts';
import { hiddenWarnings } from '../html.ts';
import { readAttachments } from './attachments.ts';
import { letterText, letterWarnings, type Letter } from './letter.ts';

/** One message, with attached documents as its further pages. DOCUMENT_NO_TEXT. */
export async function letterDocument(letter: Letter, name: string): Promise<ParsedDocument> {
  const { text, headings, hiddenWords } = letterText(letter);
  const attached = await readAttachments(letter);
  if (text === '' && attached.pages.length === 0) throw noText(name, 'the message is empty');
  const warnings = [
    ...letterWarnings([letter], attached.unread),
    ...hiddenWarnings(hiddenWords),
    ...attached.warnings,
  ];
  const own = { text, headings, pages: [] };
  const label = letter.subject.slice(0, 80) || 'Message';
  const whole = attached.pages.length === 0 ? own : joinPages([{ label, text, headings }, ...attached.pages]);
  return { ...whole, title: letter.subject, warnings };
}
