import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type {
  CallOptions,
  ChunkKv,
  KvDtype,
  Loading,
  Segment,
  Session,
  Strategy,
} from '../../engine/engine.ts';
import { DEFAULT_RATIO } from '../../../src-shared/strategy.ts';
import { engineStrategy } from '../strategy.ts';
import type { FusionModel } from '../model.ts';
import type { CostModel } from './cost-model.ts';
import { computedOnly } from './cost-model.ts';
import type { Piece, Tier, Work } from './work.ts';

/** The part of a model that profiling needs; the engine's Model implements it. */
export type ProfiledModel = Pick<
  FusionModel,
  'info' | 'blends' | 'encodeChunk' | 'openChunk' | 'bytesPerToken'
> & {
  createSession(capacity: number): Pick<Session, 'append' | 'truncate' | 'dispose'>;
};

export interface ProfileOptions {
  model: ProfiledModel;
  costs: CostModel;
  dtype: KvDtype;
  /** Folder on the disk that chunks will be loaded from. */
  dir: string;
  /** Runs a step while nobody else uses the model; an interrupted step is run again. */
  step: <T>(work: (options: CallOptions) => Promise<T>) => Promise<T>;
  /** A tier to profile instead of the disk, and how it loads: for benches. */
  tier?: Tier;
  loading?: Partial<Loading>;
}

interface Size {
  chunks: number;
  tokens: number;
}

/** Two of each, so that costs per token, per file and fixed costs can be separated. */
const SIZES: readonly Size[] = [
  { chunks: 2, tokens: 128 },
  { chunks: 4, tokens: 256 },
];
const QUESTION = 32;

/** A larger prompt is skipped if it would take longer than this: answers will provide the measurement. */
const LONGEST_MS = 10_000;

/**
 * Learns the costs of a model on this machine, from short meaningless prompts: prefilled in full, blended from memory and from files. Only
 * the costs are stored. ABORTED, OUT_OF_MEMORY, DISK_FULL, STORE_READ_ONLY.
 */
export async function profile(options: ProfileOptions): Promise<void> {
  const { model, costs } = options;
  let first = true;
  for (const size of SIZES) {
    const tokens = size.chunks * size.tokens + QUESTION;
    const expected = costs.fullPrefill(model.info, tokens) ?? 0;
    if (tokens > model.info.contextTrain || (!first && expected > LONGEST_MS)) continue;
    await profileSize(size, { ...options, first });
    first = false;
  }
}

async function profileSize(
  { chunks: count, tokens }: Size,
  options: ProfileOptions & { first: boolean },
): Promise<void> {
  const { model, dtype, step, tier = 'disk', first } = options;
  const inMemory: ChunkKv[] = [];
  const inFiles: ChunkKv[] = [];
  const path = (i: number): string => join(options.dir, `profile-${i}.tmp`);
  const session = model.createSession(count * tokens + QUESTION);
  const question = idsOf(QUESTION, count, model.info.vocabSize);
  const run = (chunks: readonly ChunkKv[], from: Tier, strategy: Strategy, acquireMs = 0): Promise<void> =>
    step((call) => append({ ...options, session, question, call }, chunks, { from, strategy, acquireMs }));
  try {
    for (let i = 0; i < count; i++) {
      const ids = idsOf(tokens, i, model.info.vocabSize);
      inMemory.push(await step((call) => model.encodeChunk(ids, dtype, call)));
    }
    const byQuestion = engineStrategy({ name: 'query', ratio: DEFAULT_RATIO }, model.info.kvLayers);
    const byDeviation = engineStrategy({ name: 'deviation', ratio: DEFAULT_RATIO }, model.info.kvLayers);
    // One-time costs of a process (memory, first graphs) are not costs of a prompt.
    if (first)
      await step((call) => session.append([{ kind: 'compute', tokens: question }], { kind: 'full' }, call));
    await run(inMemory, 'ram', { kind: 'full' });
    await run(inMemory, 'ram', byQuestion);
    await run(inMemory, 'ram', byDeviation);
    for (const [i, chunk] of inMemory.entries()) await chunk.save(path(i));
    const started = performance.now();
    for (const i of inMemory.keys()) inFiles.push(await model.openChunk(path(i)));
    await run(inFiles, tier, byQuestion, performance.now() - started);
  } finally {
    session.dispose();
    for (const chunk of [...inMemory, ...inFiles]) chunk.dispose();
    for (let i = 0; i < count; i++) rmSync(path(i), { force: true });
  }
}

async function append(
  {
    model,
    costs,
    session,
    question,
    call,
    loading,
    dtype,
  }: ProfileOptions & {
    session: ReturnType<ProfiledModel['createSession']>;
    question: Int32Array;
    call: CallOptions;
  },
  chunks: readonly ChunkKv[],
  { from, strategy, acquireMs }: { from: Tier; strategy: Strategy; acquireMs: number },
): Promise<void> {
  const full = strategy.kind === 'full';
  const segments = chunks.map((chunk): Segment =>
    full ? { kind: 'compute', tokens: chunk.tokens } : { kind: 'chunk', chunk },
  );
  session.truncate(0);
  const report = await session.append([...segments, { kind: 'compute', tokens: question }], strategy, {
    ...call,
    loading,
  });
  const pieces = chunks.map(({ tokens }): Piece => ({
    tokens: tokens.length,
    tier: from,
    bytes: tokens.length * model.bytesPerToken(dtype),
  }));
  const work: Work = { past: 0, pieces: [...pieces, { tokens: question.length, tier: null, bytes: 0 }] };
  costs.observe(model.info, { work: full ? computedOnly(work) : work, report, acquireMs });
}

/** Meaningless token ids: the cost of computing does not depend on them. */
function idsOf(count: number, seed: number, vocab: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => (seed * 7919 + i * 104_729 + 3) % vocab);
}
