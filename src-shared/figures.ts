import { z } from 'zod';

/**
 * Where the tokens of a prompt came from. Every count is in tokens of the model:
 * `promptTokens` = `residentTokens` + `reusedTokens` + `computedTokens`.
 */
export const PromptFiguresSchema = z.object({
  promptTokens: z.int(),
  /** In memory before: the conversation's earlier turns, and text at the beginning that was computed exactly for another prompt. */
  residentTokens: z.int(),
  /** Of the resident ones: that text at the beginning, in whole blocks. Blended passages are never part of it. */
  prefixTokens: z.int().prefault(0), // older answers have none
  /** Of the prefix: read from files since the model was loaded, so computed before a restart. */
  restoredTokens: z.int().prefault(0),
  /** Taken from cached chunks. */
  reusedTokens: z.int(),
  /** Of the reused ones: computed again by the strategy. */
  recomputedTokens: z.int(),
  /** Computed because no cache had them: instructions, the question, passages without a cache. */
  computedTokens: z.int(),
  /** Bytes of cached chunks read from files. */
  bytesLoaded: z.number(),
});

export type PromptFigures = z.infer<typeof PromptFiguresSchema>;
