import { isAscii, isUtf8 } from 'node:buffer';
import { stripVTControlCharacters } from 'node:util';
import iconv from 'iconv-lite';
import { KvasirError } from '../../../src-shared/errors.ts';
import { frequentShare, guessEncoding } from './encodings.ts';

/** Bytes examined to tell text from binary data. */
const SAMPLE_BYTES = 65_536;
/** Bytes whose letters are compared with languages. */
const GUESS_BYTES = 16_384;
/** Share of control characters above which a file is not text. */
const MAX_CONTROL_SHARE = 0.02;
/** Share of ASCII and frequent characters from which bytes are UTF-16 or UTF-32 without a byte-order mark. */
const MIN_FREQUENT_SHARE = 0.35;
/** Lines that a warning names. */
const MAX_LINES = 5;

/** Control characters of ASCII, but for white space. */
const CONTROL = /[^\P{Cc}\t\n\f\r]/u;

export interface DecodedText {
  text: string;
  /** What was replaced or left out, and whether the encoding is a guess. */
  warnings: string[];
}

/**
 * The text of a file in any common encoding: by its byte-order mark, else UTF-8 when valid, else by `declared` (the document's own
 * declaration), else UTF-8 with single wrong bytes replaced, else by its letters. Line ends become \n; control characters and terminal
 * sequences are left out. DOCUMENT_UNSUPPORTED when the file is not text, DOCUMENT_ENCODING when its encoding cannot be determined.
 */
export function decode(bytes: Buffer, name: string, declared = labelIn(bytes)): DecodedText {
  const { encoding, guess } = encodingOf(bytes, name, declared);
  if (encoding === 'utf8' && isAscii(bytes)) {
    const text = bytes.toString('latin1');
    // As most source code and data: nothing to leave out.
    if (!CONTROL.test(text)) return { text: text.replace(/\r\n?/g, '\n'), warnings: [] };
  }
  const decoded = encoding === 'iso-2022' ? decodeIso2022(bytes) : iconv.decode(bytes, encoding);
  const damaged = decoded.includes('\ufffd') && !(encoding === 'utf8' && isUtf8(bytes));
  const lines = (damaged ? decoded.replace(/\ufffd+/g, '\ufffd') : decoded).replace(/\r\n?/g, '\n');
  const warnings = guess === undefined ? [] : [guess];
  if (damaged) {
    warnings.push(
      `Bytes that are not ${labelOf(encoding)} were read as “\ufffd” ${linesWith(lines, (line) => line.includes('\ufffd'))}.`,
    );
  }
  if (withoutTags(lines) !== lines) {
    const where = linesWith(lines, (line) => withoutTags(line) !== line);
    warnings.push(`Invisible characters were left out ${where}.`);
  }
  if (lines.includes('\0')) {
    warnings.push(`NUL bytes were left out ${linesWith(lines, (line) => line.includes('\0'))}.`);
  }
  return { text: visible(lines), warnings };
}

interface FoundEncoding {
  encoding: string;
  /** A sentence for the user. */
  guess?: string;
}

function encodingOf(bytes: Buffer, name: string, declared: string | undefined): FoundEncoding {
  const unicode = byteOrderMark(bytes) ?? wideWithoutMark(bytes);
  if (unicode !== undefined) return { encoding: unicode };
  if (isIso2022(bytes)) return { encoding: 'iso-2022' };
  if (isBinary(bytes)) {
    throw new KvasirError(
      'DOCUMENT_UNSUPPORTED',
      `${name} is not a text file.`,
      'Kvasir reads PDF, Office, EPUB, HTML, Markdown, tables, source code and plain text.',
    );
  }
  if (isUtf8(bytes)) return { encoding: 'utf8' };
  const known = knownLabel(declared);
  if (known !== undefined) return { encoding: known };
  if (isNearlyUtf8(bytes)) return { encoding: 'utf8' };
  const guess = guessEncoding(sampleOf(bytes));
  if (!guess) {
    throw new KvasirError(
      'DOCUMENT_ENCODING',
      `The encoding of ${name} cannot be determined.`,
      'Save the file as UTF-8.',
    );
  }
  if (guess.sure) return { encoding: guess.encoding };
  const sentence = `It does not say its encoding and was read as ${guess.encoding}. If letters in it are wrong, save it as UTF-8.`;
  return { encoding: guess.encoding, guess: sentence };
}

function byteOrderMark(bytes: Buffer): string | undefined {
  const mark = bytes.toString('hex', 0, 4);
  if (mark.startsWith('efbbbf')) return 'utf8';
  if (mark === 'fffe0000') return 'utf32-le';
  if (mark === '0000feff') return 'utf32-be';
  if (mark.startsWith('fffe')) return 'utf16-le';
  return mark.startsWith('feff') ? 'utf16-be' : undefined;
}

/** No wider text begins with so many bytes of ASCII, even if each two of them are a Chinese character. */
const ASCII_HEAD = /^[\t\n\r -~]{64}$/;
const NONE = { encoding: 'utf8', share: 0 };

