import type { Letter } from '../mail/letter.ts';
import { headerFields } from '../mail/letter.ts';
import { readAttachments } from '../mail/attachments.ts';
import { readingHtml } from './reading.ts';
import { escapeHtml } from './safe-html.ts';
import type { PageSource } from './page.ts';

/** A message as mail programs show it. `pictures`: by their ids (RFC 2392). */
export function letterPage(letter: Letter, pictures: ReadonlyMap<string, Uint8Array>): PageSource {
  const rows = headerFields(letter).map(
    ([name, value]) => `<tr><th>${name}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const body = letter.html.trim() === '' ? `<pre>${escapeHtml(letter.text)}</pre>` : letter.html;
  return {
    html: `<table>${rows.join('')}</table>${rows.length > 0 ? '<hr>' : ''}${body}`,
    picture: (address) => Promise.resolve(pictures.get(address.replace(/^cid:/i, ''))),
  };
}

/** The message, and the pages of what is attached, as `letterDocument` has them. */
export async function letterPages(
  letter: Letter,
  pictures: ReadonlyMap<string, Uint8Array>,
): Promise<PageSource[]> {
  const { pages } = await readAttachments(letter);
  const attached = pages.map(async ({ text }) => ({ html: await readingHtml(text) }));
  return [letterPage(letter, pictures), ...(await Promise.all(attached))];
}
