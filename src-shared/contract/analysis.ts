import { z } from 'zod';
import { NoticeSchema } from '../answer.ts';
import { StrategyRequestSchema } from '../strategy.ts';
import { AnswerStatsSchema, CitationSchema } from './chat.ts';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';
import { ScopeSchema } from './search.ts';

/**
 * Work with many prompts: a document analysed window by window, or several questions asked at once. An analysis is a list of
 * steps, each of them one prompt and its answer.
 */

/** How the prompts of an analysis are made; what is absent is the settings' choice. */
const AnswerOptions = z.object({
  strategy: StrategyRequestSchema.optional(),
  maxTokens: z.int().min(1).max(65_536).optional(),
});

export const DocumentAnalysisSchema = AnswerOptions.extend({
  documentId: IdSchema,
  instruction: z.string().trim().min(1).max(20_000),
  /** Chunks in a window at most; absent: as many as the context holds. */
  size: z.int().min(1).max(10_000).optional(),
  /** Chunks that a window repeats of the one before; absent: about a sixth of a window. */
  overlap: z.int().min(0).max(9_999).optional(),
});

export const QuestionBatchSchema = AnswerOptions.extend({
  questions: z.array(z.string().trim().min(1).max(20_000)).min(1).max(500),
  scope: ScopeSchema.prefault({}),
  topK: z.int().min(1).max(256).optional(),
});

/** What an analysis of a document would do. */
const AnalysisPlanSchema = z.object({
  chunks: z.int(),
  tokens: z.int(),
  windows: z.int(),
  /** Chunks of the largest window, and that two windows share at most. */
  size: z.int(),
  overlap: z.int(),
  /** Tokens of all windows' chunks: overlaps count every time. */
  windowTokens: z.int(),
  contextTokens: z.int(),
  /** Chunks whose KV is stored already; the others are computed and stored on the way. */
  storedChunks: z.int(),
  /** false: everything is computed in full, for every window anew. */
  blends: z.boolean(),
});

const StepStateSchema = z.enum(['waiting', 'running', 'done', 'failed']);

/** A passage that a step read, without its text: the document has it. */
export const StepSourceSchema = CitationSchema.omit({
  text: true,
  highlights: true,
  score: true,
  reason: true,
}).extend({
  /** What of the passage supports the answer, else what matches the question; may be empty. */
  quote: z.string(),
  /** Of its KV. */
  bytes: z.number(),
});

/** Chunks that a step computed and stored before its prompt, so that other steps find them. */
export const EncodedSchema = z.object({ chunks: z.int(), tokens: z.int(), ms: z.number() });

const StepSchema = z.object({
  id: IdSchema,
  kind: z.enum(['window', 'combine', 'question']),
  /** window: its chunks, from 0, the second not included. combine: places of the steps that it combines. question: 0. */
  from: z.int(),
  to: z.int(),
  /** The question; '' for others. */
  question: z.string(),
  state: StepStateSchema,
  text: z.string(),
  failure: FailureSchema.nullable(),
  sources: z.array(StepSourceSchema),
  notices: z.array(NoticeSchema),
  encoded: EncodedSchema.nullable(),
  stats: AnswerStatsSchema.nullable(),
});

/** What steps had in common, so far. Bytes are of chunk KV. */
const SharingSchema = z.object({
  /** Places where prompts needed a chunk, and how many chunks that are. */
  uses: z.int(),
  chunks: z.int(),
  /** Uses of a chunk that a step before had used too: still in the session's KV, or at least in memory. */
  residentUses: z.int(),
  memoryUses: z.int(),
  bytesUsed: z.number(),
  /** Bytes that repeated uses did not read from disk and nothing computed again. */
  bytesSaved: z.number(),
});

export const AnalysisStateSchema = z.enum(['waiting', 'running', 'done', 'stopped', 'failed']);

const AnalysisSummarySchema = z.object({
  id: IdSchema,
  kind: z.enum(['document', 'questions']),
  /** The document's title, or the first question. */
  title: z.string(),
  /** What was asked of a document; '' for questions. */
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
  /** Name of the model that it was begun with; '' before. */
  model: z.string(),
  /** Windows or questions in their order, then the combining steps in theirs. */
  steps: z.array(StepSchema),
  sharing: SharingSchema,
  /** Milliseconds of work on the steps that are done. */
  workMs: z.number(),
});

const ById = z.object({ id: IdSchema });

export const analysisContract = {
  /** NOT_FOUND, CONFLICT while the document has no chunks for the model in use, CONTEXT_OVERFLOW, QUESTION_TOO_LONG. */
  'analysis.plan': procedure(DocumentAnalysisSchema, AnalysisPlanSchema),
  /** Begins an analysis, or puts it behind those that are running; its progress comes as 'analysis.*' events. As analysis.plan. */
  'analysis.document': procedure(DocumentAnalysisSchema, ById),
  'analysis.questions': procedure(QuestionBatchSchema, ById),
  /** Newest first. */
  'analysis.list': procedure(NothingSchema, z.array(AnalysisSummarySchema)),
  'analysis.get': procedure(ById, AnalysisSchema),
  /** Steps that are done are kept. */
  'analysis.stop': procedure(ById, NothingSchema),
  /**
   * Takes the steps that are not done; or one step again, and what rests on it; `goOn`: from where its answer was cut off. CONFLICT when the
   * document or the model is another now.
   */
  'analysis.resume': procedure(
    z.object({ id: IdSchema, stepId: IdSchema.optional(), goOn: z.boolean().default(false) }),
    NothingSchema,
  ),
  /** For good. Stops it first. */
  'analysis.delete': procedure(ById, NothingSchema),
  /** CSV is for questions. */
  'analysis.export': procedure(
    z.object({ id: IdSchema, format: z.enum(['markdown', 'json', 'csv']) }),
    z.object({ fileName: z.string(), mediaType: z.string(), content: z.string() }),
  ),
};

export type DocumentAnalysis = z.output<typeof DocumentAnalysisSchema>;
export type QuestionBatch = z.output<typeof QuestionBatchSchema>;
export type AnalysisPlan = z.infer<typeof AnalysisPlanSchema>;
export type StepSource = z.infer<typeof StepSourceSchema>;
export type Encoded = z.infer<typeof EncodedSchema>;
export type Step = z.infer<typeof StepSchema>;
export type Sharing = z.infer<typeof SharingSchema>;
export type AnalysisSummary = z.infer<typeof AnalysisSummarySchema>;
export type Analysis = z.infer<typeof AnalysisSchema>;
