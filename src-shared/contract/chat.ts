import { z } from 'zod';
import { procedure } from './define.ts';
import { ContextEstimateSchema, DocumentShareSchema } from './context.ts';
import { FailureSchema, IdSchema, NothingSchema, RangeSchema } from './common.ts';
import { FoundBySchema, ScopeSchema } from './search.ts';
import { DraftsSchema, PromptFiguresSchema } from '../figures.ts';
import { NoticeSchema, StopSchema } from '../answer.ts';
import { ComparisonSchema } from '../comparison.ts';
import { FusionReportSchema } from '../fusion-report.ts';
import { StrategyChoiceSchema, StrategyRequestSchema } from '../strategy.ts';
import { CallDecisionSchema, ToolCallSchema } from './tool-calls.ts';
import { TtftSchema } from '../ttft.ts';

export const ConversationOptionsSchema = z.object({
  scope: ScopeSchema.prefault({}),
  /** Absent: from the settings. */
  strategy: StrategyRequestSchema.optional(),
  topK: z.int().min(1).max(256).optional(),
  maxTokens: z.int().min(1).max(65_536).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Makes sampling reproducible. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  strict: z.boolean().optional(),
  think: z.boolean().optional(),
  /** Whose tools its answers may call: 'kvasir' for its own, and names of MCP servers as 'mcp:NAME'. Absent: none. */
  tools: z.array(z.string().max(200)).max(64).optional(),
});

/** A passage in an answer's prompt. */
export const CitationSchema = z.object({
  /** null once the document is deleted; the passage's text is kept with the answer. */
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
  /** Absent: it was not searched for, as with whole documents; or the answer is of an older version. */
  foundBy: FoundBySchema.optional(),
  /**
   * Source of its KV; 'resident' if an earlier turn had already placed it, 'partial' if only the runs that also occur
   * in stored chunks were cached, as from an earlier version of the text.
   */
  tier: z.enum(['resident', 'device', 'ram', 'disk', 'shared', 'partial', 'computed']),
  tokens: z.int(),
});

/** A sentence of an answer, tied to the sentences of its passages that carry what it says. */
export const CitedSentenceSchema = z.object({
  /** UTF-16 range in the answer, with its punctuation. */
  start: z.int(),
  end: z.int(),
  /** Each is a range in the text of the answer's citation with this index. None: no passage says it, it is the model's own. */
  sources: z.array(z.object({ citation: z.int(), start: z.int(), end: z.int() })),
});

export const AnswerStatsSchema = z.object({
  ttftMs: TtftSchema,
  /**
   * Time of a full prefill of the same prompt, up to the logits: estimated from measurements on this machine, or
   * measured. null: unknown. Compare it with ttftMs only by besideFullPrefill: it excludes search, waiting and
   * sampling.
   */
  fullPrefillMs: z.number().nullable(),
  fullPrefillMeasured: z.boolean(),
  tokensPerSecond: z.number(),
  answerTokens: z.int(),
  drafts: DraftsSchema.optional(),
  /** Why it ended: end of sequence, length limit, end of the context, or stopped. Absent in older answers. */
  stop: StopSchema.optional(),
  /**
   * Ranges where the answer gives a name, number or date found neither in a passage nor in the conversation. Absent:
   * not checked.
   */
  unsupported: z.array(RangeSchema).optional(),
  /** Its sentences that rest on passages or are the model's own, ascending. Absent in older answers. */
  sentences: z.array(CitedSentenceSchema).optional(),
  /** How much of each document its passages are. Absent in older answers. */
  documents: z.array(DocumentShareSchema).optional(),
  ...PromptFiguresSchema.shape,
  /** Number of passages by tier. */
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
  /** For a remote model: the server's token counts; null if it sent none. Absent: the model is local. */
  server: z
    .object({
      promptTokens: z.int().nullable(),
      /** Of these, tokens from the server's cache. */
      cachedTokens: z.int().nullable(),
      answerTokens: z.int().nullable(),
    })
    .optional(),
});

