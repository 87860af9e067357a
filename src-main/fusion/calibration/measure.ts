import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { CallOptions, ChunkKv, KvDtype, Segment, Strategy } from '../../engine/engine.ts';
import type { PromptPart } from '../blender.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { engineStrategy } from '../strategy.ts';
import type { FusionModel, FusionSession } from '../model.ts';
import { klDivergence, likeliest, topProbability, wordF1 } from '../quality.ts';

export type CalibrationModel = Pick<FusionModel, 'info' | 'detokenize' | 'encodeChunk' | 'createSession'>;

export interface MeasureOptions {
  model: CalibrationModel;
  dtype: KvDtype;
  strategies: readonly StrategyChoice[];
  /** Tokens of an answer at most. */
  answerTokens: number;
  /** Runs a step while nobody else uses the model; a step that was interrupted is run again. */
  step: <T>(work: (options: CallOptions) => Promise<T>) => Promise<T>;
}

/** One prompt by one strategy, beside the full prefill. */
export interface Measured {
  kl: number;
  agrees: boolean;
  answerF1: number;
  ms: number;
  recomputedShare: number;
}

export interface PromptMeasured {
  fullMs: number;
  /** Whether the full prefill knew how to begin its answer: only then does another answer mean that something was lost. */
  sure: boolean;
  /** In the order of the strategies. */
  blended: Measured[];
}

interface Outcome {
  logits: Float32Array;
  text: string;
  ms: number;
  recomputedShare: number;
}

/** Probability of the likeliest token from which on a model is sure of it. */
export const SURE = 0.5;

/** How many steps measuring a prompt by so many strategies takes: its chunks, its full prefill and every strategy. */
export function measureSteps(parts: readonly PromptPart[], strategies: number): number {
  return parts.filter(({ kind }) => kind === 'chunk').length + 1 + strategies;
}

/**
 * Answers one prompt by a full prefill and by every strategy. Its chunks are encoded for this alone and never reach the store: what is
 * cached, and what the budget allows, must not change what is measured. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY.
 */
export async function measurePrompt(
  parts: readonly PromptPart[],
  { model, dtype, strategies, answerTokens, step }: MeasureOptions,
): Promise<PromptMeasured> {
  const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
  const chunks: ChunkKv[] = [];
  const session = model.createSession(tokens + answerTokens);
  const run = (segments: Segment[], strategy: Strategy): Promise<Outcome> =>
    step((options) => answer({ model, session, answerTokens }, segments, strategy, options));
  try {
    const segments: Segment[] = [];
    for (const part of parts) segments.push(await segmentOf(part));
    const computed = parts.map((part): Segment => ({ kind: 'compute', tokens: part.tokens }));
    const full = await run(computed, { kind: 'full' });
    const blended: Measured[] = [];
    for (const choice of strategies) {
      const outcome = await run(segments, engineStrategy(choice, model.info.kvLayers));
      blended.push(against(full, outcome));
    }
    return { fullMs: full.ms, sure: topProbability(full.logits) >= SURE, blended };
  } finally {
    session.dispose();
    for (const chunk of chunks) chunk.dispose();
  }

  async function segmentOf({ kind, tokens: ids, lead }: PromptPart): Promise<Segment> {
    if (kind === 'text') return { kind: 'compute', tokens: ids };
    const chunk = await step((options) => model.encodeChunk(ids, dtype, { ...options, lead }));
    chunks.push(chunk);
    return { kind: 'chunk', chunk };
  }
}

async function answer(
  { model, session, answerTokens }: { model: CalibrationModel; session: FusionSession; answerTokens: number },
  segments: Segment[],
  strategy: Strategy,
  options: CallOptions,
): Promise<Outcome> {
  session.truncate(0);
  const report = await session.append(segments, strategy, options);
  const logits = session.logits().slice(); // generating goes on in the same memory
  const { tokens } = await session.generate({ maxTokens: answerTokens, signal: options.signal });
  throwIfAborted(options.signal); // a text that was cut short must not be compared
  const { reusableTokens, recomputedTokens, totalMs } = report;
  const recomputedShare = reusableTokens > 0 ? recomputedTokens / reusableTokens : 1;
  return { logits, text: model.detokenize(tokens), ms: totalMs, recomputedShare };
}

function against(full: Outcome, { logits, text, ms, recomputedShare }: Outcome): Measured {
  return {
    kl: klDivergence(full.logits, logits),
    agrees: likeliest(full.logits) === likeliest(logits),
    answerF1: wordF1(text, full.text),
    ms,
    recomputedShare,
  };
}
