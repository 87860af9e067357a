import { basename } from 'node:path';

/** A short first line that stands alone is a title in plain text; the marks are those of common light mark-ups. */
const LONE_FIRST_LINE = /^\s*[=#*]*[ \t]*([^\n]{1,80}?)[ \t=#*]*\n(?:[ \t]*\n|[=\-~]{3,}[ \t]*\n)/;
const HEADING = /^ {0,3}#[ \t]+(.+?)[ \t]*#*[ \t]*$/m;

/** Only the beginning of a text is looked at. */
const HEAD_UNITS = 65_536;

/** The first top-level heading, else a first line that stands alone; '' when there is neither. */
export function markdownTitle(text: string): string {
  const head = text.slice(0, HEAD_UNITS);
  return plain(HEADING.exec(head)?.[1] ?? LONE_FIRST_LINE.exec(head)?.[1] ?? '');
}

export function plainTextTitle(text: string): string {
  return plain(LONE_FIRST_LINE.exec(text.slice(0, HEAD_UNITS))?.[1] ?? '');
}

/** What a document without a title is called. */
export function titleOfPath(path: string): string {
  return basename(path).replace(/\.\w+$/, '');
}

function plain(title: string): string {
  return title.replace(/[*_`]+/g, '').trim();
}
