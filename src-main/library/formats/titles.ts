import { basename } from 'node:path';

const HEADING = /^ {0,3}#[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const UNDERLINE = /^ {0,3}=+[ \t]*$/;
/** What may follow a title: nothing, or an underline. */
const UNDER_TITLE = /^(?:[=\-~]{3,})?[ \t]*$/;
/** A line above a title (overline). */
const OVER_TITLE = /^[=\-~*#]{3,}[ \t]*$/;
/** A title that Org names. */
const ORG_TITLE = /^#\+title:[ \t]*(.*)$/im;
/** AsciiDoc's title may be followed by the author and attributes. */
const ASCIIDOC_TITLE = /^=[ \t]+\S/;
/** Comments, directives and fields of reStructuredText (also ".." alone, ":orphan:", ":Author: …"), settings of Emacs. */
const NO_TITLE = /^(?:\.\.(?:[ \t]|$)|:[^:\s][^:]*:(?:[ \t]|$)|.*-\*-.*-\*-)/;
/** Line ends, invisible characters, and those that change the text direction after the title. */
const UNFIT = /[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Only the beginning of a text is examined. */
const HEAD_UNITS = 65_536;
const MAX_TITLE_UNITS = 300;
/** Longer first lines are text. */
const MAX_LONE_UNITS = 80;

/** The first top-level heading, else a first line followed by a blank line; '' when there is neither. */
export function markdownTitle(text: string): string {
  const head = text.slice(0, HEAD_UNITS);
  return plain(topHeading(head) ?? loneFirstLine(head));
}

/** The first heading of level 1, with a # or underlined, that is neither in code nor in a comment (CommonMark, 4.2 and 4.3). */
function topHeading(head: string): string | undefined {
  let fence = '';
  let paragraph = '';
  for (const line of head.replace(/<!--[\s\S]*?-->/g, '').split('\n')) {
    const mark = FENCE.exec(line)?.[1] ?? '';
    if (fence !== '') {
      if (mark.startsWith(fence) && line.trim() === mark) fence = '';
      continue;
    }
    fence = mark;
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) return heading;
    if (UNDERLINE.test(line) && paragraph !== '') return paragraph;
    const inParagraph =
      mark === '' &&
      line.trim() !== '' &&
      !UNDERLINE.test(line) &&
      !/^(?: {4}|\t| {0,3}[>#])/.test(line) &&
      paragraph.length < MAX_TITLE_UNITS;
    paragraph = inParagraph ? `${paragraph} ${line.trim()}`.trim() : '';
  }
  return undefined;
}

export function plainTextTitle(text: string): string {
  const head = text.slice(0, HEAD_UNITS);
  return plain(ORG_TITLE.exec(head)?.[1] ?? loneFirstLine(head));
}

/** The title of a document that has none. */
export function titleOfPath(path: string): string {
  return tidyTitle(basename(path).replace(/\.\w+$/, '')) || tidyTitle(basename(path));
}

/**
 * The names that synchronising programs give to the second of two versions: Dropbox, Nextcloud and Seafile in parentheses, in the user's
 * language; Syncthing, Resilio and ownCloud behind a mark.
 */
const CONFLICT = new RegExp(
  '[([][^()[\\]]*(?:\\bconflicted|case conflict|sfconflict|konflikt stehende|(?:en|in|em|com) confli(?:t|cto|tto|to)|conflicterende)\\b[^()[\\]]*[)\\]]$' +
    '|\\.sync-conflict-\\d{8}-\\S*$|_conflict-\\d{8}-\\d{6}$|\\.conflict$',
  'i',
);

/** A warning for a file that a synchronising program made because two people or machines changed one document; undefined for others. */
export function conflictOf(path: string): string | undefined {
  const name = basename(path).replace(/\.\w+$/, '');
  if (!CONFLICT.test(name.normalize('NFC'))) return undefined;
  return 'Its name says that it is a conflict copy: another version of this document may be in its folder.';
}

/** A title for lists, whatever a document claims: one line of bounded length. */
export function tidyTitle(title: string): string {
  return title.slice(0, MAX_TITLE_UNITS).toWellFormed().replace(UNFIT, ' ').trim();
}

/** A short isolated first line is the title of a plain text; '' when there is none. */
function loneFirstLine(head: string): string {
  const [line = '', under = '', rest] = behindMarks(head).split('\n', 3);
  if (
    rest === undefined ||
    line.length > 2 * MAX_LONE_UNITS ||
    !(UNDER_TITLE.test(under) || ASCIIDOC_TITLE.test(line))
  )
    return '';
  const title = line.replace(/^[=#*]+/, '').replace(/[\s=#*]+$/, '');
  return title.length <= MAX_LONE_UNITS ? title : '';
}

/** A text from its first line that is neither a comment, directive or field nor an overline. */
function behindMarks(head: string): string {
  const lines = head.trimStart().split('\n');
  let at = 0;
  for (let marked = false; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (NO_TITLE.test(line)) marked = true;
    else if (OVER_TITLE.test(line)) marked = false;
    else if (line.trim() !== '' && !(marked && /^[ \t]/.test(line))) break; // lines indented below a directive belong to it
  }
  return lines.slice(at).join('\n');
}

/** Without the marks of common lightweight markup, at its end and within. */
function plain(title: string): string {
  return tidyTitle(title)
    .replace(/(?:^|[ \t])#+$/, '')
    .replace(/[*_`]+/g, '')
    .trim();
}
