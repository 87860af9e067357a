import { decode, type DecodedText } from '../decode.ts';

/** Bytes in which a page may declare its encoding. The HTML standard asks for 1024, browsers find later declarations too. */
const HEAD_BYTES = 65_536;
const XML = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)/i;
const META = /<meta[\s/][^>]{0,1000}?charset\s*=\s*["']?\s*([\w.:-]+)/i;

/**
 * The text of an HTML or XML document: by its byte-order mark, else its declaration by the HTML standard's rules (13.2.3), else `told` (by
 * a mail's header), else as any text. Valid UTF-8 is UTF-8 whatever is declared: programs convert pages and leave the declaration.
 */
export function decodePage(bytes: Buffer, name: string, told?: string): DecodedText {
  const head = bytes.toString('latin1', 0, HEAD_BYTES).replace(/<!--[\s\S]*?(?:-->|$)/g, '');
  if (/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(head)) return decode(bytes, name);
  const declared = utf16Of(head) ?? encodingOf(told) ?? encodingOf((XML.exec(head) ?? META.exec(head))?.[1]);
  if (declared === undefined || isUtf8(bytes, declared)) return decode(bytes, name);
  return decode(Buffer.from(new TextDecoder(declared).decode(bytes)), name);
}

/** Without a mark, XML in UTF-16 begins with one of these (XML 1.0, F.1). */
function utf16Of(head: string): string | undefined {
  return head.startsWith('<\0') ? 'utf-16le' : head.startsWith('\0<') ? 'utf-16be' : undefined;
}

/** The encoding that a label means (Encoding standard, 4.2). A page that can be read is not in UTF-16. */
function encodingOf(label = ''): string | undefined {
  if (/^x-user-defined$/i.test(label)) return 'windows-1252';
  try {
    const { encoding } = new TextDecoder(label);
    return encoding.startsWith('utf') ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Whether bytes declared otherwise are UTF-8. A few pairs are also valid in the encodings of East Asia; three bytes for a sign are not likely. */
function isUtf8(bytes: Buffer, declared: string): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return /^(?:gb|big5|euc|shift)/.test(declared) ? /[\u0800-\uffff]/.test(text) : /[^\0-\x7f]/.test(text);
  } catch {
    return false;
  }
}
