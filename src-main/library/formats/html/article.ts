import { KvasirError } from '../../../../src-shared/errors.ts';
import type { DocumentParser } from '../format.ts';
import { documentOf, pageOf } from '../html.ts';
import { articlePart } from './article-part.ts';
import { htmlToText } from './text.ts';

/** UTF-16 units below which an article was hardly found. */
const MIN_ARTICLE = 200;

/** A page that was fetched from its address: of what surrounds an article, the file of a site has more than a page that somebody saved. */
export const article: DocumentParser = (file) => {
  const { page, xhtml, warnings } = pageOf(file);
  let title = '';
  const part = htmlToText(page, [], xhtml, (root) => {
    const found = articlePart(root);
    title = found?.title ?? '';
    return found?.nodes ?? [];
  });
  if (part.text.length >= MIN_ARTICLE) return documentOf({ ...part, title: title || part.title }, warnings);
  const whole = htmlToText(page, [], xhtml);
  if (whole.text === '') throw withoutText(file.name);
  return documentOf(whole, [...warnings, 'No article was found on the page, so all of its text was read.']);
};

function withoutText(name: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_NO_TEXT',
    `There is no text in it: its scripts write the page, and Kvasir runs none. The file is ${name}.`,
    'Open the page in your browser, save it as PDF or HTML, and add the file.',
  );
}
