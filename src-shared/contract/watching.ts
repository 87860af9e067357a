import { z } from 'zod';
import { IdSchema, NothingSchema } from './common.ts';
import { QualityFloorSchema } from './calibration.ts';
import { procedure } from './define.ts';

/** Used instead of a library's id for text from other programs. */
export const CLIENT_TEXT = 'clients';

/** A blended answer compared with its full prefill; both were generated again, greedily. */
const WatchedAnswerSchema = z.object({
  /** Time of the comparison: milliseconds since 1970. */
  measuredMs: z.number(),
  /** KL(full prefill ‖ blended) of a token's distribution, in nats: mean over the blended answer. */
  kl: z.number(),
  /** Share of the blended answer's tokens that the full prefill would have chosen at the same positions. */
  agreement: z.number(),
  /** Share of the cached tokens that was recomputed. */
  ratio: z.number(),
});

/** A mean and its 90 % confidence interval. */
const IntervalSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });

/** The answers of one model from one library, or from text of other programs. */
const WatchedLibrarySchema = z.object({
  modelId: IdSchema,
  libraryId: IdSchema,
  /** The latest answers, oldest first. */
  answers: z.array(WatchedAnswerSchema),
  /** Number of trailing answers that count: earlier ones precede the last change of the recompute ratio. */
  counted: z.int().min(0),
  /** Over those that count; null with fewer than two. */
  kl: IntervalSchema.nullable(),
  agreement: IntervalSchema.nullable(),
  /**
   * Minimum share of the cached tokens to recompute, from these observations. 0: no limit. 1: everything, so nothing is
   * blended.
   */
  leastRatio: z.number().min(0).max(1),
});

const WatchingStatusSchema = z.object({
  libraries: z.array(WatchedLibrarySchema),
  floor: QualityFloorSchema,
  /** Minimum number of answers for a conclusion. */
  fewest: z.int(),
  /** Maximum number of comparisons a day. */
  daily: z.int(),
});

export const watchingContract = {
  'watching.get': procedure(NothingSchema, WatchingStatusSchema),
  /** Resumes blending as before with this model and library; earlier observations no longer count. */
  'watching.reset': procedure(z.object({ modelId: IdSchema, libraryId: IdSchema }), NothingSchema),
};

export type WatchedAnswer = z.infer<typeof WatchedAnswerSchema>;
export type WatchedLibrary = z.infer<typeof WatchedLibrarySchema>;
export type WatchingStatus = z.infer<typeof WatchingStatusSchema>;
export type Interval = z.infer<typeof IntervalSchema>;
