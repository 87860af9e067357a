import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { KvDtype } from '../../../src-shared/kv-dtype.ts';
import type { CallOptions, ChunkKv, Segment, Strategy } from '../../engine/engine.ts';
import { divergenceOf, followGreedy, generateGreedy, type GreedyAnswer } from '../divergence.ts';
import { mean } from '../averages.ts';
import type { PromptPart } from '../blender.ts';
import { engineStrategy } from '../strategy.ts';
import type { FusionModel } from '../model.ts';

export type CalibrationModel = Pick<FusionModel, 'info' | 'encodeChunk' | 'createSession'>;

export interface MeasureOptions {
  model: CalibrationModel;
  /** Number format of the chunks that strategies blend. */
  dtype: KvDtype;
  /** Formats whose loss is measured. */
  formats: readonly KvDtype[];
  strategies: readonly StrategyChoice[];
  /** Tokens of an answer at most. */
  answerTokens: number;
  /** Runs a step while nobody else uses the model; an interrupted step is run again. */
  step: <T>(work: (options: CallOptions) => Promise<T>) => Promise<T>;
}

/** One prompt along an answer that was written otherwise. */
export interface Loss {
  /** Mean over the answer's tokens. */
  kl: number;
  /** Share of positions with the same most likely token. */
  agreement: number;
}

/** One prompt with one strategy, along the full prefill's answer to it. */
export interface StrategyMeasurement extends Loss {
  ms: number;
  recomputedShare: number;
}

export interface PromptMeasurement {
  fullMs: number;
  /** In the order of the strategies. */
  blended: StrategyMeasurement[];
  /** In the order of the formats. */
  formats: Loss[];
}

/**
 * The number of steps for measuring a prompt: its chunks, its full prefill and every strategy; if formats are measured, its chunks in f16 and
 * every format.
 */
export function measureSteps(parts: readonly PromptPart[], strategies: number, formats: number): number {
  const chunks = parts.filter(({ kind }) => kind === 'chunk').length;
  return chunks + 1 + strategies + (formats > 0 ? 1 + formats : 0);
}

/**
 * Answers one prompt with a full prefill, and follows that answer with every strategy. Then reuses all chunks in f16, and follows that answer
 * with the chunks in every format: what differs is the format's loss alone. The chunks are encoded only for this and never reach the store:
 * the cache's content and budget must not change the measurement. ABORTED, CONTEXT_OVERFLOW, OUT_OF_MEMORY.
 */
export async function measurePrompt(
  parts: readonly PromptPart[],
  { model, dtype, formats, strategies, answerTokens, step }: MeasureOptions,
): Promise<PromptMeasurement> {
  const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
  const chunks: ChunkKv[] = [];
  const session = model.createSession(tokens + answerTokens);
  try {
    const exact: Segment[] = [];
    for (const part of parts) exact.push(await segmentOf(part));
    const segments = await inFormat(exact, dtype);
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
    return { fullMs: full.ms, blended, formats: await losses(exact) };

    async function blend(
      blendedSegments: Segment[],
      strategy: Strategy,
      options: CallOptions,
    ): Promise<StrategyMeasurement> {
      session.truncate(0);
      const report = await session.append(blendedSegments, strategy, options);
      const { reusableTokens, recomputedTokens, totalMs } = report;
      return {
        ...(await lossOf(full.written, options)),
        ms: totalMs,
        recomputedShare: reusableTokens > 0 ? recomputedTokens / reusableTokens : 1,
      };
    }

    async function losses(inF16: Segment[]): Promise<Loss[]> {
      const reuse = async (given: Segment[], options: CallOptions): Promise<void> => {
        session.truncate(0);
        await session.append(given, { kind: 'none' }, options);
      };
      const measured: Loss[] = [];
      if (formats.length === 0) return measured;
      const written = await step(async (options) => {
        await reuse(inF16, options);
        return generateGreedy(session, answerTokens, options);
      });
      for (const format of formats) {
        const converted = await inFormat(inF16, format);
        measured.push(
          await step(async (options) => {
            await reuse(converted, options);
            return lossOf(written, options);
          }),
        );
      }
      return measured;
    }

    /** What the session says after its prompt, along an answer. */
    async function lossOf(written: GreedyAnswer, options: CallOptions): Promise<Loss> {
      const { kl, agrees } = divergenceOf(written.logits, await followGreedy(session, written, options));
      return { kl: mean(kl), agreement: mean(agrees.map(Number)) };
    }
  } finally {
    session.dispose();
    for (const chunk of chunks) chunk.dispose();
  }

  async function segmentOf({ kind, tokens: ids, lead }: PromptPart): Promise<Segment> {
    if (kind === 'text') return { kind: 'compute', tokens: ids };
    const chunk = await step((options) => model.encodeChunk(ids, 'f16', { ...options, lead }));
    chunks.push(chunk);
    return { kind: 'chunk', chunk };
  }

  /** Converted chunks have the bytes of encoded ones. */
  async function inFormat(exact: readonly Segment[], format: KvDtype): Promise<Segment[]> {
    const segments: Segment[] = [];
    for (const segment of exact) {
      const chunk =
        segment.kind === 'chunk' && format !== 'f16' ? await segment.chunk.converted(format) : undefined;
      if (chunk) chunks.push(chunk);
      segments.push(chunk ? { kind: 'chunk', chunk } : segment);
    }
    return segments;
  }
}
