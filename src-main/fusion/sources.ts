import type { KvDtype, Segment, TokenRange } from '../engine/engine.ts';
import type { Access, Lease } from '../kvstore/store.ts';
import { match, spansOf, type Span } from './matching/match.ts';
import { keyFor, type ChunkCache, type FusionModel, type TokensWithLead } from './model.ts';

/** A chunk's runs in stored chunks; nothing is leased yet. */
export interface StoredRuns {
  /** They cover the tokens, in order. */
  spans: Span[];
  /** The store's keys, by Span.candidate. */
  keys: ReadonlyMap<number, string>;
}

/** A lease on a stored chunk, which may also be in the memory of the model's device: then nothing of it is loaded. */
type LeasedChunk = Omit<Lease, 'tier'> & { readonly tier: Lease['tier'] | 'device' };

/** Stored KV for a chunk's tokens: spans that cover them in order, and leases on the reused chunks. */
export interface Source {
  spans: Span[];
  /** By Span.candidate. */
  leases: Map<number, LeasedChunk>;
}

/** Slowest first. */
const TIERS = ['shared', 'disk', 'ram', 'device'] as const satisfies readonly LeasedChunk['tier'][];

export interface ChunkReuse {
  /** The slowest tier that any of it was in; computed: nothing was reused. */
  tier: LeasedChunk['tier'] | 'computed';
  /** Id of the added folder that any of it was read from; absent: none. */
  folder?: string;
  /** Loaded into memory ahead of this use. */
  prefetched?: boolean;
  /** Which of its tokens, ascending. One run of all of them unless the chunk was matched in part. */
  runs: TokenRange[];
}

interface SourceOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
}

interface LookUpOptions {
  model: Pick<FusionModel, 'info'>;
  store: Pick<ChunkCache, 'similar'>;
  dtype: KvDtype;
}

/** The runs that a chunk which is not stored has in common with stored ones; undefined when they are not worth the seams. */
export async function findRuns(
  tokens: Int32Array,
  { model, store, dtype }: LookUpOptions,
): Promise<StoredRuns | undefined> {
  const similar = await store.similar({ fingerprint: model.info.fingerprint, dtype, tokens });
  const found = match(
    tokens,
    similar.map((chunk) => chunk.tokens),
  );
  if (found.kind === 'none') return undefined;
  const used = new Set(found.runs.map(({ candidate }) => candidate));
  const keys = new Map([...similar.entries()].flatMap(([i, { key }]) => (used.has(i) ? [[i, key]] : [])));
  return { spans: spansOf(found, tokens.length), keys };
}

/**
 * A chunk's own KV if stored, else the runs it has in common with stored chunks: an edited document's new passages are found in its old
 * ones. `missed`: why its own KV could not be opened although it was stored; 'lost' if it still is,
 * as with a drive that is no longer connected. `runs`: the result of findRuns(), if already known.
 */
export async function findSource(
  { tokens, lead, runs }: TokensWithLead & { runs?: StoredRuns | undefined },
  access: Access,
  options: SourceOptions,
): Promise<{ source: Source | undefined; missed?: 'quarantined' | 'lost' | undefined }> {
  const { model, store, dtype } = options;
  const key = keyFor(model, dtype, { tokens, lead });
  const known = store.has(key);
  const lease = await hold(key, access, options);
  if (!lease) {
    const found = runs ?? (await findRuns(tokens, options));
    const missed = known ? (store.has(key) || store.isAway(key) ? 'lost' : 'quarantined') : undefined;
    return { source: found && (await leaseRuns(found, access, options)), missed };
  }
  const whole: Span = { kind: 'reuse', start: 0, count: tokens.length, candidate: 0, begin: 0 };
  return { source: { spans: [whole], leases: new Map([[0, lease]]) } };
}

async function hold(
  key: string,
  access: Access,
  { model, store }: Pick<SourceOptions, 'model' | 'store'>,
): Promise<LeasedChunk | undefined> {
  const lease = await store.acquire(key, model, access);
  return lease && model.onDevice(key) ? { ...lease, tier: 'device' } : lease;
}

/** Undefined when one of them is no longer available. */
async function leaseRuns(
  { spans, keys }: StoredRuns,
  access: Access,
  options: SourceOptions,
): Promise<Source | undefined> {
  const leases = new Map<number, LeasedChunk>();
  for (const [candidate, key] of keys) {
    const lease = await hold(key, access, options);
    if (!lease) {
      releaseAll(leases);
      return undefined;
    }
    leases.set(candidate, lease);
  }
  return { spans, leases };
}

function releaseAll(leases: ReadonlyMap<number, LeasedChunk>): void {
  for (const lease of leases.values()) lease.release();
}

export function releaseSource({ leases }: Source): void {
  releaseAll(leases);
}

/** A segment of an append, and the lease whose chunk it places. */
export interface SourcedSegment {
  segment: Segment;
  lease?: LeasedChunk | undefined;
}

/** The engine's input for a chunk's tokens. */
export function segmentsFor(tokens: Int32Array, source: Source | undefined): SourcedSegment[] {
  if (!source) return [{ segment: { kind: 'compute', tokens } }];
  return source.spans.map((span) => {
    const { start, count } = span;
    const lease = span.kind === 'reuse' ? source.leases.get(span.candidate) : undefined;
    if (span.kind === 'compute' || !lease)
      return { segment: { kind: 'compute', tokens: tokens.subarray(start, start + count) } };
    const { chunk } = lease;
    const isWhole = count === chunk.tokens.length;
    return {
      segment: { kind: 'chunk', chunk, ...(!isWhole && { range: { begin: span.begin, count } }) },
      lease,
    };
  });
}

export function reuseOf(source: Source | undefined): ChunkReuse {
  if (!source) return { tier: 'computed', runs: [] };
  const leases = [...source.leases.values()];
  const tier = TIERS.find((each) => leases.some((lease) => lease.tier === each)) ?? 'disk';
  const folder = tier === 'disk' ? leases.find((lease) => (lease.folder ?? '') !== '')?.folder : undefined;
  const prefetched = tier === 'ram' && leases.some((lease) => lease.prefetched);
  const runs = source.spans.flatMap(({ kind, start, count }) =>
    kind === 'reuse' ? [{ begin: start, count }] : [],
  );
  return { tier, runs, ...(folder !== undefined && { folder }), ...(prefetched && { prefetched }) };
}

export function reusedTokens({ runs }: ChunkReuse): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}
