import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { readFrontMatter } from './front-matter.ts';
import { markdownTitle } from './titles.ts';

export const markdown: DocumentParser = ({ bytes, name }) => {
  const { text: source, warnings } = decode(bytes, name);
  const { title, fields, body } = readFrontMatter(source);
  const text = [fields, withoutComments(body)].filter((part) => part.trim() !== '').join('\n\n');
  if (text.trim() === '')
    throw noText(name, source.trim() === '' ? 'the file is empty' : 'it has only a title or comments');
  return { text, title: title || markdownTitle(body), pages: [], warnings };
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
    if (
      fence !== '' ||
      mark !== '' ||
      (!inComment && (!line.includes('<!--') || /^(?: {4}|\t)/.test(line)))
    ) {
      kept.push(line);
      continue;
    }
    const outside: { text: string; open: boolean } = partOutside(line, inComment);
    inComment = outside.open;
    if (outside.text.trim() !== '') kept.push(outside.text);
  }
  // A comment that nothing ends is text.
  return inComment ? text : kept.join('\n').replace(/^\n+/, '');
}

/** The part of a line outside of comments, and whether a comment is open at its end. */
function partOutside(line: string, wasOpen: boolean): { text: string; open: boolean } {
  let open = wasOpen;
  let text = '';
  let at = 0;
  let inCode = false;
  for (const { 0: sign, index } of line.matchAll(/<!--|-->|`+/g)) {
    if (sign.startsWith('`')) inCode = !open && !inCode;
    else if (sign === '<!--' && !open && !inCode) {
      text += line.slice(at, index);
      open = true;
    } else if (sign === '-->' && open) {
      open = false;
      at = index + sign.length;
    }
  }
  return { text: open ? text : text + line.slice(at), open };
}