/** UTF-16 and UTF-32 without a byte-order mark: where ASCII is not possible, the one in which the text has frequent characters. */
function wideWithoutMark(bytes: Buffer): string | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (bytes.length < 4 || (isUtf8(bytes) && !sample.some((byte) => byte < 7 || byte === 14)))
    return undefined;
  if (ASCII_HEAD.test(bytes.toString('latin1', 0, 64))) return undefined;
  const codePoints = (read: (at: number) => number): boolean => {
    if (bytes.length % 4 !== 0) return false;
    for (let at = 0; at + 4 <= sample.length; at += 4) if (read(at) > 0x10ffff) return false;
    return true;
  };
  const candidates = [
    ...(codePoints((at) => sample.readUInt32LE(at)) ? ['utf32-le'] : []),
    ...(codePoints((at) => sample.readUInt32BE(at)) ? ['utf32-be'] : []),
    ...(bytes.length % 2 === 0 ? ['utf16-le', 'utf16-be'] : []),
    ...(isUtf8(bytes) ? ['utf8'] : []),
  ];
  const shares = candidates.map((encoding) => ({
    encoding,
    share: frequentShare(iconv.decode(sample, encoding)),
  }));
  const best = shares.reduce((most, each) => (each.share > most.share ? each : most), NONE);
  return best.share >= MIN_FREQUENT_SHARE && best.encoding !== 'utf8' ? best.encoding : undefined;
}

/** Zeros are no sign of binary data: logs have blocks of them after a power failure. */
function isBinary(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let control = 0;
  let zeros = 0;
  for (const byte of sample) {
    if (byte === 0) zeros++;
    // ESC and BEL belong to coloured logs, backspaces to bold letters of manual pages, 26 ends files of DOS.
    else if (byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27 && byte !== 26) control++;
  }
  return control > (sample.length - zeros) * MAX_CONTROL_SHARE;
}

/** Valid sequences of several bytes are so unlikely in other encodings that a few wrong bytes do not speak against UTF-8. */
function isNearlyUtf8(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  const wrong = text.split('\ufffd').length - 1;
  const right = text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  return right > 0 && right >= wrong;
}

/** An encoding named in the first two lines: by XML, by Python (PEP 263) and editors, by CSS. */
function labelIn(bytes: Buffer): string | undefined {
  const head = bytes
    .toString('latin1', 0, 400)
    .split(/\r\n?|\n/, 2)
    .join('\n');
  return knownLabel(/(?:coding|charset)\s*[=:]?\s*["']?([\w.-]+)/.exec(head)?.[1]);
}

/** An encoding's name as declared, if it can be true of bytes that are not UTF-8; Latin-1 means Windows' (WHATWG Encoding, 4.2). */
function knownLabel(label = ''): string | undefined {
  if (/^(?:iso-?8859-?1|latin1|us-ascii|ascii)$/i.test(label)) return 'windows-1252';
  const other = /^(?:u(?:tf|cs)|base64|hex|binary)/i; // iconv-lite's names of what are no encodings, too
  return label !== '' && iconv.encodingExists(label) && !other.test(label) ? label : undefined;
}

/** Lines with characters outside ASCII. */
function sampleOf(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  let left = GUESS_BYTES;
  for (let start = 0; start < bytes.length && left > 0;) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    const line = bytes.subarray(start, Math.min(end, start + left));
    if (!isAscii(line)) {
      lines.push(line);
      left -= line.length;
    }
    start = end;
  }
  const sample = Buffer.concat(lines);
  // Few control characters, which are left out of the text, would speak for UTF-16; many of them say that it is no text.
  const plain = Buffer.from(sample.filter((byte) => byte > 8));
  return sample.length - plain.length < bytes.length / 10 ? plain : sample;
}

/** Sequences that switch to Japanese characters (RFC 1468, RFC 1554), and those to Korean ones (RFC 1557). */
const JAPANESE = ['\x1b$@', '\x1b$B', '\x1b$(@', '\x1b$(B', '\x1b$(D'];
const KOREAN = '\x1b$)C';
const [SHIFT_OUT, SHIFT_IN] = ['\x0e', '\x0f'];

function isIso2022(bytes: Buffer): boolean {
  return (
    bytes.includes(27) && isAscii(bytes) && [...JAPANESE, KOREAN].some((sequence) => bytes.includes(sequence))
  );
}

function decodeIso2022(bytes: Buffer): string {
  if (!bytes.includes(KOREAN)) return new TextDecoder('iso-2022-jp').decode(bytes);
  // Between the shifts, characters are those of EUC-KR without the upper bit.
  const [narrow = '', ...shifted] = bytes.toString('latin1').replaceAll(KOREAN, '').split(SHIFT_OUT);
  const parts = shifted.map((part) => {
    const [wide = '', ...rest] = part.split(SHIFT_IN);
    const upper = wide.replace(/[!-~]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) | 0x80));
    return upper + rest.join('');
  });
  return iconv.decode(Buffer.from(narrow + parts.join(''), 'latin1'), 'euc-kr');
}

/** Without what no program shows: terminal sequences, letters struck over, control characters, tags, marks of joined files. */
function visible(text: string): string {
  const plain = text.includes('\x1b') ? stripVTControlCharacters(text) : text;
  return withoutTags(plain)
    .replace(/[^\n][\b]/g, '')
    .replace(/[\v\u0085]/g, '\n')
    .replace(/(?![\t\n\f])[\p{Cc}\ufeff]/gu, '')
    .toWellFormed();
}

function labelOf(encoding: string): string {
  return encoding === 'utf8' ? 'UTF-8' : encoding;
}

/** Without invisible copies of ASCII, which hide instructions to models; only flags of regions are made of them (UTS 51, C.1). */
function withoutTags(text: string): string {
  return text.replace(/(\u{1f3f4}[\u{e0030}-\u{e007a}]{2,8}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu, '$1');
}

/** "in line 3", "in lines 3, 8, 9, 12, 14 and 6 more". */
function linesWith(text: string, matches: (line: string) => boolean): string {
  const numbers: number[] = [];
  text.split('\n').forEach((line, index) => matches(line) && numbers.push(index + 1));
  const named = numbers.slice(0, MAX_LINES).join(', ');
  const more = numbers.length > MAX_LINES ? ` and ${numbers.length - MAX_LINES} more` : '';
  return `in line${numbers.length > 1 ? 's' : ''} ${named}${more}`;
}
