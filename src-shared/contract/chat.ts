import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, IdSchema, NothingSchema, RangeSchema } from './common.ts';
import { ScopeSchema } from './search.ts';
import { PromptFiguresSchema } from '../figures.ts';
import { NoticeSchema, StopSchema } from '../answer.ts';
import { ComparisonSchema } from '../comparison.ts';
import { FusionReportSchema } from '../fusion-report.ts';
import { StrategyChoiceSchema, StrategyRequestSchema } from '../strategy.ts';
import { TtftSchema } from '../ttft.ts';

/** What an answer of this conversation draws on, and how it is made. */
export const ConversationOptionsSchema = z.object({
  scope: ScopeSchema.prefault({}),
  /** Absent: the settings' choice. */
  strategy: StrategyRequestSchema.optional(),
  topK: z.int().min(1).max(256).optional(),
  maxTokens: z.int().min(1).max(65_536).optional(),
  temperature: z.number().min(0).max(2).optional(),
  strict: z.boolean().optional(),
  think: z.boolean().optional(),
});

/** A passage that stood in an answer's prompt. */
export const CitationSchema = z.object({
  /** null once the document is gone; the passage's text is kept with the answer. */
  documentId: IdSchema.nullable(),
  libraryId: IdSchema.nullable(),
  path: z.string(),
  title: z.string(),
  page: z.string().nullable(),
  ordinal: z.int(),
  /** UTF-16 range of the passage in its document. */
  start: z.int(),
  end: z.int(),
  text: z.string(),
  /** Ranges in `text` that support the answer, or that match the question. */
  highlights: z.array(RangeSchema),
  score: z.number(),
  reason: z.string(),
  /**
   * Where its KV came from; 'resident' when an earlier turn had placed it already, 'partial' when only the runs of it were cached that also
   * stand in stored chunks, as of the same text before it was edited.
   */
  tier: z.enum(['resident', 'device', 'ram', 'disk', 'shared', 'partial', 'computed']),
  tokens: z.int(),
});

/** The numbers under an answer. */
export const AnswerStatsSchema = z.object({
  ttftMs: TtftSchema,
  /**
   * The same prompt by full prefill, up to the logits: an estimate from what was measured on this machine, or a measurement. null: unknown yet.
   * Compared with ttftMs by besideFullPrefill alone: it has no search in it, no waiting and no sampling.
   */
  fullPrefillMs: z.number().nullable(),
  fullPrefillMeasured: z.boolean(),
  tokensPerSecond: z.number(),
  answerTokens: z.int(),
  /** Why it ended: of itself, at the limit for answers, at the end of the context, or stopped. Older answers do not say. */
  stop: StopSchema.optional(),
  /** Where the answer names, counts or dates something that stands in no passage, nor in the conversation. Absent: not looked for. */
  unsupported: z.array(RangeSchema).optional(),
  ...PromptFiguresSchema.shape,
  /** Passages by their citation's tier. */
  chunkHits: z.object({
    resident: z.int(),
    device: z.int().prefault(0), // older answers have none
    ram: z.int(),
    disk: z.int(),
    shared: z.int().prefault(0), // nor these
    partial: z.int().prefault(0), // nor these
    computed: z.int(),
  }),
  strategy: StrategyChoiceSchema,
  model: z.string(),
  /** Of a model on a server: what it counted, in its tokens; null where it did not say. Absent: the model is here. */
  server: z
    .object({
      promptTokens: z.int().nullable(),
      /** Of these, those it had computed before. */
      cachedTokens: z.int().nullable(),
      answerTokens: z.int().nullable(),
    })
    .optional(),
});

/** What a model thought before it answered. It is no part of the answer, and nothing is cited for it. */
export const ThinkingSchema = z.object({
  text: z.string(),
  /** From its first word to the answer's, in milliseconds. */
  ms: z.number(),
  tokens: z.int(),
});

const MessageSchema = z.object({
  id: IdSchema,
  /** null for a conversation's first message. Siblings are branches. */
  parentId: IdSchema.nullable(),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  /** null: none. */
  thinking: ThinkingSchema.nullable(),
  createdMs: z.number(),
  state: z.enum(['waiting', 'prefilling', 'streaming', 'done', 'stopped', 'failed']),
  failure: FailureSchema.nullable(),
  citations: z.array(CitationSchema),
  notices: z.array(NoticeSchema),
  stats: AnswerStatsSchema.nullable(),
  /** Whether chat.report has a fusion report for it. */
  hasReport: z.boolean(),
});

export const ConversationSchema = z.object({
  id: IdSchema,
  title: z.string(),
  createdMs: z.number(),
  updatedMs: z.number(),
  options: ConversationOptionsSchema,
  /** Every message of every branch, parents before children. */
  messages: z.array(MessageSchema),
  /** The last message of the branch that is shown. null: empty. */
  leafId: IdSchema.nullable(),
  /** Tokens of this conversation whose KV is in memory now, so that the next turn need not compute them. */
  residentTokens: z.int(),
});

const ConversationSummarySchema = z.object({
  id: IdSchema,
  title: z.string(),
  updatedMs: z.number(),
  /** Where a search matched, else the last message's beginning. */
  snippet: z.string(),
  messages: z.int(),
  /** Whether a model thought in it. */
  thoughts: z.boolean(),
  busy: z.boolean(),
});

export const CompareRequestSchema = z.object({
  answerId: IdSchema,
  /** Compared besides full prefill, prefix caching, full reuse and the answer's own strategy. */
  strategies: z.array(StrategyChoiceSchema).max(8).default([]),
  /** Also how far KV and attention are from the full prefill's, layer by layer, and over ratios: takes several times as long. */
  deep: z.boolean().default(false),
  /** Tokens of each text at most. */
  answerTokens: z.int().min(1).max(512).default(48),
});

