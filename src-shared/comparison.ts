import { z } from 'zod';
import { KvDtypeSchema } from './kv-dtype.ts';
import { DeviationStatsSchema } from './fusion-report.ts';
import { PromptFiguresSchema } from './figures.ts';
import { StrategyChoiceSchema } from './strategy.ts';
import { TtftSchema } from './ttft.ts';

/**
 * One answer's prompt processed in several ways, side by side, for the fusion panel. Positions count tokens from the
 * start of the conversation. In a later turn the earlier turns are already in memory for every method but 'full', as
 * they were for the answer.
 *
 * Deviations are those of CacheBlend (EuroSys '25, §4), relative to a full prefill.
 */

/**
 * A matrix too large for JSON numbers: rows × columns float32, little-endian, row by row, as base64. See
 * `matrixValues`.
 */
const MatrixSchema = z.object({
  rows: z.int().min(0),
  columns: z.int().min(0),
  values: z.base64(),
});

/** A candidate for the answer's first token. */
const CandidateSchema = z.object({ text: z.string(), probability: z.number() });

/**
 * Statistics over the prompt's cached tokens: those that this method computed beyond its last check layer, and those
 * left as stored.
 */
const SplitStatsSchema = z.object({
  recomputed: DeviationStatsSchema.nullable(),
  stored: DeviationStatsSchema.nullable(),
});

/** Deviation of one method's KV and attention from the full prefill's. */
const DeepViewSchema = z.object({
  /**
   * [layers][promptTokens]: squared L2 over KV heads of the value (and of the key, rotated to its position) against the
   * full prefill's.
   */
  v: MatrixSchema,
  k: MatrixSchema,
  layers: z.array(
    z.object({
      v: SplitStatsSchema,
      k: SplitStatsSchema,
      /**
       * Attention deviation (figure 6): L2 between a question token's attention weights over all keys and the same
       * weights in the full prefill; root mean square over heads and the question's last tokens. 0 to √2.
       */
      attention: z.number(),
    }),
  ),
  /** Spearman's rank correlation of the cached tokens' V deviation in layer i and layer i + 1 (figure 8): layers − 1 of them. */
  rankCorrelation: z.array(z.number()),
  /**
   * [layers][21]: share of the V deviation held by the 0, 5, 10, … 100 % most deviating cached tokens (figure 7). All 0
   * in a layer without deviation.
   */
  concentration: z.array(z.array(z.number())),
});

/** The prompt processed by one method. */
const FIGURES = PromptFiguresSchema.pick({
  residentTokens: true,
  reusedTokens: true,
  recomputedTokens: true,
  bytesLoaded: true,
});

const ComparedMethodSchema = z.object({
  /**
   * full: everything computed. prefix: everything before this turn's first passage is in memory, exact; the rest
   * computed. reuse: every cached chunk unchanged (strategy 'none'). blend: cached chunks with some tokens recomputed.
   */
  kind: z.enum(['full', 'prefix', 'reuse', 'blend']),
  /** 'full' for full and prefix, 'none' for reuse. */
  strategy: StrategyChoiceSchema,
  /** Whether this method produced the answer. */
  answered: z.boolean(),
  /** The model's thoughts before the answer; '' if none. */
  thought: z.string().default(''),
  /** The beginning of the answer, greedy, and whether it ended within the token limit, which thoughts count towards. */
  text: z.string(),
  complete: z.boolean(),
  /**
   * From the laid-out prompt to the first token; retrieve and assemble are 0. In a deep comparison it includes
   * examining attention.
   */
  ttftMs: TtftSchema,
  /** The tokens that were not resident were appended within ttftMs. */
  ...FIGURES.shape,
  /** KL(full ‖ this) of the first token's distribution, in nats; 0 for full. */
  kl: z.number(),
  /** Whether the most likely first token equals the full prefill's. */
  agrees: z.boolean(),
  /** F1 of the words, including thoughts, against the full prefill's. */
  answerF1: z.number(),
  /** The most likely first tokens, in order. */
  candidates: z.array(CandidateSchema),
  /** null for full and prefix, which are exact, and in comparisons that are not deep. */
  deep: DeepViewSchema.nullable(),
});

/** Attention deviation and KL against the recompute ratio (figure 6). */
const SweepPointSchema = z.object({
  ratio: z.number(),
  recomputedTokens: z.int(),
  kl: z.number(),
  agrees: z.boolean(),
  /** By layer: as DeepSchema's attention. */
  attention: z.array(z.number()),
  /** By layer: mean squared L2 of the cached tokens' V. */
  v: z.array(z.number()),
});

/** Prompt-wide results of a deep comparison. */
const DeepPromptSchema = z.object({
  /** The prompt from position 0. `cached`: part of a cached chunk, so it counts in the statistics. */
  parts: z.array(
    z.object({
      kind: z.enum(['text', 'chunk']),
      start: z.int(),
      tokens: z.int(),
      title: z.string().nullable(),
      cached: z.boolean(),
    }),
  ),
  /**
   * Text of every token of the prompt, from position 0. A character that spans several tokens is assigned to the last
   * one.
   */
  tokens: z.array(z.string()),
  /** The first compared strategy that takes a ratio, preferably the answer's own; else 'deviation'. Ratios ascend. */
  sweep: z.object({ strategy: StrategyChoiceSchema.shape.name, points: z.array(SweepPointSchema) }),
});

export const ComparisonSchema = z.object({
  version: z.literal(1),
  answerId: z.string(),
  question: z.string(),
  model: z.string(),
  /** Devices of the model's layers. */
  device: z.string(),
  layerCount: z.int(),
  dtype: KvDtypeSchema,
  promptTokens: z.int(),
  /** Maximum length of each text in tokens. */
  answerTokens: z.int(),
  /** Time of the comparison: milliseconds since 1970. */
  madeMs: z.number(),
  /** full, prefix, reuse, the answer's own strategy, then the requested ones; without repetitions. */
  methods: z.array(ComparedMethodSchema),
  deep: DeepPromptSchema.nullable(),
});

export const SWEEP_RATIOS = [0, 0.05, 0.15, 0.3, 0.5] as const;

/** Throws a TypeError unless there are rows × columns values. */
export function matrixOf(rows: number, columns: number, values: Float32Array): Matrix {
  if (values.length !== rows * columns) throw new TypeError('values must hold rows × columns numbers');
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { rows, columns, values: z.core.util.uint8ArrayToBase64(bytes) };
}

/** [rows][columns] in one array; row r begins at r × columns. */
export function matrixValues({ rows, columns, values }: Matrix): Float32Array {
  return new Float32Array(z.core.util.base64ToUint8Array(values).slice().buffer, 0, rows * columns);
}

export type Matrix = z.infer<typeof MatrixSchema>;
export type SplitStats = z.infer<typeof SplitStatsSchema>;
export type DeepView = z.infer<typeof DeepViewSchema>;
export type DeepPrompt = z.infer<typeof DeepPromptSchema>;
export type SweepPoint = z.infer<typeof SweepPointSchema>;
export type ComparedMethod = z.infer<typeof ComparedMethodSchema>;
export type Comparison = z.infer<typeof ComparisonSchema>;
