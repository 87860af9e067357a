import { z } from 'zod';
import { ERROR_CODES } from '../errors.ts';

export const IdSchema = z.string().min(1).max(64);
export const NothingSchema = z.object({}).default({});

/** A failure as sent between core and window, and as stored with a document or a job. */
export const FailureSchema = z.object({
  code: z.enum(ERROR_CODES),
  /** One sentence: what happened and why. */
  message: z.string(),
  /** One sentence: what to do about it; may be empty. */
  advice: z.string(),
  /** Placeholder values of the message, for translation. Most failures have none. */
  values: z.record(z.string(), z.string()).optional(),
});

/** A page of a long list. */
export const WindowSchema = z.object({
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(1000).default(200),
});

/** UTF-16 range in a text. */
export const RangeSchema = z.object({ start: z.int().min(0), end: z.int().min(0) });

/** Location of a chunk's KV. */
export const CacheStateSchema = z.enum(['device', 'ram', 'disk', 'none']);

export type Failure = z.infer<typeof FailureSchema>;
export type Range = z.infer<typeof RangeSchema>;
