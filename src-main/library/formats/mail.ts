import PostalMime, { type Address, type Email } from 'postal-mime';
import { decode } from './decode.ts';
import { broken, noText, reasonOf } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import { hiddenWarnings } from './html.ts';
import { htmlToText } from './html/text.ts';
import { readAttachments, under, type MailPage } from './mail/attachments.ts';
import { letterDocument } from './mail/letter-document.ts';
import { letterText, letterWarnings, personText, type Letter } from './mail/letter.ts';

/** A message in a file (RFC 5322), also with the length before it and data after it that Apple Mail adds. */
export const eml: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const [, length = ''] = /\.emlx$/i.test(name)
    ? (/^(\d{1,12})[ \t]*\r?\n/.exec(bytes.toString('latin1', 0, 20)) ?? [])
    : [];
  const start = length === '' ? 0 : bytes.indexOf(10) + 1;
  const letter = await readLetter(
    length === '' ? bytes : bytes.subarray(start, start + Number(length)),
    name,
  );
  return letterDocument(letter, name);
};

/** A line `From sender date` begins each message of a mailbox (RFC 4155). */
const SEPARATOR = /(?:^|\r?\n\r?\n|^\r?\n)(?=From [^\r\n]{0,200}\d{2}:\d{2}[^\r\n]{0,200}\r?\n)/g;

/** Messages in order, each a page under its subject. */
export const mbox: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const messages = bytes
    .toString('latin1')
    .split(SEPARATOR)
    .filter((message) => message.trim() !== '');
  const letters: Letter[] = [];
  const pages: MailPage[] = [];
  const unread: string[] = [];
  const warnings: string[] = [];
  let damaged = 0;
  let hidden = 0;
  for (const message of messages) {
    const source = message
      .replace(/^From (\S+)[^\n]*\n(\r?\n)/, 'Return-Path: <$1>\n$2') // a message without a header
      .replace(/^From [^\n]*\n/, '')
      .replace(/^>(>*From )/gm, '$1');
    const letter = await readLetter(Buffer.from(source, 'latin1'), name).catch(() => undefined);
    if (!letter) {
      damaged++;
      continue;
    }
    letters.push(letter);
    const { text, headings, hiddenWords } = letterText(letter);
    const title = letter.subject || `Message ${letters.length}`;
    hidden += hiddenWords;
    const attached = await readAttachments(letter);
    pages.push({ label: title.slice(0, 80), ...under(title, text, headings) }, ...attached.pages);
    unread.push(...attached.unread);
    warnings.push(...attached.warnings);
  }
  const joined = joinPages(pages);
  if (joined.text === '')
    throw damaged > 0 ? broken(name, 'its messages are damaged') : noText(name, 'it has no messages');
  warnings.unshift(...letterWarnings(letters, unread), ...hiddenWarnings(hidden));
  if (damaged > 0) warnings.push(`Damaged messages were not read: ${damaged}.`);
  return { ...joined, title: '', warnings };
};

/** A web page saved as a message (RFC 2557). */
export const mhtml: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const letter = await readLetter(bytes, name);
  const { text, headings, title, hiddenWords } = htmlToText(letter.html);
  if (text === '') {
    if (letter.text.trim() === '') throw noText(name, 'it has only scripts, pictures or hidden text');
    return { text: letter.text.trim(), headings: [], title: letter.subject, pages: [], warnings: [] };
  }
  return { text, headings, title: title || letter.subject, pages: [], warnings: hiddenWarnings(hiddenWords) };
};

/** A message has at least one of these fields. */
const FIELDS = new Set(
  'from to subject date received message-id content-type mime-version return-path'.split(' '),
);

async function readLetter(bytes: Buffer, name: string): Promise<Letter> {
  let email: Email;
  try {
    email = await PostalMime.parse(withCharset(bytes, name));
  } catch (error) {
    throw broken(name, `its parts are damaged (${reasonOf(error)})`, error);
  }
  if (!email.headers.some(({ key }) => FIELDS.has(key))) throw broken(name, 'it is not a mail message');
  const { html = '', text = '', subject = '', from, sender } = email;
  const encrypted = email.attachments.some(({ mimeType }) => /pkcs7-mime|pgp-encrypted/.test(mimeType));
  return {
    from: addressText(from ?? sender),
    to: (email.to ?? []).map(addressText).join(', '),
    cc: (email.cc ?? []).map(addressText).join(', '),
    date: email.headers.find(({ key }) => key === 'date')?.value.trim() ?? '',
    subject: subject.replace(/\s+/g, ' ').trim(),
    html: withPlainHeaders(html),
    text,
    attachments: encrypted
      ? []
      : email.attachments
          .filter((one) => one.related !== true && !isSignature(one.mimeType))
          .map(({ filename, mimeType, content }) => ({
            name: filename || mimeType,
            bytes: bytesOf(content),
          })),
    isEncrypted: encrypted && (html + text).trim() === '',
  };
}

function bytesOf(content: string | ArrayBuffer | Uint8Array): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}

/** The library takes text without a stated encoding for UTF-8. */
function withCharset(bytes: Buffer, name: string): Buffer {
  const isAscii = !bytes.some((byte) => byte > 127);
  return isAscii || /charset\s*=/i.test(bytes.toString('latin1'))
    ? bytes
    : Buffer.from(decode(bytes, name).text);
}

/** The library puts the header of a forwarded message into a page as columns, with the addresses behind links. */
function withPlainHeaders(html: string): string {
  return html
    .replace(
      /<div class="postal-email-header-key">(\w+)<\/div><div class="postal-email-header-value/g,
      '<div>$1: <span class="',
    )
    .replace(
      /<a href="mailto:([^"]*)" class="postal-email-address">([^<]*)<\/a>/g,
      (_, address: string, name: string) =>
        name === `&lt;${address}&gt;` ? address : `${name} &lt;${address}&gt;`,
    );
}

function isSignature(type: string): boolean {
  return /^application\/(?:x-)?(?:pkcs7|pgp)-signature$/.test(type);
}

function addressText(address: Address | undefined): string {
  if (!address) return '';
  if (address.group) return `${address.name}: ${address.group.map(addressText).join(', ')}`;
  return personText(address.name, address.address);
}
