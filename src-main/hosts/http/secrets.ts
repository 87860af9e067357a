import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KvasirError } from '../../../src-shared/errors.ts';

/** Who may ask: whoever has one of these keys, or everybody where there are none. Kept as hashes. */
export class ApiKeys {
  readonly #digests: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  get isEmpty(): boolean {
    return this.#digests.length === 0;
  }

  /** Every one is compared, so that the time says nothing about which it is. */
  has(key: string): boolean {
    const given = digest(key);
    return this.#digests.map((one) => timingSafeEqual(given, one)).includes(true);
  }
}

/** A key a line; lines that begin with # are remarks. BAD_ARGUMENT. */
export function readKeys(path: string): string[] {
  const lines = readLines(path).map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (keys.length > 0) return keys;
  throw new KvasirError('BAD_ARGUMENT', `There is no key in ${path}.`, 'Write one key a line into it.');
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `The keys could not be read from ${path} (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Name a file with one key a line.', { cause: error });
  }
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
