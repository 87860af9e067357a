import { z } from 'zod';
import { NoticeSchema } from '../answer.ts';
import { StrategyRequestSchema } from '../strategy.ts';
import { AnswerStatsSchema, CitationSchema } from './chat.ts';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';
import { ScopeSchema } from './search.ts';

/**
 * Work with many prompts: a document analysed window by window, or several questions asked together. An analysis is a
 * list of steps, each with one prompt and its answer.
 */

/** Options for an analysis's prompts; absent values come from the settings. */
const AnswerOptions = z.object({
  strategy: StrategyRequestSchema.optional(),
  maxTokens: z.int().min(1).max(65_536).optional(),
});

const DocumentAnalysisSchema = AnswerOptions.extend({
  documentId: IdSchema,
  instruction: z.string().trim().min(1).max(20_000),
  /** Maximum chunks per window; absent: as many as fit the context. */
  size: z.int().min(1).max(10_000).optional(),
  /** Chunks that a window repeats from the previous one; absent: about a sixth of a window. */
  overlap: z.int().min(0).max(9_999).optional(),
});

const QuestionBatchSchema = AnswerOptions.extend({
  questions: z.array(z.string().trim().min(1).max(20_000)).min(1).max(500),
  scope: ScopeSchema.prefault({}),
  topK: z.int().min(1).max(256).optional(),
});

const AnalysisPlanSchema = z.object({
  chunks: z.int(),
  tokens: z.int(),
  windows: z.int(),
  /** Maximum chunks of a window, and of the overlap of two. */
  size: z.int(),
  overlap: z.int(),
  contextTokens: z.int(),
  /** Chunks whose KV is already stored; the others are computed and stored during the analysis. */
  storedChunks: z.int(),
  /** false: every window is computed in full. */
  blends: z.boolean(),
});

const StepStateSchema = z.enum(['waiting', 'running', 'done', 'failed']);

/** A passage that a step read, without its text, which is in the document. */
export const StepSourceSchema = CitationSchema.omit({
  text: true,
  highlights: true,
  score: true,
  reason: true,
}).extend({
  /** The part of the passage that supports the answer, or else matches the question; may be empty. */
  quote: z.string(),
  /** Of its KV. */
  bytes: z.number(),
});

/** Chunks that a step computed and stored before its prompt, for use by other steps. */
export const EncodedChunksSchema = z.object({ chunks: z.int(), tokens: z.int(), ms: z.number() });

const StepSchema = z.object({
  id: IdSchema,
  kind: z.enum(['window', 'combine', 'question']),
  /**
   * window: first chunk, from 0, and end (exclusive). combine: positions of the steps that it combines. question: 0.
   */
  from: z.int(),
  to: z.int(),
  /** The question; '' for other kinds. */
  question: z.string(),
  state: StepStateSchema,
  text: z.string(),
  failure: FailureSchema.nullable(),
  sources: z.array(StepSourceSchema),
  notices: z.array(NoticeSchema),
  encoded: EncodedChunksSchema.nullable(),
  stats: AnswerStatsSchema.nullable(),
});

/** Reuse between steps so far. Bytes are of chunk KV. */
const SharingSchema = z.object({
  /** Number of times prompts needed a chunk, and number of distinct chunks. */
  uses: z.int(),
  chunks: z.int(),
  /** Uses of a chunk that an earlier step had used too: still in the session's KV, or at least in memory. */
  residentUses: z.int(),
  memoryUses: z.int(),
  bytesUsed: z.number(),
  /** Bytes that repeated uses neither read from disk nor recomputed. */
  bytesSaved: z.number(),
});

const AnalysisStateSchema = z.enum(['waiting', 'running', 'done', 'stopped', 'failed']);

const AnalysisSummarySchema = z.object({
  id: IdSchema,
  kind: z.enum(['document', 'questions']),
  /** The document's title, or the first question. */
  title: z.string(),
  /** The instruction for a document; '' for questions. */
  instruction: z.string(),
  state: AnalysisStateSchema,
  failure: FailureSchema.nullable(),
  createdMs: z.number(),
  steps: z.int(),
  stepsDone: z.int(),
  stepsFailed: z.int(),
});

export const AnalysisSchema = AnalysisSummarySchema.omit({ steps: true }).extend({
  request: z.union([
    DocumentAnalysisSchema.extend({ path: z.string(), libraryId: IdSchema }),
    QuestionBatchSchema,
  ]),
  /** Name of the model it was started with; '' before. */
  model: z.string(),
  /** Windows or questions in order, then the combining steps. */
  steps: z.array(StepSchema),
  sharing: SharingSchema,
  /** Milliseconds of work on finished steps. */
  workMs: z.number(),
});

const ById = z.object({ id: IdSchema });

export const analysisContract = {
  /** NOT_FOUND, CONFLICT if the document has no chunks for the current model, CONTEXT_OVERFLOW, QUESTION_TOO_LONG. */
  'analysis.plan': procedure(DocumentAnalysisSchema, AnalysisPlanSchema),
  /** Starts an analysis, or queues it; progress is sent as 'analysis.*' events. Error codes as analysis.plan. */
  'analysis.document': procedure(DocumentAnalysisSchema, ById),
  'analysis.questions': procedure(QuestionBatchSchema, ById),
  /** Newest first. */
  'analysis.list': procedure(NothingSchema, z.array(AnalysisSummarySchema)),
  'analysis.get': procedure(ById, AnalysisSchema),
  /** Finished steps are kept. */
  'analysis.stop': procedure(ById, NothingSchema),
  /**
   * Runs the unfinished steps; or one step again and the steps that depend on it; `goOn`: continues its answer where it
   * was cut off. CONFLICT if the document or the model has changed.
   */
  'analysis.resume': procedure(
    z.object({ id: IdSchema, stepId: IdSchema.optional(), goOn: z.boolean().default(false) }),
    NothingSchema,
  ),
  /** Permanently. Stops it first. */
  'analysis.delete': procedure(ById, NothingSchema),
  /** CSV is only for questions. */
  'analysis.export': procedure(
    z.object({ id: IdSchema, format: z.enum(['markdown', 'json', 'csv']) }),
    z.object({ fileName: z.string(), mediaType: z.string(), content: z.string() }),
  ),
};

export type DocumentAnalysis = z.output<typeof DocumentAnalysisSchema>;
export type QuestionBatch = z.output<typeof QuestionBatchSchema>;
export type AnalysisPlan = z.infer<typeof AnalysisPlanSchema>;
export type StepSource = z.infer<typeof StepSourceSchema>;
export type EncodedChunks = z.infer<typeof EncodedChunksSchema>;
export type Step = z.infer<typeof StepSchema>;
export type Sharing = z.infer<typeof SharingSchema>;
export type AnalysisSummary = z.infer<typeof AnalysisSummarySchema>;
export type Analysis = z.infer<typeof AnalysisSchema>;