/** The model's thoughts before its answer. They are not part of the answer and have no citations. */
export const ThinkingSchema = z.object({
  text: z.string(),
  /** From the first thought to the first word of the answer, in milliseconds. */
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
  /** Of tools, in the order of the answer. */
  calls: z.array(ToolCallSchema),
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
  pinned: z.boolean(),
  /** null: none. */
  projectId: IdSchema.nullable(),
  /** Every message of every branch, parents before children. */
  messages: z.array(MessageSchema),
  /** The last message of the visible branch. null: empty. */
  leafId: IdSchema.nullable(),
  /** Tokens of this conversation whose KV is in memory, so that the next turn need not compute them. */
  residentTokens: z.int(),
});

const ConversationSummarySchema = z.object({
  id: IdSchema,
  title: z.string(),
  updatedMs: z.number(),
  /** The match of a search, else the beginning of the last message. */
  snippet: z.string(),
  /** Of a search; null without one. */
  match: z
    .object({
      /** The message of the snippet; null: only the title matches. */
      messageId: IdSchema.nullable(),
      /** Ranges of the searched words in title and snippet. */
      title: z.array(RangeSchema),
      snippet: z.array(RangeSchema),
    })
    .nullable(),
  messages: z.int(),
  /** Whether a model thought in it. */
  thoughts: z.boolean(),
  pinned: z.boolean(),
  projectId: IdSchema.nullable(),
  busy: z.boolean(),
});

/** A question that was typed and not sent. */
const DraftSchema = z.object({
  /** null: of the new conversation. */
  conversationId: IdSchema.nullable(),
  text: z.string().max(100_000),
});

