import { createHmac } from 'node:crypto';
import { isKey } from '../kvstore/hash.ts';
import { keyCheck } from './encryption.ts';

/**
 * The newest chunk file format this version reads (docs/formats/chunk-kv.md). Older programs never receive a file that
 * they cannot read.
 */
const CHUNK_FORMAT = 2;

/**
 * The name of a chunk among shared values, 64 hexadecimal digits. Without the salt, nobody can derive a text's name or
 * tell whether others have read it. Each team key has separate names, as have unencrypted values: nobody finds values
 * they cannot read, and a new key starts an empty cache.
 */
export function nameOf(key: string, salt: string, teamKey: Buffer | undefined): string {
  if (!isKey(key)) throw new TypeError('nameOf: key must come from chunkKey().');
  const kind = teamKey ? keyCheck(teamKey).toString('hex') : 'plain';
  return createHmac('sha256', salt).update(`kvasir/shared/1\n${CHUNK_FORMAT}\n${kind}\n${key}`).digest('hex');
}