const ComparisonStatusSchema = z.object({
  comparison: ComparisonSchema.nullable(),
  running: z.boolean(),
});

const ById = z.object({ id: IdSchema });
const Sent = z.object({ conversationId: IdSchema, questionId: IdSchema, answerId: IdSchema });
const Question = z.string().trim().min(1).max(100_000);

export const chatContract = {
  'chat.list': procedure(
    z.object({ search: z.string().max(500).default('') }).prefault({}),
    z.array(ConversationSummarySchema),
  ),
  'chat.create': procedure(z.object({ options: ConversationOptionsSchema.prefault({}) }), ConversationSchema),
  'chat.get': procedure(ById, ConversationSchema),
  'chat.rename': procedure(
    z.object({ id: IdSchema, title: z.string().trim().min(1).max(200) }),
    NothingSchema,
  ),
  'chat.setOptions': procedure(z.object({ id: IdSchema, options: ConversationOptionsSchema }), NothingSchema),
  /** Can be undone with chat.restore for 30 days. */
  'chat.delete': procedure(ById, NothingSchema),
  'chat.restore': procedure(ById, ConversationSchema),
  /** Asks. Resolves once question and (empty) answer are kept; the answer then comes as 'chat.*' events. */
  'chat.send': procedure(
    z.object({
      conversationId: IdSchema,
      text: Question,
      /** The message to go on from; absent: the shown branch's last. null: a new first message. */
      parentId: IdSchema.nullable().optional(),
    }),
    Sent,
  ),
  /**
   * Tells what is being typed, so that what it would find is in memory when it is asked. Resolves at once; each call ends
   * what the one before began. A conversation that is not made yet has no id, but options.
   */
  'chat.draft': procedure(
    z.object({
      conversationId: IdSchema.nullable(),
      options: ConversationOptionsSchema.prefault({}),
      text: z.string().max(100_000),
    }),
    NothingSchema,
  ),
  /**
   * Asks again: the new answer is a sibling of the old one. `mayGuess`: also where no passage matches. `variety`: by less likely
   * tokens, of an answer that repeated itself.
   */
  'chat.regenerate': procedure(
    z.object({
      conversationId: IdSchema,
      answerId: IdSchema,
      mayGuess: z.boolean().default(false),
      variety: z.boolean().default(false),
    }),
    Sent,
  ),
  /**
   * Goes on with an answer that was cut off or stopped, in its place. CONFLICT when nothing more can follow; one that fails keeps
   * what was there.
   */
  'chat.continue': procedure(z.object({ conversationId: IdSchema, answerId: IdSchema }), Sent),
  /** Changes a question: the new one is a sibling of the old one, with an answer of its own. */
  'chat.edit': procedure(z.object({ conversationId: IdSchema, questionId: IdSchema, text: Question }), Sent),
  /** Shows another branch. */
  'chat.selectLeaf': procedure(z.object({ id: IdSchema, leafId: IdSchema }), NothingSchema),
  /** What has been written so far is kept. */
  'chat.stop': procedure(ById, NothingSchema),
  'chat.export': procedure(
    z.object({
      id: IdSchema,
      format: z.enum(['markdown', 'json']),
      /** Whether what models thought is in it. */
      thinking: z.boolean().default(false),
    }),
    z.object({ fileName: z.string(), mediaType: z.string(), content: z.string() }),
  ),
  /** What the engine reported of making an answer's prompt; null when it was not kept. */
  'chat.report': procedure(z.object({ answerId: IdSchema }), FusionReportSchema.nullable()),
  /** Prefills an answer's prompt in full, to replace the estimate by a measurement. Can take long; chat.stop ends it. */
  'chat.measureFullPrefill': procedure(z.object({ answerId: IdSchema }), AnswerStatsSchema),
  /**
   * Makes an answer's prompt again by full prefill, prefix caching, full reuse and blending, and keeps what came of it with
   * the answer. Other questions take turns with it. Progress comes as 'compare.progress'. CONFLICT while another comparison
   * is running, and when the prompt can no longer be made as it was; ABORTED by chat.stopCompare.
   */
  'chat.compare': procedure(CompareRequestSchema, ComparisonSchema),
  /** Ends the comparison that is running; what it has so far is dropped. */
  'chat.stopCompare': procedure(NothingSchema, NothingSchema),
  /** The answer's latest comparison, and whether one is running for it now; 'chat.changed' tells when a new one is there. */
  'chat.comparison': procedure(z.object({ answerId: IdSchema }), ComparisonStatusSchema),
  /** Questions to begin with: the sample library's, where it is in scope. */
  'chat.suggestions': procedure(NothingSchema, z.array(z.string())),
};

export type ConversationOptions = z.infer<typeof ConversationOptionsSchema>;
export type Citation = z.infer<typeof CitationSchema>;
export type Thinking = z.infer<typeof ThinkingSchema>;
export type AnswerStats = z.infer<typeof AnswerStatsSchema>;
export type CompareRequest = z.output<typeof CompareRequestSchema>;
export type ComparisonStatus = z.infer<typeof ComparisonStatusSchema>;
export type Message = z.infer<typeof MessageSchema>;

/** Whether an answer was cut off or stopped before its end, so that more of it can follow. */
export function mayContinue({
  text,
  thinking,
  stats,
}: Pick<Message, 'text' | 'thinking' | 'stats'>): boolean {
  return (text !== '' || thinking !== null) && (stats?.stop === 'length' || stats?.stop === 'aborted');
}

export type Conversation = z.infer<typeof ConversationSchema>;
export type ConversationSummary = z.infer<typeof ConversationSummarySchema>;