export const CompareRequestSchema = z.object({
  answerId: IdSchema,
  /** Compared in addition to full prefill, prefix caching, full reuse and the answer's own strategy. */
  strategies: z.array(StrategyChoiceSchema).max(8).default([]),
  /**
   * Also compares KV and attention with the full prefill's, layer by layer, and over ratios: takes several times as
   * long.
   */
  deep: z.boolean().default(false),
  /** Maximum tokens of each text. */
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
  /** Without options: those of the project. NOT_FOUND. */
  'chat.create': procedure(
    z.object({
      options: ConversationOptionsSchema.optional(),
      projectId: IdSchema.nullable().default(null),
    }),
    ConversationSchema,
  ),
  'chat.get': procedure(ById, ConversationSchema),
  'chat.rename': procedure(
    z.object({ id: IdSchema, title: z.string().trim().min(1).max(200) }),
    NothingSchema,
  ),
  'chat.setOptions': procedure(z.object({ id: IdSchema, options: ConversationOptionsSchema }), NothingSchema),
  'chat.setPinned': procedure(z.object({ id: IdSchema, pinned: z.boolean() }), NothingSchema),
  /** Into a project, or out of any. Its options stay. NOT_FOUND. */
  'chat.move': procedure(z.object({ id: IdSchema, projectId: IdSchema.nullable() }), NothingSchema),
  'chat.drafts': procedure(NothingSchema, z.array(DraftSchema)),
  /** Stores a draft, so that it outlives window and core; '' removes it. */
  'chat.setDraft': procedure(DraftSchema, NothingSchema),
  /** Can be undone with chat.restore for an hour. */
  'chat.delete': procedure(ById, NothingSchema),
  'chat.restore': procedure(ById, ConversationSchema),
  /**
   * Asks a question. Resolves once the question and an empty answer are stored; the answer is then sent as 'chat.*'
   * events.
   */
  'chat.send': procedure(z.object({ conversationId: IdSchema, text: Question }), Sent),
  /**
   * Sends the question being typed, so that likely passages are already in memory when it is asked. Resolves
   * immediately; each call cancels the previous one. A new conversation has no id yet, but options.
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
   * What a question would read in this conversation, and when its answer would begin; without a text, what any question reads of chosen
   * documents. null: no model is loaded, or that depends on the question. Each call cancels the previous one (ABORTED).
   */
  'chat.estimate': procedure(
    z.object({
      conversationId: IdSchema.nullable(),
      /** Of a conversation that does not exist yet. */
      projectId: IdSchema.nullable().optional(),
      options: ConversationOptionsSchema.prefault({}),
      text: z.string().max(100_000),
    }),
    ContextEstimateSchema.nullable(),
  ),
  /**
   * Asks again: the new answer is a sibling of the old one. `mayGuess`: also if no passage matches. `variety`: samples
   * less likely tokens, for an answer that repeated itself.
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
   * Continues an answer that was cut off or stopped, in place. CONFLICT if it cannot be continued; on failure the
   * existing text is kept.
   */
  'chat.continue': procedure(z.object({ conversationId: IdSchema, answerId: IdSchema }), Sent),
  /** Changes a question: the new one is a sibling of the old one, with a new answer. */
  'chat.edit': procedure(z.object({ conversationId: IdSchema, questionId: IdSchema, text: Question }), Sent),
  /** Shows another branch. */
  'chat.selectLeaf': procedure(z.object({ id: IdSchema, leafId: IdSchema }), NothingSchema),
  /** Decides about a call that is 'asking'. NOT_FOUND. */
  'chat.decideCall': procedure(
    z.object({ answerId: IdSchema, callId: z.string(), decision: CallDecisionSchema }),
    NothingSchema,
  ),
  /** Whether the model in use can call tools; null: there is none, or its server knows. */
  'chat.takesTools': procedure(NothingSchema, z.boolean().nullable()),
  /** The text generated so far is kept. */
  'chat.stop': procedure(ById, NothingSchema),
  'chat.export': procedure(
    z.object({
      id: IdSchema,
      format: z.enum(['markdown', 'json']),
      /** Whether to include the models' thoughts. */
      thinking: z.boolean().default(false),
    }),
    z.object({ fileName: z.string(), mediaType: z.string(), content: z.string() }),
  ),
  /** The engine's report on an answer's prompt; null if it was not stored. */
  'chat.report': procedure(z.object({ answerId: IdSchema }), FusionReportSchema.nullable()),
  /**
   * Prefills an answer's prompt in full, to replace the estimate with a measurement. Can take long; chat.stop cancels
   * it.
   */
  'chat.measureFullPrefill': procedure(z.object({ answerId: IdSchema }), AnswerStatsSchema),
  /**
   * Processes an answer's prompt again by full prefill, prefix caching, full reuse and blending, and stores the results
   * with the answer. Other questions take turns with it. Progress is sent as 'compare.progress'. CONFLICT while another
   * comparison is running, and if the prompt can no longer be reproduced; ABORTED by chat.stopCompare.
   */
  'chat.compare': procedure(CompareRequestSchema, ComparisonSchema),
  /** Cancels the running comparison and drops its results. */
  'chat.stopCompare': procedure(NothingSchema, NothingSchema),
  /** The answer's latest comparison, and whether one is running for it; 'chat.changed' announces a new one. */
  'chat.comparison': procedure(z.object({ answerId: IdSchema }), ComparisonStatusSchema),
  /** Suggested first questions: those of the sample library, if it is in scope. */
  'chat.suggestions': procedure(NothingSchema, z.array(z.string())),
};

export type ConversationOptions = z.infer<typeof ConversationOptionsSchema>;
export type Citation = z.infer<typeof CitationSchema>;
export type CitedSentence = z.infer<typeof CitedSentenceSchema>;
export type Thinking = z.infer<typeof ThinkingSchema>;
export type AnswerStats = z.infer<typeof AnswerStatsSchema>;
export type CompareRequest = z.output<typeof CompareRequestSchema>;
export type ComparisonStatus = z.infer<typeof ComparisonStatusSchema>;
export type Message = z.infer<typeof MessageSchema>;

/** Whether an answer was cut off or stopped early, so that it can be continued. */
export function mayContinue({
  text,
  thinking,
  stats,
  calls = [],
}: Pick<Message, 'text' | 'thinking' | 'stats'> & Partial<Pick<Message, 'calls'>>): boolean {
  // Results of tools are not kept for later prompts.
  if (calls.length > 0) return false;
  return (text !== '' || thinking !== null) && (stats?.stop === 'length' || stats?.stop === 'aborted');
}

export type Conversation = z.infer<typeof ConversationSchema>;
export type Draft = z.infer<typeof DraftSchema>;
export type ConversationSummary = z.infer<typeof ConversationSummarySchema>;
