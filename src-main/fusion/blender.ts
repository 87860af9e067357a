import { KvasirError } from '../../src-shared/errors.ts';
import type { AppendReport, CallOptions, ChunkError, KvDtype, Strategy } from '../engine/engine.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import {
  keyFor,
  type ChunkCache,
  type FusionModel,
  type FusionSession,
  type TokensWithLead,
} from './model.ts';
import {
  findSource,
  releaseSource,
  reusedTokens,
  reuseOf,
  segmentsFor,
  type ChunkReuse,
  type Source,
  type SourcedSegment,
  type StoredRuns,
} from './sources.ts';

/** The document that a chunk comes from. */
export interface PassageSource {
  document: string;
  documentId: string | null;
  libraryId: string | null;
  title: string;
  ordinal: number;
}

/** A prompt in order: text to compute, and chunks that may be cached. */
export interface PromptPart extends TokensWithLead {
  kind: 'text' | 'chunk';
  /** Computed although it may be cached. */
  compute?: boolean | undefined;
  /** The stored runs that match a chunk which is not stored, if already looked up. */
  runs?: StoredRuns | undefined;
  /** The turn of a conversation it belongs to, from 0. */
  turn?: number | undefined;
  /** The chunk's origin, for reports. */
  source?: PassageSource | undefined;
}

export interface BlendOptions extends CallOptions {
  model: FusionModel;
  store: ChunkCache;
  session: FusionSession;
  dtype: KvDtype;
  strategy: Strategy;
  /** How many of the last tokens, none of them in a chunk, have their attention kept for comparison. */
  observe?: number;
  clock?: Clock;
  /** The kind of request, for the eviction policy to learn from. */
  requestClass?: string | undefined;
  /** The priority of its computation, as in AppendOptions. */
  priority?: number | undefined;
  /** Called with the source of the chunks' KV once all are looked up, before anything is computed. */
  onAcquired?: ((outcomes: ChunkOutcome[]) => void) | undefined;
}

/** The source of a chunk's KV: entirely from a tier, partly from chunks with common text, or none. */
export type ChunkOutcome = ChunkReuse['tier'] | 'partial';

export interface BlendResult {
  report: AppendReport;
  /** For each chunk part, in order: the source of its KV. */
  outcomes: ChunkOutcome[];
  /** For each chunk part, in order: which of its tokens were reused. */
  reuse: ChunkReuse[];
  /** Indices (among chunk parts) of chunks whose file was damaged: quarantined, and computed for this prompt. */
  quarantined: number[];
  /** Indices of chunks that shared cache or disk did not deliver completely: computed for this prompt. */
  lost: number[];
  acquireMs: number;
}

/** Parts whose stored KV turned out to be unusable, by reason. */
interface UnusableParts {
  quarantined: Set<number>;
  lost: Set<number>;
}

/**
 * Appends a prompt to a session, reusing the KV of every stored chunk, and for chunks that are not stored, the runs that stored chunks
 * contain. A miss is computed in place and does not end reuse. A damaged file is quarantined and its chunk computed instead, and so is one
 * that shared cache or disk do not deliver. Leases are released in every case. CONTEXT_OVERFLOW, ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
 */
export async function blend(parts: readonly PromptPart[], options: BlendOptions): Promise<BlendResult> {
  const clock = options.clock ?? systemClock;
  const sources = new Map<number, Source>();
  const unusable: UnusableParts = { quarantined: new Set(), lost: new Set() };
  const lengthBefore = options.session.length;
  try {
    const started = clock.now();
    await findAll(parts, options, sources, unusable);
    const acquireMs = clock.now() - started;
    for (let told = false; ; told = true) {
      const placed = segmentsOf(parts, sources);
      try {
        const segments = placed.map(({ segment }) => segment);
        const appending = options.session.append(segments, options.strategy, options);
        // Displaying and saving that takes as long as a layer or two: the model computes meanwhile.
        if (!told) await meanwhile(appending, () => options.onAcquired?.(reuseIn(parts, sources).outcomes));
        const report = await appending;
        return {
          report,
          ...reuseIn(parts, sources),
          quarantined: chunkIndices(parts, unusable.quarantined),
          lost: chunkIndices(parts, unusable.lost),
          acquireMs,
        };
      } catch (error) {
        await setAside(error, options.store, placed, sources, unusable);
        options.session.truncate(lengthBefore);
      }
    }
  } finally {
    for (const source of sources.values()) releaseSource(source);
  }
}

/** Runs a task during a call; its failure is thrown once the call has ended and its resources may be released. */
async function meanwhile(call: Promise<unknown>, work: () => void): Promise<void> {
  try {
    work();
  } catch (error) {
    await call.catch(() => undefined);
    throw error;
  }
}

