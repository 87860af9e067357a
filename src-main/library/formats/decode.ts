import chardet from 'chardet';
import iconv from 'iconv-lite';
import { KvasirError } from '../../../src-shared/errors.ts';

/** Bytes examined to tell text from binary data, and to guess an encoding. */
const SAMPLE_BYTES = 65_536;
/** Share of control characters above which a file is not text. */
const MAX_CONTROL_SHARE = 0.02;

/**
 * The text of a file in any common encoding: by its byte-order mark, else by `declared` (the document's own declaration), else UTF-8 when
 * valid, else by statistics. Line ends become \n. DOCUMENT_UNSUPPORTED when the file is not text, DOCUMENT_ENCODING when its encoding
 * cannot be determined.
 */
export function decodeText(bytes: Buffer, name: string, declared?: string): string {
  const encoding = encodingOf(bytes, name, declared);
  return normalise(iconv.decode(bytes, encoding));
}

function encodingOf(bytes: Buffer, name: string, declared?: string): string {
  const marked = byteOrderMark(bytes);
  if (marked !== undefined) return marked;
  const utf16 = utf16WithoutMark(bytes);
  if (utf16 !== undefined) return utf16;
  if (isBinary(bytes)) {
    throw new KvasirError(
      'DOCUMENT_UNSUPPORTED',
      `${name} is not a text file.`,
      'Kvasir reads PDF, Office, EPUB, HTML, Markdown, tables, source code and plain text.',
    );
  }
  if (declared !== undefined && iconv.encodingExists(declared)) return declared;
  if (isUtf8(bytes)) return 'utf8';
  const guess = chardet.detect(bytes.subarray(0, SAMPLE_BYTES));
  if (guess !== null && iconv.encodingExists(guess)) return guess;
  throw new KvasirError(
    'DOCUMENT_ENCODING',
    `The encoding of ${name} cannot be determined.`,
    'Save the file as UTF-8.',
  );
}

function byteOrderMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return bytes[2] === 0 && bytes[3] === 0 ? 'utf32-le' : 'utf16-le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf16-be';
  return undefined;
}

/** Latin text in UTF-16 has a zero at every second byte. */
function utf16WithoutMark(bytes: Buffer): string | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (sample.length < 4 || bytes.length % 2 !== 0) return undefined;
  const zeros = [0, 0];
  for (let i = 0; i < sample.length; i++) if (sample[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const half = sample.length / 2;
  if (odd > half * 0.4 && even < half * 0.02) return 'utf16-le';
  if (even > half * 0.4 && odd < half * 0.02) return 'utf16-be';
  return undefined;
}

function isBinary(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let control = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    // ESC belongs to ISO-2022 encodings and to coloured logs.
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) control++;
  }
  return control > sample.length * MAX_CONTROL_SHARE;
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function normalise(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '').toWellFormed();
}
