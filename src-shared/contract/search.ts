import { z } from 'zod';
import { procedure } from './define.ts';
import { IdSchema, RangeSchema } from './common.ts';

/** The documents that a question may use; empty lists mean all. */
export const ScopeSchema = z.object({
  libraryIds: z.array(IdSchema).default([]),
  documentIds: z.array(IdSchema).default([]),
});

const SearchHitSchema = z.object({
  chunkId: IdSchema,
  documentId: IdSchema,
  libraryId: IdSchema,
  path: z.string(),
  title: z.string(),
  ordinal: z.int(),
  page: z.string().nullable(),
  /** UTF-16 range in the document's text. */
  start: z.int(),
  end: z.int(),
  text: z.string(),
  tokens: z.int(),
  /** Ranges in `text` that match words of the question. */
  highlights: z.array(RangeSchema),
  /** Fused score; comparable within one search. */
  score: z.number(),
  /** Why it was chosen, as a code that the window translates. */
  reason: z.enum([
    'match',
    'before-match',
    'after-match',
    'leads-up',
    'named-in-match',
    'match-and-neighbour',
  ]),
  /** Rank (from 1) and score in each ranking that contains it. */
  fullText: z.object({ rank: z.int(), score: z.number() }).nullable(),
  vector: z.object({ rank: z.int(), score: z.number() }).nullable(),
});

export const searchContract = {
  /** Passages that match, best first. */
  'search.query': procedure(
    z.object({
      text: z.string().max(10_000),
      scope: ScopeSchema.prefault({}),
      limit: z.int().min(1).max(256).default(50),
    }),
    z.object({ hits: z.array(SearchHitSchema), usedVectors: z.boolean(), ms: z.number() }),
  ),
};

export type Scope = z.infer<typeof ScopeSchema>;
export type SearchHit = z.infer<typeof SearchHitSchema>;
