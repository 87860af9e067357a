import { basename } from 'node:path';

const HEADING = /^ {0,3}#[ \t]+(\S.*)$/m;
/** What may follow a title: nothing, or a line drawn under it. */
const UNDER_TITLE = /^(?:[=\-~]{3,})?[ \t]*$/;
/** A line drawn above a title. */
const OVER_TITLE = /^[=\-~*#]{3,}[ \t]*$/;
/** Line ends, characters that nobody sees, and those that turn the direction of what stands after the title. */
const UNFIT = /[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Only the beginning of a text is looked at. */
const HEAD_UNITS = 65_536;
const MAX_TITLE_UNITS = 300;
/** Longer first lines are text. */
const MAX_LONE_UNITS = 80;

/** The first top-level heading, else a first line that stands alone; '' when there is neither. */
export function markdownTitle(text: string): string {
  const head = text.slice(0, HEAD_UNITS);
  return plain(HEADING.exec(head)?.[1] ?? loneFirstLine(head));
}

export function plainTextTitle(text: string): string {
  return plain(loneFirstLine(text.slice(0, HEAD_UNITS)));
}

/** What a document without a title is called. */
export function titleOfPath(path: string): string {
  return basename(path).replace(/\.\w+$/, '');
}

/** A title as lists show it, whatever a document claims: one line of bounded length. */
export function tidyTitle(title: string): string {
  return title.slice(0, MAX_TITLE_UNITS).toWellFormed().replace(UNFIT, ' ').trim();
}

/** A short first line that stands alone is a title in plain text; '' when there is none. */
function loneFirstLine(head: string): string {
  const [line = '', under = '', rest] = behindMarks(head).split('\n', 3);
  if (rest === undefined || line.length > 2 * MAX_LONE_UNITS || !UNDER_TITLE.test(under)) return '';
  const title = line.replace(/^[=#*]+/, '').replace(/[\s=#*]+$/, '');
  return title.length <= MAX_LONE_UNITS ? title : '';
}

/** A text from its first line on that is neither a comment or directive of reStructuredText nor a line above a title. */
function behindMarks(head: string): string {
  const lines = head.trimStart().split('\n');
  let at = 0;
  for (let marked = false; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('.. ') || OVER_TITLE.test(line)) marked = true;
    else if (!marked || !/^(?:[ \t]|$)/.test(line)) break; // what is indented below a directive belongs to it
  }
  return lines.slice(at).join('\n');
}

/** Without the marks of common light mark-ups, at its end and within. */
function plain(title: string): string {
  return tidyTitle(title)
    .replace(/(?:^|[ \t])#+$/, '')
    .replace(/[*_`]+/g, '')
    .trim();
}
