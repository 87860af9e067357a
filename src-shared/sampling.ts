import { z } from 'zod';

/**
 * Sampling of a model's next tokens; an absent value is automatic: the recommendation of the model's header, else
 * Kvasir's default.
 */
export const SamplingSchema = z.object({
  /** 0: always the most likely token. */
  temperature: z.number().min(0).max(2).optional(),
  /** Samples from this number of most likely tokens; 0: from all. */
  topK: z.int().min(0).max(1000).optional(),
  /** Samples from the most likely tokens with this total probability; 1: from all. */
  topP: z.number().gt(0).max(1).optional(),
  /** Samples from tokens at least this many times as likely as the most likely one; 0: from all. */
  minP: z.number().min(0).max(1).optional(),
  /** Penalty on tokens among the answer's last 64; 1: none. */
  repeatPenalty: z.number().min(1).max(2).optional(),
  /** Equal seeds give equal tokens; absent: a random seed for each answer. */
  seed: z.int().min(0).max(4_294_967_295).optional(),
});

export type ModelSampling = z.infer<typeof SamplingSchema>;

/**
 * The valid sampling values that a header recommends: files come from anywhere. Absent in model lists written before
 * headers included them.
 */
export function recommendedSampling(header: Readonly<Record<string, unknown>> | undefined): ModelSampling {
  const possible = Object.entries(header ?? {}).filter(
    ([key, value]) => SamplingSchema.safeParse({ [key]: value }).success,
  );
  return SamplingSchema.parse(Object.fromEntries(possible));
}
