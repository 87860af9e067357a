import type { Encoded } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { FoundPassage } from '../answering/passages.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import { encodeAndStore, keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import type { Clock } from '../platform/clock.ts';
import type { AnswerChoices } from '../answering/choices.ts';

interface EncodeOptions {
  model: FusionModel;
  store: ChunkCache;
  choices: Pick<AnswerChoices, 'dtype' | 'blends' | 'storeMisses'>;
  costs: CostModel;
  clock: Clock;
  signal: AbortSignal;
  /** Told when the store takes no more: the prompt then computes what is missing by itself. */
  onRefused: (error: KvasirError) => void;
}

/** Where nothing more can be stored, an analysis goes on without. */
const REFUSALS: readonly string[] = ['DISK_FULL', 'STORE_READ_ONLY'];

/**
 * Computes and stores the KV of chunks that the store does not have, before a prompt places them: it is then there for every
 * prompt that they come into. null when nothing was missing, or nothing may be stored. ABORTED, OUT_OF_MEMORY.
 */
export async function encodeMissing(
  passages: readonly FoundPassage[],
  { model, store, choices, costs, clock, signal, onRefused }: EncodeOptions,
): Promise<Encoded | null> {
  const { dtype, blends, storeMisses } = choices;
  // A full prefill reads nothing from the store, and leaves nothing there.
  if (!storeMisses || !blends) return null;
  const started = clock.now();
  const encoded = { chunks: 0, tokens: 0, ms: 0 };
  for (const { tokens, lead, passage } of passages) {
    if (store.has(keyFor(model, dtype, { tokens, lead }))) continue;
    try {
      await encodeAndStore(model, store, { tokens, lead, dtype, label: passage.path }, signal, (ms) =>
        costs.observeEncode(model.info, tokens.length, ms),
      );
    } catch (error) {
      if (!(error instanceof KvasirError && REFUSALS.includes(error.code))) throw error;
      onRefused(error);
      break;
    }
    encoded.chunks++;
    encoded.tokens += tokens.length;
  }
  return encoded.chunks > 0 ? { ...encoded, ms: clock.now() - started } : null;
}
