import { z } from 'zod';
import { procedure } from './define.ts';
import { IdSchema, RangeSchema } from './common.ts';

/** The documents that a question may use; empty lists mean all. */
export const ScopeSchema = z.object({
  libraryIds: z.array(IdSchema).default([]),
  documentIds: z.array(IdSchema).default([]),
});

const RankSchema = z.object({ rank: z.int(), score: z.number() }).nullable();

/** Rank (from 1) and score in each ranking that contains a passage. */
const RanksSchema = z.object({
  /** By words: BM25 and word order. */
  fullText: RankSchema,
  /** By the similarity of vectors. */
  vector: RankSchema,
  /** By the reranker, which reads the best of both: how likely the passage answers the question, 0 to 1. */
  reranked: RankSchema,
});

/** Why a passage was chosen. */
export const FoundBySchema = RanksSchema.extend({
  /** Its words that match those of the question. */
  words: z.array(z.string()),
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
  ...RanksSchema.shape,
});

export const searchContract = {
  /**
   * Passages that match, best first. The text may contain filters (`in:contracts kind:pdf after:2024-01-01 before:2025`,
   * see src-shared/search-filters.ts). A newer search of the same field ends this one. ABORTED.
   */
  'search.query': procedure(
    z.object({
      text: z.string().max(10_000),
      scope: ScopeSchema.prefault({}),
      limit: z.int().min(1).max(256).default(50),
      /** The search field of a window in which it was typed: any text that no other field has. */
      field: z.string().max(64).optional(),
    }),
    z.object({
      hits: z.array(SearchHitSchema),
      usedVectors: z.boolean(),
      usedReranker: z.boolean(),
      /** Documents that the filters leave; null: the text has none. */
      filtered: z.int().nullable(),
      /** Words that no passage contains; passages with similar words were searched. */
      misspelt: z.array(z.string()),
      /** All words are very common: only so many of the newest passages with them were ranked by words; null: all were. */
      newest: z.int().nullable(),
      ms: z.number(),
    }),
  ),
};

export type FoundBy = z.infer<typeof FoundBySchema>;
export type Scope = z.infer<typeof ScopeSchema>;
export type SearchHit = z.infer<typeof SearchHitSchema>;
