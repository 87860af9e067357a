import { createHmac } from 'node:crypto';
import { isKey } from '../kvstore/hash.ts';

/** The newest chunk file this version reads (docs/formats/chunk-kv.md). Older programs are never handed a file that they cannot read. */
const CHUNK_FORMAT = 2;

/**
 * The name of a chunk among shared values, 64 hexadecimal digits. Who does not know the salt can tell from a text neither its name
 * nor whether others have read it. Encrypted values have names of their own, so that neither kind is taken for the other.
 */
export function nameOf(key: string, salt: string, encrypted: boolean): string {
  if (!isKey(key)) throw new TypeError('nameOf: key must come from chunkKey().');
  const kind = encrypted ? 'encrypted' : 'plain';
  return createHmac('sha256', salt).update(`kvasir/shared/1\n${CHUNK_FORMAT}\n${kind}\n${key}`).digest('hex');
}
