import { KvasirError } from '../../../src-shared/errors.ts';
import { messageOf } from '../../platform/failure.ts';

/** The file is not what its name says, or broken. */
export function broken(name: string, why: string, cause?: unknown): KvasirError {
  return new KvasirError(
    'DOCUMENT_UNREADABLE',
    `${name} cannot be read: ${why}.`,
    'Open it in the program it was made with and save it again.',
    { cause },
  );
}

export function encrypted(name: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_ENCRYPTED',
    `${name} is protected by a password.`,
    'Save a copy without the password and add that.',
  );
}

export function noText(name: string, why: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_NO_TEXT',
    `${name} has no text in it: ${why}.`,
    'Run text recognition (OCR) on it if it is made of pictures.',
  );
}

export function tooLarge(name: string, why: string): KvasirError {
  return new KvasirError(
    'DOCUMENT_TOO_LARGE',
    `${name} is too large: ${why}.`,
    'Split it into smaller files.',
  );
}

/** A library's message, fit to stand in a sentence. */
export function reasonOf(error: unknown): string {
  return messageOf(error).split('\n')[0]?.slice(0, 200).replace(/\.$/, '') ?? 'unknown error';
}
