import { createHash, type Hash } from 'node:crypto';
import type { ChunkHeader } from '../engine/engine.ts';
import { packTokens } from '../platform/token-bytes.ts';
import type { ChunkIdentity, EntryKind, PrefixIdentity } from './types.ts';

/** Bump when the encoding below changes. Separate domains, so that keys of the two kinds never collide. */
const DOMAINS: Record<EntryKind, string> = { chunk: 'kvasir/chunk/1', prefix: 'kvasir/prefix/1' };

/**
 * SHA-256 (hex) over everything that a chunk's KV depends on. docs/formats/store.md has the byte layout and an example.
 */
export function chunkKey(id: ChunkIdentity): string {
  return keyOf({ ...id, prefixHash: prefixHash(id.prefix, id.lead) });
}

/** Like chunkKey(), for the beginning of a prompt. */
export function prefixKey({ root, ...id }: PrefixIdentity): string {
  return keyOf({ ...id, prefixHash: root }, 'prefix');
}

export function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

type IdentityFields = Pick<ChunkHeader, 'fingerprint' | 'prefixHash' | 'dtype' | 'tokens'>;

/** The kind of a file under this key, from its header; undefined if it belongs under another key. */
export function kindOf(header: IdentityFields, key: string): EntryKind | undefined {
  return (Object.keys(DOMAINS) as EntryKind[]).find((kind) => keyOf(header, kind) === key);
}

/** The key that a file belongs under, from its header. */
export function keyOf(header: IdentityFields, kind: EntryKind = 'chunk'): string {
  const hash = createHash('sha256');
  field(hash, Buffer.from(DOMAINS[kind]));
  field(hash, Buffer.from(header.fingerprint));
  field(hash, Buffer.from(header.prefixHash));
  field(hash, Buffer.from(header.dtype));
  field(hash, packTokens(header.tokens));
  return hash.digest('hex');
}

/**
 * SHA-256 (hex) over token ids, each as a little-endian int32: chunk files use it to identify their encoding prefix.
 */
export function prefixHash(prefix: Int32Array, lead: Int32Array = new Int32Array()): string {
  return createHash('sha256').update(packTokens(prefix)).update(packTokens(lead)).digest('hex');
}

/** Length before content, so that different lists of fields never give the same bytes. */
function field(hash: Hash, bytes: Buffer): void {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  hash.update(length).update(bytes);
}
