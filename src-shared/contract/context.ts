import { z } from 'zod';
import { IdSchema } from './common.ts';

/**
 * How it was chosen what a question reads: by a search, all documents in scope, or the outlines and openings of documents.
 */
const ContextKindSchema = z.enum(['passages', 'everything', 'openings']);

/** How much of a document a prompt contains, in tokens; the document as chunked for the model. */
export const DocumentShareSchema = z.object({
  documentId: IdSchema,
  path: z.string(),
  readTokens: z.int(),
  tokens: z.int(),
});

/** What a question would read, and when its answer would begin. */
export const ContextEstimateSchema = z.object({
  kind: ContextKindSchema,
  documents: z.array(DocumentShareSchema),
  /** Of the whole prompt; estimated for a model on a server. */
  promptTokens: z.int(),
  /** Of these, tokens whose KV is in memory or stored. null: a server does not say. */
  cachedTokens: z.int().nullable(),
  /** Predicted time to the first token, in milliseconds; null: nothing was measured yet, or a server answers. */
  ttftMs: z.number().nullable(),
});

export type ContextKind = z.infer<typeof ContextKindSchema>;
export type DocumentShare = z.infer<typeof DocumentShareSchema>;
export type ContextEstimate = z.infer<typeof ContextEstimateSchema>;
