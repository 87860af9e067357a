import { createHmac } from 'node:crypto';
import { isKey } from '../kvstore/hash.ts';
import { keyCheck } from './encryption.ts';

/** The newest chunk file this version reads (docs/formats/chunk-kv.md). Older programs are never handed a file that they cannot read. */
const CHUNK_FORMAT = 2;

/**
 * The name of a chunk among shared values, 64 hexadecimal digits. Who does not know the salt can tell from a text neither its name
 * nor whether others have read it. Values of each of the team's keys have names of their own, and so have those that are not
 * encrypted: nobody finds what they could not read, and a new key begins an empty cache.
 */
export function nameOf(key: string, salt: string, teamKey: Buffer | undefined): string {
  if (!isKey(key)) throw new TypeError('nameOf: key must come from chunkKey().');
  const kind = teamKey ? keyCheck(teamKey).toString('hex') : 'plain';
  return createHmac('sha256', salt).update(`kvasir/shared/1\n${CHUNK_FORMAT}\n${kind}\n${key}`).digest('hex');
}
