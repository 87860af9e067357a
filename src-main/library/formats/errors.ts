import { KvasirError } from '../../../src-shared/errors.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import { messageOf } from '../../platform/failure.ts';

/** The file does not have the format of its name, or is damaged. */
export function broken(name: string, why: string, cause?: unknown): KvasirError {
  return new KvasirError(
    'DOCUMENT_UNREADABLE',
    `It cannot be read: ${why}. The file is ${name}.`,
    'Open it in the program it was made with and save it again.',
    { cause },
  );
}

export function encrypted(name: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_ENCRYPTED',
    `It is protected by a password. The file is ${name}.`,
    'Save a copy without the password and add that.',
  );
}

/** For readers who hold a certificate, or by another scheme than passwords. */
export function encryptedByCertificate(name: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_ENCRYPTED',
    `It is encrypted for the holder of a certificate. The file is ${name}.`,
    'Open it with the certificate, save a copy without encryption, and add that.',
  );
}

/** `warnings` are sentences about what was left out. */
export function noText(name: string, why: string, warnings: readonly string[] = []): KvasirError {
  return new KvasirError(
    'DOCUMENT_NO_TEXT',
    [`There is no text in it: ${why}.`, ...warnings, `The file is ${name}.`].join(' '),
    'Remove it, or save it again in the program it was made with.',
  );
}

export function tooLarge(name: string, why: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_TOO_LARGE',
    `It is too large: ${why}. The file is ${name}.`,
    'Split it into smaller files.',
  );
}

/** Larger than the settings allow; `bytes` if its size is known. */
export function overLimit(name: string, limit: number, bytes?: number): KvasirError {
  const size = bytes === undefined ? 'its size is above the limit,' : `${formatBytes(bytes)},`;
  return new KvasirError(
    'DOCUMENT_TOO_LARGE',
    `It is too large: ${size} and the limit is ${formatBytes(limit)}. The file is ${name}.`,
    'Split the file, or raise “Largest file” in Settings → Documents.',
  );
}

/** A file without content: of no bytes, of zeros only (a write or a download that was cut off leaves them), or of spaces. */
export function blank(name: string, bytes: Buffer): KvasirError {
  const zeros = bytes.length > 0 && !bytes.some((byte) => byte !== 0);
  const what = zeros ? `all of its ${formatBytes(bytes.length)} are zeros` : 'the file is empty';
  return new KvasirError(
    'DOCUMENT_NO_TEXT',
    `There is no text in it: ${what}. The file is ${name}.`,
    zeros
      ? 'It was not written or downloaded completely: get it from its source again.'
      : 'Remove it, or write something in it.',
  );
}

/** A dependency's error message, formatted for use inside a sentence. The message of a fault in a program says nothing to people. */
export function reasonOf(error: unknown): string {
  const fault = [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
  const message = messageOf(error).split('\n')[0]?.slice(0, 200).replace(/\.$/, '') ?? '';
  return fault || message === '' || /\b(?:undefined|null|NaN)\b/.test(message)
    ? 'its parts do not fit together'
    : message;
}
