import { z } from 'zod';
import { IdSchema, NothingSchema } from './common.ts';
import { QualityFloorSchema } from './calibration.ts';
import { procedure } from './define.ts';

/** In the place of a library's id: text that other programs sent. */
export const CLIENT_TEXT = 'clients';

/** A blended answer beside its full prefill; both were made anew, greedily. */
const WatchedAnswerSchema = z.object({
  /** When they were compared: milliseconds since 1970. */
  measuredMs: z.number(),
  /** KL(full prefill ‖ blended) of a token's distribution, in nats: mean over the blended answer. */
  kl: z.number(),
  /** Share of the blended answer's tokens that the full prefill would have chosen in their places. */
  agreement: z.number(),
  /** Share of the cached tokens that was recomputed. */
  ratio: z.number(),
});

/** A mean, and the interval it lies in with a confidence of 90 %. */
const IntervalSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });

/** The answers that one model gave from one library, or from text that other programs sent. */
const WatchedLibrarySchema = z.object({
  modelId: IdSchema,
  libraryId: IdSchema,
  /** The latest, oldest first. */
  answers: z.array(WatchedAnswerSchema),
  /** How many of these, from the end, count: the others are older than the last change of what is recomputed. */
  counted: z.int().min(0),
  /** Of those that count; null with fewer than two. */
  kl: IntervalSchema.nullable(),
  agreement: IntervalSchema.nullable(),
  /** Share of the cached tokens that is recomputed at least, by what was seen. 0: no limit. 1: everything, so that nothing is blended. */
  leastRatio: z.number().min(0).max(1),
});

const WatchingStatusSchema = z.object({
  libraries: z.array(WatchedLibrarySchema),
  floor: QualityFloorSchema,
  /** Answers without which nothing is concluded. */
  fewest: z.int(),
  /** Answers that are compared a day at most. */
  daily: z.int(),
});

export const watchingContract = {
  'watching.get': procedure(NothingSchema, WatchingStatusSchema),
  /** Blends again as before with this model and library; what was seen until now no longer counts. */
  'watching.reset': procedure(z.object({ modelId: IdSchema, libraryId: IdSchema }), NothingSchema),
};

export type WatchedAnswer = z.infer<typeof WatchedAnswerSchema>;
export type WatchedLibrary = z.infer<typeof WatchedLibrarySchema>;
export type WatchingStatus = z.infer<typeof WatchingStatusSchema>;
export type Interval = z.infer<typeof IntervalSchema>;
