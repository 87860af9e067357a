import { KvasirError } from '../../src-shared/errors.ts';
import type { AppendReport, CallOptions, ChunkError, KvDtype, Segment, Strategy } from '../engine/engine.ts';
import type { Lease } from '../kvstore/store.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { keyFor, type ChunkCache, type FusionModel, type FusionSession } from './model.ts';

/** A prompt in order: text to compute, and chunks that may be cached. */
export interface PromptPart {
  kind: 'text' | 'chunk';
  tokens: Int32Array;
}

export interface BlendOptions extends CallOptions {
  model: FusionModel;
  store: ChunkCache;
  session: FusionSession;
  dtype: KvDtype;
  strategy: Strategy;
  clock?: Clock;
  /** Told where the chunks' KV comes from once all are looked up, before anything is computed. */
  onAcquired?: ((outcomes: ChunkOutcome[]) => void) | undefined;
}

export type ChunkOutcome = 'ram' | 'disk' | 'computed';

export interface BlendResult {
  report: AppendReport;
  /** For each chunk part, in order: where its KV came from. */
  outcomes: ChunkOutcome[];
  /** Indices (among chunk parts) of chunks whose file was damaged: set aside, and computed for this prompt. */
  quarantined: number[];
  acquireMs: number;
}

/**
 * Appends a prompt to a session, reusing the KV of every chunk the store has. A miss is computed in its place and does
 * not end reuse. A damaged file is quarantined and its chunk computed instead. Leases are released in every case.
 * CONTEXT_OVERFLOW, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
 */
export async function blend(parts: readonly PromptPart[], options: BlendOptions): Promise<BlendResult> {
  const clock = options.clock ?? systemClock;
  const leases = new Map<number, Lease>();
  const quarantined = new Set<number>();
  const lengthBefore = options.session.length;
  try {
    const started = clock.now();
    // A full prefill reads nothing from the store: it is the baseline that blending is compared with.
    if (options.strategy.kind !== 'full') await acquireAll(parts, options, leases, quarantined);
    const acquireMs = clock.now() - started;
    options.onAcquired?.(outcomesOf(parts, leases));
    for (;;) {
      try {
        const report = await options.session.append(segmentsOf(parts, leases), options.strategy, options);
        return {
          report,
          outcomes: outcomesOf(parts, leases),
          quarantined: chunkIndices(parts, quarantined),
          acquireMs,
        };
      } catch (error) {
        await setAside(error, options.store, leases, quarantined);
        options.session.truncate(lengthBefore);
      }
    }
  } finally {
    for (const lease of leases.values()) lease.release();
  }
}

async function acquireAll(
  parts: readonly PromptPart[],
  { model, store, dtype }: BlendOptions,
  leases: Map<number, Lease>,
  quarantined: Set<number>,
): Promise<void> {
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'chunk') continue;
    const key = keyFor(model, dtype, part.tokens);
    const known = store.has(key);
    const lease = await store.acquire(key, model);
    if (lease) leases.set(index, lease);
    else if (known) quarantined.add(index);
  }
}

/** Takes the chunk that an append failed on out of the leases; any other failure is thrown again. */
async function setAside(
  error: unknown,
  store: ChunkCache,
  leases: Map<number, Lease>,
  quarantined: Set<number>,
): Promise<void> {
  const index =
    error instanceof KvasirError && error.code === 'CHUNK_CORRUPT'
      ? (error as ChunkError).chunkIndex
      : undefined;
  const lease = index === undefined ? undefined : leases.get(index);
  if (index === undefined || !lease) throw error;
  leases.delete(index);
  quarantined.add(index);
  lease.release();
  await store.reportCorrupt(lease.key);
}

function segmentsOf(parts: readonly PromptPart[], leases: ReadonlyMap<number, Lease>): Segment[] {
  return parts.map((part, index) => {
    const lease = leases.get(index);
    return lease ? { kind: 'chunk', chunk: lease.chunk } : { kind: 'compute', tokens: part.tokens };
  });
}

function outcomesOf(parts: readonly PromptPart[], leases: ReadonlyMap<number, Lease>): ChunkOutcome[] {
  return parts.flatMap((part, index) =>
    part.kind === 'chunk' ? [leases.get(index)?.tier ?? 'computed'] : [],
  );
}

function chunkIndices(parts: readonly PromptPart[], indices: ReadonlySet<number>): number[] {
  const places = parts.flatMap((part, index) => (part.kind === 'chunk' ? [index] : []));
  return places.flatMap((index, place) => (indices.has(index) ? [place] : []));
}
