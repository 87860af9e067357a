import { z } from 'zod';

/**
 * Sources of the tokens of a prompt. Every count is in tokens of the model. On this machine `promptTokens` = `residentTokens` +
 * `reusedTokens` + `computedTokens`; for a model on a server only `promptTokens` is known, and the others are 0.
 */
export const PromptFiguresSchema = z.object({
  promptTokens: z.int(),
  /** Already in memory: the conversation's earlier turns, and a prefix computed exactly for another prompt. */
  residentTokens: z.int(),
  /** Part of the resident ones: that prefix, in whole blocks. Never contains blended passages. */
  prefixTokens: z.int().prefault(0), // older answers have none
  /** Part of the prefix: read from files since the model was loaded, so computed before a restart. */
  restoredTokens: z.int().prefault(0),
  /** Reused from cached chunks. */
  reusedTokens: z.int(),
  /** Part of the reused ones: recomputed by the strategy. */
  recomputedTokens: z.int(),
  /** Not taken from a cache: instructions, the question, passages that were not cached or were computed although cached. */
  computedTokens: z.int(),
  /** Bytes of cached chunks read from files. */
  bytesLoaded: z.number(),
});

/** Tokens of an answer that were guessed from the prompt and computed before the model chose them, and those that it then chose. */
export const DraftsSchema = z.object({ drafted: z.int(), accepted: z.int() });

export type PromptFigures = z.infer<typeof PromptFiguresSchema>;
