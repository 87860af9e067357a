import { decompressRTF } from '@kenjiuno/decompressrtf';
import MsgReaderModule, { type FieldsData } from '@kenjiuno/msgreader';
import { decodePage } from '../html/encoding.ts';
import { broken, noText, reasonOf } from '../errors.ts';
import type { DocumentParser } from '../format.ts';
import { COMPOUND_MAGIC } from '../office/compound.ts';
import { letterDocument } from './letter-document.ts';
import { letterText, personText, type Letter } from './letter.ts';
import { readRtf } from '../office/rtf.ts';
import { letterPages } from '../page/mail.ts';
import type { PageMaker } from '../page/page.ts';
import { readingPage } from '../page/reading.ts';
import { plainText } from '../text.ts';

/** Its types declare what some loaders do with a CommonJS module; others give its default export itself. */
type Reader = typeof MsgReaderModule.default;
const MsgReader: Reader = 'default' in MsgReaderModule ? MsgReaderModule.default : MsgReaderModule;

/** A message of Outlook (MS-OXMSG). */
export const msg: DocumentParser = async (file) => {
  const { bytes, name } = file;
  if (bytes.length === 0) throw noText(name, 'the file is empty');
  if (bytes.toString('hex', 0, 8) !== COMPOUND_MAGIC) return plainText(file);
  const { fields, contentOf } = readFields(bytes, name);
  const letter = letterOf(fields, contentOf, name);
  if (letterText(letter).text === '' && fields.messageClass === undefined)
    throw broken(name, 'it is not a message of Outlook');
  return letterDocument(letter, name);
};

export const msgPage: PageMaker = async (file, part) => {
  const { bytes, name } = file;
  if (bytes.toString('hex', 0, 8) !== COMPOUND_MAGIC) return readingPage(plainText)(file, part);
  const { fields, contentOf } = readFields(bytes, name);
  const page = (await letterPages(letterOf(fields, contentOf, name), new Map()))[part];
  if (!page) throw noText(name, 'it has no such part');
  return page;
};

type Attachment = NonNullable<FieldsData['attachments']>[number];

function readFields(
  bytes: Buffer,
  name: string,
): { fields: FieldsData; contentOf: (attachment: Attachment) => Buffer } {
  let fields: FieldsData;
  let reader: InstanceType<Reader>;
  try {
    const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    reader = new MsgReader(copy as ArrayBuffer);
    fields = reader.getFileData();
  } catch (error) {
    throw broken(name, `it is damaged (${reasonOf(error)})`, error);
  }
  if (fields.error !== undefined || fields.dataType !== 'msg')
    throw broken(name, 'it is not a message of Outlook');
  return {
    fields,
    contentOf: (attachment) => {
      try {
        return Buffer.from(reader.getAttachment(attachment).content);
      } catch {
        return Buffer.alloc(0);
      }
    },
  };
}

function letterOf(fields: FieldsData, contentOf: (attachment: Attachment) => Buffer, name: string): Letter {
  const { subject = '', bodyHtml, html, attachments = [], recipients = [] } = fields;
  const page = bodyHtml ?? (html ? decodePage(Buffer.from(html), name).text : '');
  const body =
    fields.body?.trim() || (page === '' && fields.compressedRtf ? richText(fields.compressedRtf) : '');
  const people = (kind: string): string =>
    recipients
      .filter(({ recipType = 'to' }) => recipType === kind)
      .map((person) => personText(person.name ?? '', person.smtpAddress ?? mailAddress(person.email)))
      .join(', ');
  const encrypted = /SMIME(?!\.MultipartSigned)/i.test(fields.messageClass ?? '');
  return {
    from: personText(
      fields.senderName ?? '',
      fields.senderSmtpAddress ?? fields.creatorSMTPAddress ?? mailAddress(fields.senderEmail),
    ),
    to: people('to'),
    cc: people('cc'),
    date:
      /^Date:[ \t]*(.+)$/im.exec(fields.headers ?? '')?.[1]?.trim() ??
      fields.clientSubmitTime ??
      fields.messageDeliveryTime ??
      '',
    subject: subject.replace(/\s+/g, ' ').trim(),
    html: page,
    text: body,
    attachments: encrypted
      ? []
      : attachments
          .filter(({ attachmentHidden }) => attachmentHidden !== true)
          .map((one) => ({ name: nameOf(one), bytes: contentOf(one) })),
    isEncrypted: encrypted && body === '',
  };
}

function nameOf({ fileName, name, fileNameShort, innerMsgContent }: Attachment): string {
  const own = fileName ?? name ?? fileNameShort ?? 'unnamed';
  return innerMsgContent ? `${own}.msg` : own;
}

/** The only body of many messages of Outlook ([MS-OXRTFCP]). */
function richText(compressed: Uint8Array): string {
  try {
    return readRtf(Buffer.from(decompressRTF([...compressed]))).text;
  } catch {
    return ''; // the message has people and a subject all the same
  }
}

/** Inside an organisation, Outlook keeps names of its directory in place of addresses. */
function mailAddress(address = ''): string {
  return address.includes('@') ? address : '';
}
