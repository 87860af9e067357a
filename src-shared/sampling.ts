import { z } from 'zod';

/** How a model's next tokens are chosen; what is absent is automatic: what the model's header recommends, else Kvasir's default. */
export const SamplingSchema = z.object({
  /** 0: the likeliest token every time. */
  temperature: z.number().min(0).max(2).optional(),
  /** From among so many likeliest tokens; 0: from all. */
  topK: z.int().min(0).max(1000).optional(),
  /** From among the likeliest tokens that make up this probability together; 1: from all. */
  topP: z.number().gt(0).max(1).optional(),
  /** From among tokens at least this many times as likely as the likeliest; 0: from all. */
  minP: z.number().min(0).max(1).optional(),
  /** By how much tokens of the answer's last 64 become less likely; 1: not at all. */
  repeatPenalty: z.number().min(1).max(2).optional(),
  /** Equal seeds choose equal tokens; absent: another one for each answer. */
  seed: z.int().min(0).max(4_294_967_295).optional(),
});

export type ModelSampling = z.infer<typeof SamplingSchema>;

/** What a header recommends, as far as it is possible: files come from anywhere. A list of models made before headers were asked has none. */
export function recommendedSampling(header: Readonly<Record<string, unknown>> | undefined): ModelSampling {
  const possible = Object.entries(header ?? {}).filter(
    ([key, value]) => SamplingSchema.safeParse({ [key]: value }).success,
  );
  return SamplingSchema.parse(Object.fromEntries(possible));
}
