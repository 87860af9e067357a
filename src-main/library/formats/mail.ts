import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { decode } from './decode.ts';
import { broken, noText, reasonOf } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import { hiddenWarnings } from './html.ts';
import { htmlToText } from './html/text.ts';
import { readAttachments, under, type MailPage } from './mail/attachments.ts';
import { letterDocument } from './mail/letter-document.ts';
import { letterText, letterWarnings, personText, type Letter } from './mail/letter.ts';
import { letterPage, letterPages } from './page/mail.ts';
import type { PageMaker } from './page/page.ts';

/** A message in a file (RFC 5322), also with the length before it and data after it that Apple Mail adds. */
export const eml: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const { letter } = await readLetter(messageOf(bytes, name), name);
  return letterDocument(letter, name);
};

export const emlPage: PageMaker = async ({ bytes, name }, part) => {
  const { letter, pictures } = await readLetter(messageOf(bytes, name), name);
  const page = (await letterPages(letter, pictures))[part];
  if (!page) throw noText(name, 'it has no such part');
  return page;
};

function messageOf(bytes: Buffer, name: string): Buffer {
  const [, length = ''] = /\.emlx$/i.test(name)
    ? (/^(\d{1,12})[ \t]*\r?\n/.exec(bytes.toString('latin1', 0, 20)) ?? [])
    : [];
  if (length === '') return bytes;
  const start = bytes.indexOf(10) + 1;
  return bytes.subarray(start, start + Number(length));
}

/** A line `From sender date` begins each message of a mailbox (RFC 4155). */
const SEPARATOR = /(?:^|\r?\n\r?\n|^\r?\n)(?=From [^\r\n]{0,200}\d{2}:\d{2}[^\r\n]{0,200}\r?\n)/g;

/** Messages in order, each a page under its subject. */
export const mbox: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const letters: Letter[] = [];
  const pages: MailPage[] = [];
  const unread: string[] = [];
  const warnings: string[] = [];
  let damaged = 0;
  let hidden = 0;
  for await (const message of messagesIn(bytes, name)) {
    if (!message) {
      damaged++;
      continue;
    }
    const { letter } = message;
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

/** Its parts are the pages of the text: messages, and what is attached to each. */
export const mboxPage: PageMaker = async ({ bytes, name }, part) => {
  let left = part;
  for await (const message of messagesIn(bytes, name)) {
    if (!message) continue;
    const pages = await letterPages(message.letter, message.pictures);
    const page = pages[left];
    if (page) return page;
    left -= pages.length;
  }
  throw noText(name, 'it has no such part');
};

/** A damaged message is undefined. */
async function* messagesIn(bytes: Buffer, name: string): AsyncGenerator<Message | undefined> {
  for (const message of bytes.toString('latin1').split(SEPARATOR)) {
    if (message.trim() === '') continue;
    const source = message
      .replace(/^From (\S+)[^\n]*\n(\r?\n)/, 'Return-Path: <$1>\n$2') // a message without a header
      .replace(/^From [^\n]*\n/, '')
      .replace(/^>(>*From )/gm, '$1');
    yield await readLetter(Buffer.from(source, 'latin1'), name).catch(() => undefined);
  }
}

/** A web page saved as a message (RFC 2557). */
export const mhtml: DocumentParser = async ({ bytes, name }) => {
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  const { letter } = await readLetter(bytes, name);
  const { text, headings, title, hiddenWords } = htmlToText(letter.html);
  if (text === '') {
    if (letter.text.trim() === '') throw noText(name, 'it has only scripts, pictures or hidden text');
    return { text: letter.text.trim(), headings: [], title: letter.subject, pages: [], warnings: [] };
  }
  return { text, headings, title: title || letter.subject, pages: [], warnings: hiddenWarnings(hiddenWords) };
};

export const mhtmlPage: PageMaker = async ({ bytes, name }) => {
  const { letter, pictures } = await readLetter(bytes, name);
  return letterPage({ ...letter, from: '', to: '', cc: '', date: '', subject: '' }, pictures);
};

/** A message has at least one of these fields. */
const FIELDS = new Set(
  'from to subject date received message-id content-type mime-version return-path'.split(' '),
);

interface Message {
  letter: Letter;
  /** Pictures of its page, by their ids. */
  pictures: ReadonlyMap<string, Uint8Array>;
}

async function readLetter(bytes: Buffer, name: string): Promise<Message> {
  let email: Email;
  try {
    email = await PostalMime.parse(withCharset(bytes, name));
  } catch (error) {
    throw broken(name, `its parts are damaged (${reasonOf(error)})`, error);
  }
  if (!email.headers.some(({ key }) => FIELDS.has(key))) throw broken(name, 'it is not a mail message');
  const { html = '', text = '', subject = '', from, sender } = email;
  const encrypted = email.attachments.some(({ mimeType }) => /pkcs7-mime|pgp-encrypted/.test(mimeType));
  const letter: Letter = {
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
  return { letter, pictures: new Map(email.attachments.flatMap(pictureOf)) };
}

function pictureOf({ contentId, content }: Attachment): [id: string, bytes: Uint8Array][] {
  return contentId === undefined ? [] : [[contentId.replace(/^<|>$/g, ''), bytesOf(content)]];
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
