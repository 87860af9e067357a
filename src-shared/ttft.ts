import { z } from 'zod';

/** From the question to the first token, in milliseconds. `total` is measured, the others are its parts and sum up to it. */
export const TtftSchema = z.object({
  total: z.number(),
  /** For the model's turn: other answers, and background work that has to stop. */
  wait: z.number().prefault(0), // older answers count it as `other`
  retrieve: z.number(),
  assemble: z.number(),
  /** Deciding how to blend, looking up chunks in the store and opening them. */
  acquire: z.number(),
  /** Waiting for bytes that computing could not hide. */
  load: z.number(),
  /** Turning stored keys to their true positions. */
  place: z.number(),
  /** Layers up to the last check, and selecting tokens. */
  check: z.number(),
  /** The other layers, with what processing a prompt does besides, up to the logits. */
  recompute: z.number(),
  /** Sampling, after the prompt's logits are there. */
  firstToken: z.number(),
  /** Of a model on a server, and of no other: from the request to its first token, with the way there and back. */
  server: z.number().prefault(0), // older answers have none
  /** Memory for the session, handing over to the model's thread and back. */
  other: z.number(),
});

export type Ttft = z.infer<typeof TtftSchema>;

/** What becomes of the prompt once it is laid out: a full prefill computes all of it instead. */
const OWN = ['acquire', 'load', 'place', 'check', 'recompute'] as const satisfies readonly (keyof Ttft)[];

/** Closer than this, nobody can tell which was sooner. */
const SAME_WITHIN = 0.05;

/** A first token beside that of a full prefill of the same prompt. */
export interface BesideFullPrefill {
  /** Milliseconds that both need: waiting, search, prompt, memory, sampling. */
  sharedMs: number;
  /** From the question to the first token with a full prefill. */
  fullTtftMs: number;
  /** How many times sooner the first token came. */
  times: number;
  verdict: 'sooner' | 'same' | 'later';
}

/**
 * Compares like with like (decision 0150): what a full prefill would have spent as well stands on both sides, and only its
 * computing, `fullPrefillMs` up to the logits, takes the place of look-up and blending. null while that is unknown.
 */
export function besideFullPrefill({
  ttftMs,
  fullPrefillMs,
}: {
  ttftMs: Ttft;
  fullPrefillMs: number | null;
}): BesideFullPrefill | null {
  if (fullPrefillMs === null || fullPrefillMs <= 0 || ttftMs.total <= 0) return null;
  const sharedMs = Math.max(0, ttftMs.total - OWN.reduce((sum, part) => sum + ttftMs[part], 0));
  const fullTtftMs = sharedMs + fullPrefillMs;
  const times = fullTtftMs / ttftMs.total;
  const verdict = Math.abs(times - 1) < SAME_WITHIN ? 'same' : times > 1 ? 'sooner' : 'later';
  return { sharedMs, fullTtftMs, times, verdict };
}

/** Whether an answer's prompt was computed in full itself, by whatever strategy: then there is nothing to set beside it. */
export function wasFullPrefill({
  reusedTokens,
  residentTokens,
}: Record<'reusedTokens' | 'residentTokens', number>): boolean {
  return reusedTokens === 0 && residentTokens === 0;
}
