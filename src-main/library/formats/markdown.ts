import { decodeText } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { readFrontMatter } from './front-matter.ts';
import { markdownTitle } from './titles.ts';

export const markdown: DocumentParser = ({ bytes, name }) => {
  const source = decodeText(bytes, name);
  const { title, fields, body } = readFrontMatter(source);
  const text = [fields, withoutComments(body)].filter((part) => part.trim() !== '').join('\n\n');
  if (text.trim() === '') throw noText(name, source.trim() === '' ? 'the file is empty' : 'it has only a title or comments');
  return { text, title: title || markdownTitle(body), pages: [], warnings: [] };
};

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** HTML comments are not part of the text, except in code (CommonMark, 4.6 and 6.6). */
function withoutComments(text: string): string {
  if (!text.includes('<!--')) return text;
  const kept: string[] = [];
  let fence = '';
  let inComment = false;
  for (const line of text.split('\n')) {
    const mark = inComment ? '' : (FENCE.exec(line)?.[1] ?? '');
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    if (fence !== '' || mark !== '' || (!inComment && (!line.includes('<!--') || /^(?: {4}|\t)/.test(line)))) {
      kept.push(line);
      continue;
    }
    const visible = [...partsOutside(line, inComment)];
    inComment = visible.pop() === 'open';
    if (visible.join('').trim() !== '') kept.push(visible.join(''));
  }
  // A comment that nothing ends is text.
  return inComment ? text : kept.join('\n').replace(/^\n+/, '');
}

/** The parts of a line outside of comments, and then whether a comment is open at its end. */
function* partsOutside(line: string, open: boolean): Generator<string> {
  let inside = open;
  let at = 0;
  let inCode = false;
  for (const { 0: sign, index } of line.matchAll(/<!--|-->|`+/g)) {
    if (sign.startsWith('`')) inCode = !inside && !inCode;
    else if (sign === '<!--' && !inside && !inCode) {
      yield line.slice(at, index);
      inside = true;
    } else if (sign === '-->' && inside) {
      inside = false;
      at = index + sign.length;
    }
  }
  if (!inside) yield line.slice(at);
  yield inside ? 'open' : 'closed';
}
