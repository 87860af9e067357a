import { Marked } from 'marked';
import type { DocumentParser } from '../format.ts';
import type { PageMaker } from './page.ts';
import { escapeHtml } from './safe-html.ts';

const none = (): undefined => undefined;
const markdown = new Marked({ gfm: true });
/** Only the marks that Kvasir's readers write: whatever else Markdown gives a meaning is the author's text. */
const reading = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    code: none,
    def: none,
    emStrong: none,
    escape: none,
    html: none,
    lheading: none,
    link: none,
    reflink: none,
    tag: none,
  },
});

/** The page of a kind without one of its own: the text that was read, with its headings, lists and tables. */
export function readingPage(parse: DocumentParser): PageMaker {
  return async (file) => {
    const { text, pages } = await parse(file);
    if (pages.length === 0) return { html: await readingHtml(text) };
    const parts = pages.map(async ({ label, start, end }) => {
      const html = await readingHtml(text.slice(start, end));
      return `<section><p><small>${escapeHtml(label)}</small></p>${html}</section>`;
    });
    return { html: (await Promise.all(parts)).join('') };
  };
}

/** The page of a kind that is written in Markdown. */
export function markdownPage(parse: DocumentParser): PageMaker {
  return async (file) => ({ html: await markdown.parse((await parse(file)).text) });
}

export async function readingHtml(text: string): Promise<string> {
  return reading.parse(text);
}
