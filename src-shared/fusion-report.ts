import { z } from 'zod';
import { KvDtypeSchema } from './kv-dtype.ts';
import { PlanSchema } from './plan.ts';
import { StrategyChoiceSchema } from './strategy.ts';
import { DraftsSchema, PromptFiguresSchema } from './figures.ts';
import { TtftSchema } from './ttft.ts';

/**
 * How one answer's prompt was processed, for the fusion panel. Positions count tokens from the start of the
 * conversation; times are in milliseconds, those of layers since the call to the engine.
 */

/** A run of the prompt. */
const PromptPartSchema = z.object({
  /** resident: in the conversation's KV since an earlier turn; text: computed; chunk: a document's passage. */
  kind: z.enum(['resident', 'text', 'chunk']),
  start: z.int(),
  tokens: z.int(),
  chunk: z
    .object({
      document: z.string(),
      documentId: z.string().nullable(),
      title: z.string(),
      ordinal: z.int(),
      /** device: in the memory of the model's device. */
      tier: z.enum(['device', 'ram', 'disk', 'shared', 'computed']),
      /** From disk: id of the cache folder, '' for the one in the data folder. Absent in older reports. */
      folder: z.string().optional(),
      /** Prefetched into memory for this question. */
      prefetched: z.boolean().optional(),
      /**
       * Reused part of a cached passage: full: all of it, partial: the runs that also occur in stored chunks, as from
       * an earlier version of the text. Absent if it was computed, and in older reports.
       */
      match: z.enum(['full', 'partial']).optional(),
      reusedTokens: z.int().optional(),
      /** Their positions, if it was matched in part. */
      runs: z.array(z.object({ start: z.int(), tokens: z.int() })).optional(),
      bytes: z.number(),
      /** Tokens computed: the recomputed ones among the reused, and all others. */
      recomputed: z.int(),
    })
    .nullable(),
});

/** One selection of tokens to recompute. */
const CheckSchema = z.object({
  layer: z.int(),
  ratio: z.number(),
  /** Positions examined, ascending. */
  positions: z.array(z.int()),
  /** For each: squared L2 of fresh − stored V, K or both (per strategy), summed over KV heads. */
  deviation: z.array(z.number()),
  /** Positions kept for recomputation, ascending (HKVD tokens). */
  selected: z.array(z.int()),
  /** Share of the total deviation held by the selected tokens, 0 to 1. */
  massCovered: z.number(),
});

export const DeviationStatsSchema = z.object({ tokens: z.int(), mean: z.number(), p95: z.number() });

const LayerSchema = z.object({
  layer: z.int(),
  rows: z.int(),
  loadStart: z.number(),
  loadEnd: z.number(),
  loadBytes: z.number(),
  placeMs: z.number(),
  computeStart: z.number(),
  computeEnd: z.number(),
  /** Deviation (as in the checks) of tokens recomputed in this layer and beyond. */
  recomputed: DeviationStatsSchema.nullable(),
  /** The same for tokens left as stored; only where both are known, i.e. up to the last check layer. */
  stored: DeviationStatsSchema.nullable(),
});

export const FusionReportSchema = z.object({
  version: z.literal(1),
  answerId: z.string(),
  question: z.string(),
  model: z.string(),
  layerCount: z.int(),
  strategy: StrategyChoiceSchema,
  dtype: KvDtypeSchema,
  ttftMs: TtftSchema,
  fullPrefillMs: z.number().nullable(),
  fullPrefillMeasured: z.boolean(),
  ...PromptFiguresSchema.shape,
  computedTokens: z.int().optional(), // older reports have none
  /** Bytes copied to a device with separate memory, from files or from memory. Absent in older reports. */
  bytesCrossed: z.number().optional(),
  /** Milliseconds of the engine's stages. Absent in older reports. */
  stages: z.record(z.string(), z.number()).optional(),
  parts: z.array(PromptPartSchema),
  /**
   * Text of every token of this turn's part of the prompt, from position `tokensStart`. A character that spans several
   * tokens is assigned to the last one.
   */
  tokensStart: z.int(),
  tokens: z.array(z.string()),
  checks: z.array(CheckSchema),
  /**
   * Positions of recomputed cached tokens, ascending, for every strategy, also one without checks. Absent in older
   * reports.
   */
  selected: z.array(z.int()).optional(),
  /** The question's attention, for strategies that use it; for each position the mean over heads and layers. */
  attention: z
    .object({ layers: z.array(z.int()), positions: z.array(z.int()), weights: z.array(z.number()) })
    .optional(),
  /** Spearman's rank correlation of token deviations between check i and check i + 1. */
  rankCorrelation: z.array(z.number()),
  layers: z.array(LayerSchema),
  /** Absent in older reports. */
  plan: PlanSchema.optional(),
  /** Absent where there were none. */
  drafts: DraftsSchema.optional(),
});

export { type FusionPlan } from './plan.ts';
export type PromptPart = z.infer<typeof PromptPartSchema>;
export type FusionCheck = z.infer<typeof CheckSchema>;
export type DeviationStats = z.infer<typeof DeviationStatsSchema>;
export type FusionLayer = z.infer<typeof LayerSchema>;
export type FusionReport = z.infer<typeof FusionReportSchema>;
