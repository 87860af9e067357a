import type { ParsedHeading } from '../format.ts';
import { htmlToText } from '../html/text.ts';

/** A message, whatever kind of file it comes from. Absent parts are ''. */
export interface Letter {
  from: string;
  to: string;
  cc: string;
  /** As the sender's program wrote it. */
  date: string;
  subject: string;
  html: string;
  text: string;
  attachments: { name: string; bytes: Buffer }[];
  isEncrypted: boolean;
}

interface LetterText {
  text: string;
  headings: ParsedHeading[];
  hiddenWords: number;
}

/** The header's lines that programs show, and the body: as a page when it has one, since that is what programs show. */
export function letterText(letter: Letter): LetterText {
  const head = headerFields(letter)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
  const page = letter.html.trim() === '' ? undefined : htmlToText(letter.html);
  const body = page && page.text !== '' ? page.text : plainBody(letter.text);
  const start = head === '' ? 0 : head.length + 2;
  const headings = page?.headings.map((heading) => ({ ...heading, start: heading.start + start })) ?? [];
  return {
    text: [head, body].filter(Boolean).join('\n\n'),
    headings: body === page?.text ? headings : [],
    hiddenWords: page?.hiddenWords ?? 0,
  };
}

/** The header's fields that programs show, by their names. */
export function headerFields({ from, to, cc, date, subject }: Letter): [name: string, value: string][] {
  const fields = { From: from, To: to, Cc: cc, Date: date, Subject: subject };
  return Object.entries(fields).filter(([, value]) => value !== '');
}

function plainBody(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .trim();
}

/** “2 attachments were not read: a.pdf, b.png.” */
export function letterWarnings(letters: readonly Letter[], names: readonly string[]): string[] {
  const encrypted = letters.filter(({ isEncrypted }) => isEncrypted).length;
  const warnings: string[] = [];
  if (names.length > 0) {
    const listed =
      names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
    warnings.push(
      `${names.length} ${names.length === 1 ? 'attachment was' : 'attachments were'} not read: ${listed}.`,
    );
  }
  if (encrypted > 0)
    warnings.push(`${encrypted} encrypted ${encrypted === 1 ? 'message was' : 'messages were'} not read.`);
  return warnings;
}

export function personText(name: string, address: string): string {
  if (name === '' || name === address) return address;
  return address === '' ? name : `${name} <${address}>`;
}
