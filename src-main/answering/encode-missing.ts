import type { EncodedChunks } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { fetchChunk } from '../fusion/fetch-chunk.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import { encodeAndStore, passesOf } from '../fusion/encode-chunks.ts';
import { keyFor, type ChunkCache, type FusionModel, type TokensWithLead } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import type { AnswerChoices } from './choices.ts';

interface EncodeOptions<C> {
  model: FusionModel;
  store: ChunkCache;
  choices: Pick<AnswerChoices, 'dtype' | 'blends' | 'storeMisses'>;
  costs: CostModel;
  clock: Clock;
  signal: AbortSignal;
  /** Called when the store accepts no more: the prompt then computes the missing chunks. */
  onRefused: (error: KvasirError) => void;
  /** Called for each chunk that was computed and stored here. */
  onEncoded?: ((chunk: C) => void) | undefined;
}

/** A program's or a job's prompt waits for them: among concurrent appends they queue after those that a person waits for. */
const PRIORITY = 1;

/** When nothing more can be stored, the prompt is computed without storing. */
const REFUSALS: readonly string[] = ['DISK_FULL', 'STORE_READ_ONLY'];

/**
 * Computes and stores the KV of chunks that the store lacks before a prompt places them, so that every later prompt finds it. Chunks that
 * other machines have are fetched. null when nothing was computed, or nothing may be stored. ABORTED, OUT_OF_MEMORY.
 */
export async function encodeMissing<C extends TokensWithLead & { label: string }>(
  chunks: readonly C[],
  { model, store, choices, costs, clock, signal, onRefused, onEncoded }: EncodeOptions<C>,
): Promise<EncodedChunks | null> {
  const { dtype, blends, storeMisses } = choices;
  // A full prefill neither reads from the store nor writes to it.
  if (!storeMisses || !blends) return null;
  const started = clock.now();
  const encoded = { chunks: 0, tokens: 0, ms: 0 };
  try {
    const missing: C[] = [];
    for (const chunk of chunks) {
      throwIfAborted(signal);
      if (store.has(keyFor(model, dtype, chunk))) continue;
      if (!(await fetchChunk({ ...chunk, dtype }, { model, store, costs, signal }))) missing.push(chunk);
    }
    for (const pass of passesOf(missing)) {
      throwIfAborted(signal);
      await encodeAndStore(model, store, pass, {
        ...{ dtype, label: pass[0]?.label ?? '', signal, priority: PRIORITY },
        onEncoded: (rows, ms) => costs.observeEncode(model.info, rows, ms),
      });
      for (const chunk of pass) {
        encoded.chunks++;
        encoded.tokens += chunk.tokens.length;
        onEncoded?.(chunk);
      }
    }
  } catch (error) {
    if (!(error instanceof KvasirError && REFUSALS.includes(error.code))) throw error;
    onRefused(error);
  }
  return encoded.chunks > 0 ? { ...encoded, ms: clock.now() - started } : null;
}
