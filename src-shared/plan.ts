import { z } from 'zod';
import { BLENDING_OBSTACLES } from './blending.ts';
import { StrategyChoiceSchema, STRATEGY_REQUESTS } from './strategy.ts';

/** Reasons for the controller's choice. */
const PLAN_REASONS = [
  'asked', // people chose the strategy and its ratio; the controller only predicts
  'not-blended', // the model's passages cannot be blended: whatever is asked for is a full prefill
  'unmeasured', // auto: nothing is known of this machine yet, so the least ratio is taken
  'floor', // auto: the least ratio that keeps the quality; more of it would cost time
  'hidden', // auto: more than the least ratio, since loading takes as long anyway
  'nothing-cached', // no passage is in the cache, so all is computed
  'full-is-faster', // auto: blending would take longer than computing all
  'quality', // auto: calibration found that this model does not stand blending
  'watched', // auto: answers in use changed too much by blending passages of these libraries
] as const;

/** Parts of the time to the first token that depend on the strategy, as in TtftSchema; `total` is their sum. */
export const PredictedTtftSchema = z.object({
  total: z.number(),
  acquire: z.number(),
  load: z.number(),
  place: z.number(),
  check: z.number(),
  /** Including everything else an append does, up to the logits. */
  recompute: z.number(),
});

/** The controller's decision and prediction before the prompt was processed, and the outcome. */
export const PlanSchema = z.object({
  /** The requested strategy: 'auto' leaves the choice to the controller. */
  wish: z.enum(STRATEGY_REQUESTS),
  /** The strategy used, and the share recomputed. */
  strategy: StrategyChoiceSchema,
  reason: z.enum(PLAN_REASONS),
  /** Why the model's passages cannot be blended, if they cannot. */
  obstacle: z.enum(BLENDING_OBSTACLES).optional(),
  /** Whether everything was computed although passages were in the cache. */
  fellBack: z.boolean(),
  /** The slowest tier that passages were loaded from; null if none was. */
  tier: z.enum(['device', 'ram', 'disk', 'shared']).nullable(),
  /** The slowest tier that would add no delay at this ratio; null if unknown. */
  cheapestTier: z.enum(['device', 'ram', 'disk', 'shared']).nullable(),
  /** Cached passages that were computed anyway, because loading them takes longer. */
  computedInstead: z.int(),
  /** Null while there are too few measurements. */
  predictedTtftMs: PredictedTtftSchema.nullable(),
  predictedFullPrefillMs: z.number().nullable(),
  /** The measured sum of the predicted parts. */
  outcomeMs: z.number(),
  /** (predicted − measured) / measured; null without a prediction. */
  errorShare: z.number().nullable(),
});

export type PlanReason = (typeof PLAN_REASONS)[number];
export type PredictedTtft = z.infer<typeof PredictedTtftSchema>;
export type FusionPlan = z.infer<typeof PlanSchema>;
