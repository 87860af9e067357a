import type { KvDtype, Segment, TokenRange } from '../engine/engine.ts';
import type { Access, Lease } from '../kvstore/store.ts';
import { match, piecesOf, type Piece } from './matching/match.ts';
import { keyFor, type ChunkCache, type FusionModel } from './model.ts';

/** Stored KV for a chunk's tokens: pieces that make them up in order, and leases on what is reused. */
export interface Source {
  pieces: Piece[];
  /** By Piece.candidate. */
  leases: Map<number, Lease>;
}

/** What of a chunk was reused. */
export interface ChunkReuse {
  /** Where from; disk when any of it was; computed: nothing was reused. */
  tier: 'ram' | 'disk' | 'computed';
  /** Brought into memory ahead of this use. */
  prefetched?: boolean;
  /** Which of its tokens, ascending. One run of all of them unless the chunk was matched in part. */
  runs: TokenRange[];
}

export interface SourceOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
}

/**
 * A chunk's own KV where the store has it, else the runs it has in common with chunks that are stored: an edited document's
 * new passages are found in its old ones. `damaged`: its own KV was there, and could not be opened.
 */
export async function findSource(
  tokens: Int32Array,
  access: Access,
  { model, store, dtype }: SourceOptions,
): Promise<{ source: Source | undefined; damaged: boolean }> {
  const key = keyFor(model, dtype, tokens);
  const known = store.has(key);
  const lease = await store.acquire(key, model, access);
  if (!lease) return { source: await findRuns(tokens, access, { model, store, dtype }), damaged: known };
  const whole: Piece = { kind: 'reuse', start: 0, count: tokens.length, candidate: 0, begin: 0 };
  return { source: { pieces: [whole], leases: new Map([[0, lease]]) }, damaged: false };
}

async function findRuns(
  tokens: Int32Array,
  access: Access,
  { model, store, dtype }: SourceOptions,
): Promise<Source | undefined> {
  const { info, encodingPrefix: prefix } = model;
  const similar = store.similar({ fingerprint: info.fingerprint, prefix, dtype, tokens });
  const found = match(
    tokens,
    similar.map((chunk) => chunk.tokens),
  );
  const leases = new Map<number, Lease>();
  for (const { candidate } of found.runs) {
    const key = similar[candidate]?.key;
    if (key === undefined || leases.has(candidate)) continue;
    const lease = await store.acquire(key, model, access);
    if (!lease) {
      releaseAll(leases);
      return undefined;
    }
    leases.set(candidate, lease);
  }
  return found.kind === 'none' ? undefined : { pieces: piecesOf(found, tokens.length), leases };
}

function releaseAll(leases: ReadonlyMap<number, Lease>): void {
  for (const lease of leases.values()) lease.release();
}

export function releaseSource({ leases }: Source): void {
  releaseAll(leases);
}

/** A segment of an append, and the lease whose chunk it places. */
export interface SourcedSegment {
  segment: Segment;
  lease?: Lease | undefined;
}

/** What the engine is given for a chunk's tokens. */
export function segmentsFor(tokens: Int32Array, source: Source | undefined): SourcedSegment[] {
  if (!source) return [{ segment: { kind: 'compute', tokens } }];
  return source.pieces.map((piece) => {
    const { start, count } = piece;
    const lease = piece.kind === 'reuse' ? source.leases.get(piece.candidate) : undefined;
    if (piece.kind === 'compute' || !lease)
      return { segment: { kind: 'compute', tokens: tokens.subarray(start, start + count) } };
    const { chunk } = lease;
    const isWhole = count === chunk.tokens.length;
    return {
      segment: { kind: 'chunk', chunk, ...(!isWhole && { range: { begin: piece.begin, count } }) },
      lease,
    };
  });
}

export function reuseOf(source: Source | undefined): ChunkReuse {
  if (!source) return { tier: 'computed', runs: [] };
  const leases = [...source.leases.values()];
  const tier = leases.some((lease) => lease.tier === 'disk') ? 'disk' : 'ram';
  const prefetched = tier === 'ram' && leases.some((lease) => lease.prefetched);
  const runs = source.pieces.flatMap(({ kind, start, count }) =>
    kind === 'reuse' ? [{ begin: start, count }] : [],
  );
  return { tier, runs, ...(prefetched && { prefetched }) };
}

export function reusedTokens({ runs }: ChunkReuse): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}
