import { KvasirError } from '../../src-shared/errors.ts';

/**
 * The text of a document's bytes: UTF-8 (a byte-order mark is dropped), with \n line ends. Character ranges of chunks
 * count UTF-16 units in this text. DOCUMENT_ENCODING names the file and the byte where the encoding breaks.
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch (error) {
    throw new KvasirError(
      'DOCUMENT_ENCODING',
      `${name} is not valid UTF-8 text: byte ${firstInvalidByte(bytes)} does not belong to any character.`,
      'Save the file as UTF-8.',
      { cause: error },
    );
  }
}

/** Decoding with replacement characters and encoding again changes a text first where it is broken. */
function firstInvalidByte(bytes: Uint8Array): number {
  const again = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  let at = 0;
  while (at < bytes.length && bytes[at] === again[at]) at++;
  return at;
}