async function findAll(
  parts: readonly PromptPart[],
  options: BlendOptions,
  sources: Map<number, Source>,
  unusable: UnusableParts,
): Promise<void> {
  const request = {};
  const { model, store, dtype, strategy, requestClass } = options;
  // A full prefill reads nothing from the store: it is the baseline for blending.
  const isRead = ({ compute }: PromptPart): boolean => compute !== true && strategy.kind !== 'full';
  const wanted = parts.filter((part) => part.kind === 'chunk' && isRead(part));
  // Each takes a round trip to another machine: request all in parallel.
  store.shared?.bring(
    wanted.map((part) => keyFor(model, dtype, part)),
    model,
  );
  const slice = new TimeSlice();
  let end = 0;
  for (const [index, part] of parts.entries()) {
    const offset = end;
    end += part.tokens.length;
    if (part.kind !== 'chunk') continue;
    const access = { class: requestClass ?? 'other', offset, request };
    if (!isRead(part)) {
      // An answer needed it all the same; without a class it is a measurement.
      if (requestClass !== undefined) store.used(keyFor(model, dtype, part), access);
      continue;
    }
    const { source, missed } = await findSource(part, access, options);
    if (source) sources.set(index, source);
    if (missed) unusable[missed].add(index);
    await slice.step();
  }
}

/** Removes the chunk that an append failed on from the sources; any other failure is rethrown. */
async function setAside(
  error: unknown,
  store: ChunkCache,
  placed: readonly PlacedSegment[],
  sources: Map<number, Source>,
  unusable: UnusableParts,
): Promise<void> {
  const code = error instanceof KvasirError ? error.code : '';
  const isLost = code === 'SHARED_TIER_FAILED' || code === 'CHUNK_UNREADABLE';
  const index = isLost || code === 'CHUNK_CORRUPT' ? (error as ChunkError).chunkIndex : undefined;
  const { part, lease } = (index !== undefined && placed[index]) || {};
  const source = part === undefined ? undefined : sources.get(part);
  if (part === undefined || !lease || !source) throw error;
  sources.delete(part);
  unusable[isLost ? 'lost' : 'quarantined'].add(part);
  releaseSource(source);
  // For another machine's value, the store has already noticed it.
  if (!isLost && lease.tier !== 'shared') await store.reportCorrupt(lease.key);
  if (code === 'CHUNK_UNREADABLE') await setAwayAside(lease.key, store, sources, unusable);
}

/** Other chunks of a drive that is gone are not tried: each would take as long to fail. */
async function setAwayAside(
  key: string,
  store: ChunkCache,
  sources: Map<number, Source>,
  unusable: UnusableParts,
): Promise<void> {
  await store.reportUnreadable(key);
  for (const [part, source] of sources) {
    const isRead = [...source.leases.values()].some(
      ({ key: each, tier }) => tier === 'disk' && store.isAway(each),
    );
    if (!isRead) continue;
    sources.delete(part);
    unusable.lost.add(part);
    releaseSource(source);
  }
}

interface PlacedSegment extends SourcedSegment {
  /** Index of the part it belongs to. */
  part: number;
}

function segmentsOf(parts: readonly PromptPart[], sources: ReadonlyMap<number, Source>): PlacedSegment[] {
  return parts.flatMap(({ kind, tokens }, part) => {
    const source = sources.get(part);
    if (kind === 'chunk' && !source) return [{ segment: { kind: 'compute' as const, tokens }, part }];
    return segmentsFor(tokens, source).map((segment) => ({ ...segment, part }));
  });
}

function reuseIn(
  parts: readonly PromptPart[],
  sources: ReadonlyMap<number, Source>,
): Pick<BlendResult, 'outcomes' | 'reuse'> {
  const reuse: ChunkReuse[] = [];
  const outcomes: ChunkOutcome[] = [];
  for (const [index, { kind, tokens }] of parts.entries()) {
    if (kind !== 'chunk') continue;
    const reused = reuseOf(sources.get(index));
    const isPartial = reused.tier !== 'computed' && reusedTokens(reused) < tokens.length;
    reuse.push(reused);
    outcomes.push(isPartial ? 'partial' : reused.tier);
  }
  return { outcomes, reuse };
}

function chunkIndices(parts: readonly PromptPart[], indices: ReadonlySet<number>): number[] {
  const places = parts.flatMap((part, index) => (part.kind === 'chunk' ? [index] : []));
  return places.flatMap((index, place) => (indices.has(index) ? [place] : []));
}
