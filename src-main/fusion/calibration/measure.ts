import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { CallOptions, ChunkKv, KvDtype, Segment, Strategy } from '../../engine/engine.ts';
import { divergenceOf, followGreedy, generateGreedy } from '../divergence.ts';
import { mean } from '../averages.ts';
import type { PromptPart } from '../blender.ts';
import { engineStrategy } from '../strategy.ts';
import type { FusionModel } from '../model.ts';

export type CalibrationModel = Pick<FusionModel, 'info' | 'encodeChunk' | 'createSession'>;

export interface MeasureOptions {
  model: CalibrationModel;
  dtype: KvDtype;
  strategies: readonly StrategyChoice[];
  /** Tokens of an answer at most. */
  answerTokens: number;
  /** Runs a step while nobody else uses the model; an interrupted step is run again. */
  step: <T>(work: (options: CallOptions) => Promise<T>) => Promise<T>;
}

/** One prompt with one strategy, along the full prefill's answer to it. */
export interface StrategyMeasurement {
  /** Mean over the answer's tokens. */
  kl: number;
  /** Share of positions with the same most likely token. */
  agreement: number;
  ms: number;
  recomputedShare: number;
}

export interface PromptMeasurement {
  fullMs: number;
  /** In the order of the strategies. */
  blended: StrategyMeasurement[];
}

/** The number of steps for measuring a prompt with this many strategies: its chunks, its full prefill and every strategy. */
export function measureSteps(parts: readonly PromptPart[], strategies: number): number {
  return parts.filter(({ kind }) => kind === 'chunk').length + 1 + strategies;
}

/**
 * Answers one prompt with a full prefill, and follows that answer with every strategy. Its chunks are encoded only for this and never reach
 * the store: the cache's content and budget must not change the measurement. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY.
 */
export async function measurePrompt(
  parts: readonly PromptPart[],
  { model, dtype, strategies, answerTokens, step }: MeasureOptions,
): Promise<PromptMeasurement> {
  const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
  const chunks: ChunkKv[] = [];
  const session = model.createSession(tokens + answerTokens);
  try {
    const segments: Segment[] = [];
    for (const part of parts) segments.push(await segmentOf(part));
    const full = await step(async (options) => {
      const computed = parts.map((part): Segment => ({ kind: 'compute', tokens: part.tokens }));
      session.truncate(0);
      const { totalMs } = await session.append(computed, { kind: 'full' }, options);
      return { ms: totalMs, written: await generateGreedy(session, answerTokens, options) };
    });
    const blended: StrategyMeasurement[] = [];
    for (const choice of strategies) {
      const strategy = engineStrategy(choice, model.info.kvLayers);
      blended.push(await step((options) => blend(segments, strategy, options)));
    }
    return { fullMs: full.ms, blended };

    async function blend(
      segments: Segment[],
      strategy: Strategy,
      options: CallOptions,
    ): Promise<StrategyMeasurement> {
      session.truncate(0);
      const report = await session.append(segments, strategy, options);
      const logits = await followGreedy(session, full.written, options);
      const { kl, agrees } = divergenceOf(full.written.logits, logits);
      const { reusableTokens, recomputedTokens, totalMs } = report;
      return {
        ...{ kl: mean(kl), agreement: mean(agrees.map(Number)), ms: totalMs },
        recomputedShare: reusableTokens > 0 ? recomputedTokens / reusableTokens : 1,
      };
    }
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
