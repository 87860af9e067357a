import { z } from 'zod';

/**
 * Time from the question to the first token, in milliseconds. `total` is measured; the other values are its parts and
 * add up to it.
 */
export const TtftSchema = z.object({
  total: z.number(),
  /** Waiting for the model: other answers, and background work that has to stop. */
  wait: z.number().prefault(0), // older answers count it as `other`
  retrieve: z.number(),
  assemble: z.number(),
  /** Deciding how to blend, looking up chunks in the store and opening them. */
  acquire: z.number(),
  /** Waiting for data that computation could not hide. */
  load: z.number(),
  /** Rotating stored keys to their positions. */
  place: z.number(),
  /** Layers up to the last check, and selecting tokens. */
  check: z.number(),
  /** The other layers and the rest of prompt processing, up to the logits. */
  recompute: z.number(),
  /** Sampling, once the prompt's logits are available. */
  firstToken: z.number(),
  /** Only for remote models: from the request to its first token, including the network. */
  server: z.number().prefault(0), // older answers have none
  /** Session memory, and handing over to the model's thread and back. */
  other: z.number(),
});

export type Ttft = z.infer<typeof TtftSchema>;

/** Processing of the laid-out prompt, which a full prefill replaces. */
const OWN = ['acquire', 'load', 'place', 'check', 'recompute'] as const satisfies readonly (keyof Ttft)[];

/** Smaller differences are imperceptible. */
const SAME_WITHIN = 0.05;

/** A first token compared with that of a full prefill of the same prompt. */
export interface TtftComparison {
  /** Milliseconds common to both: waiting, search, prompt, memory, sampling. */
  sharedMs: number;
  /** From the question to the first token with a full prefill. */
  fullTtftMs: number;
  /** Speed-up of the first token, as a factor. */
  times: number;
  verdict: 'sooner' | 'same' | 'later';
}

/**
 * Compares like with like (decision 0150): both sides include the time that a full prefill would have needed as well,
 * and only its computation, `fullPrefillMs` up to the logits, replaces look-up and blending. null while that is
 * unknown.
 */
export function compareTtft({
  ttftMs,
  fullPrefillMs,
}: {
  ttftMs: Ttft;
  fullPrefillMs: number | null;
}): TtftComparison | null {
  if (fullPrefillMs === null || fullPrefillMs <= 0 || ttftMs.total <= 0) return null;
  const sharedMs = Math.max(0, ttftMs.total - OWN.reduce((sum, part) => sum + ttftMs[part], 0));
  const fullTtftMs = sharedMs + fullPrefillMs;
  const times = fullTtftMs / ttftMs.total;
  const verdict = Math.abs(times - 1) < SAME_WITHIN ? 'same' : times > 1 ? 'sooner' : 'later';
  return { sharedMs, fullTtftMs, times, verdict };
}

/** Whether an answer's prompt was itself computed in full, by any strategy: then there is nothing to compare. */
export function wasFullPrefill({
  reusedTokens,
  residentTokens,
}: Record<'reusedTokens' | 'residentTokens', number>): boolean {
  return reusedTokens === 0 && residentTokens === 0;
}
