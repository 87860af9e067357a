import { createHash, type Hash } from 'node:crypto';
import type { ChunkHeader } from '../engine/engine.ts';
import { packTokens } from '../platform/token-bytes.ts';
import type { ChunkIdentity, EntryKind, PrefixIdentity } from './types.ts';

/** Bump when the encoding below changes. A domain for each kind, so that one can never be mistaken for the other. */
const DOMAINS: Record<EntryKind, string> = { chunk: 'kvasir/chunk/1', prefix: 'kvasir/prefix/1' };

/** SHA-256 (hex) of all a chunk's KV depends on. docs/formats/store.md has the byte layout and an example. */
export function chunkKey(id: ChunkIdentity): string {
  return keyOf({ ...id, prefixHash: prefixHash(id.prefix, id.lead) });
}

/** As chunkKey(), of a prompt's beginning. */
export function prefixKey({ root, ...id }: PrefixIdentity): string {
  return keyOf({ ...id, prefixHash: root }, 'prefix');
}

export function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

type Identifying = Pick<ChunkHeader, 'fingerprint' | 'prefixHash' | 'dtype' | 'tokens'>;

/** What a file is under this key, from what its header says; undefined when it belongs under another one. */
export function kindOf(header: Identifying, key: string): EntryKind | undefined {
  return (Object.keys(DOMAINS) as EntryKind[]).find((kind) => keyOf(header, kind) === key);
}

/** The key a file belongs under, from what its header says. */
export function keyOf(header: Identifying, kind: EntryKind = 'chunk'): string {
  const hash = createHash('sha256');
  field(hash, Buffer.from(DOMAINS[kind]));
  field(hash, Buffer.from(header.fingerprint));
  field(hash, Buffer.from(header.prefixHash));
  field(hash, Buffer.from(header.dtype));
  field(hash, packTokens(header.tokens));
  return hash.digest('hex');
}

/** SHA-256 (hex) over token ids, each as a little-endian int32: how a chunk file names what it was encoded behind. */
export function prefixHash(prefix: Int32Array, lead: Int32Array = new Int32Array()): string {
  return createHash('sha256').update(packTokens(prefix)).update(packTokens(lead)).digest('hex');
}

/** Length before content, so that no two lists of fields give the same bytes. */
function field(hash: Hash, bytes: Buffer): void {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  hash.update(length).update(bytes);
}
