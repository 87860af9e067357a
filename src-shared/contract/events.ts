import { z } from 'zod';
import { FailureSchema, IdSchema } from './common.ts';
import { AnswerStatsSchema, CitationSchema, CitedSentenceSchema, ThinkingSchema } from './chat.ts';
import { PackOffersSchema } from './devices.ts';
import { FoundModelsSchema } from './found-models.ts';
import { PrecomputePlanSchema, QueueStatusSchema } from './libraries.ts';
import { DownloadSchema } from './models.ts';
import { ToolCallSchema } from './tool-calls.ts';
import { NoticeSchema } from '../answer.ts';
import { LibraryProgressSchema } from '../library.ts';
import { SettingsSchema } from '../settings.ts';

const OfStep = z.object({ id: IdSchema, stepId: IdSchema });
const OfAnswer = z.object({ conversationId: IdSchema, answerId: IdSchema });

/** Events that the core sends to every window. After a "changed" event the window should request the data again. */
export const events = {
  /** Titles, messages, branches or options; without an id, the list. */
  'chat.changed': z.object({ conversationId: IdSchema.optional() }),
  /** Prompt processing: rows × layers done, in total, and time left; total 0 during retrieval. */
  'chat.progress': OfAnswer.extend({
    done: z.number(),
    total: z.number(),
    secondsLeft: z.number().nullable(),
  }),
  'chat.citations': OfAnswer.extend({ citations: z.array(CitationSchema) }),
  'chat.notice': OfAnswer.extend({ notice: NoticeSchema }),
  /** More of an answer's text; `offset` is the UTF-16 length of the text before it, to detect duplicates. */
  'chat.text': OfAnswer.extend({ offset: z.int(), text: z.string() }),
  /** A sentence has ended; its text came before. */
  'chat.sentence': OfAnswer.extend({ sentence: CitedSentenceSchema }),
  /** A call of a tool, each time when it changes. */
  'chat.call': OfAnswer.extend({ call: ToolCallSchema }),
  /** More of the model's thoughts, like 'chat.text'; time and tokens so far. */
  'chat.thinking': OfAnswer.extend({ offset: z.int(), ...ThinkingSchema.shape }),
  /** The answer is complete, stopped or failed: request the conversation again for the rest. */
  'chat.done': OfAnswer.extend({
    state: z.enum(['done', 'stopped', 'failed']),
    failure: FailureSchema.nullable(),
    stats: AnswerStatsSchema.nullable(),
    hasReport: z.boolean(),
  }),
  /** Prompts processed for a comparison, and in total; the current one counts in part. */
  'compare.progress': z.object({ answerId: IdSchema, done: z.number(), total: z.int() }),
  /** At most five a second. */
  'queue.status': QueueStatusSchema,
  /** Libraries, documents or chunks; without an id, the list of libraries. At most twice a second per library. */
  'library.changed': z.object({ libraryId: IdSchema.optional() }),
  /** Of 'libraries.read'. */
  'library.progress': LibraryProgressSchema,
  /** Of 'libraries.read', before KV is computed. */
  'library.plan': PrecomputePlanSchema,
  'models.changed': z.object({}),
  /** Loading or reading a model file; 0 to 1. */
  'models.progress': z.object({ id: IdSchema, fraction: z.number() }),
  'models.download': DownloadSchema,
  /** Interim results of a search for models on this machine, at most four times a second; at its end, all results. */
  'models.found': FoundModelsSchema,
  /**
   * The hub, its token, or a setting that affects the assessment of models has changed: earlier results are invalid.
   */
  'hub.changed': z.object({}),
  /** Device information, or the device that 'auto' selects. */
  'devices.changed': z.object({}),
  /** Available packs and their download progress; at most five a second. */
  'devices.offers': PackOffersSchema,
  'cache.changed': z.object({}),
  'cache.progress': z.object({ done: z.int(), total: z.int() }),
  /** State or statistics of the shared cache. At most once a second. */
  'sharing.changed': z.object({}),
  'settings.changed': SettingsSchema,
  /** MCP servers: their list, a state, or tools. */
  'tools.changed': z.object({}),
  /** Prompts × strategies measured, and in total. */
  'calibration.progress': z.object({ done: z.int(), total: z.int() }),
  'calibration.changed': z.object({}),
  /** An answer was compared with its full prefill, or conclusions from such comparisons changed. */
  'watching.changed': z.object({}),
  /** State or steps of an analysis; without an id, the list. */
  'analysis.changed': z.object({ id: IdSchema.optional() }),
  /** Progress of a step's prompt (rows × layers) and of the analysis. */
  'analysis.progress': OfStep.extend({
    done: z.number(),
    total: z.number(),
    /** For the whole analysis; null until it can be estimated. */
    secondsLeft: z.number().nullable(),
  }),
  /**
   * More of a step's answer. `offset` is the UTF-16 length of the text before it; 0 again if a question interrupted the
   * step and it restarts.
   */
  'analysis.text': OfStep.extend({ offset: z.int(), text: z.string() }),
  /** Bytes processed by the running backup, and in total. */
  'backups.progress': z.object({ done: z.number(), total: z.number() }),
  /** A backup was created or has failed: none is running now. */
  'backups.changed': z.object({}),
  /** Bytes written by the running export, and about how many it will have. */
  'exports.progress': z.object({ done: z.number(), total: z.number() }),
  /** An export is complete or has failed: none is running now. */
  'exports.changed': z.object({}),
  /** A failure or success that belongs to no call. */
  'app.notice': z.object({ level: z.enum(['info', 'warning', 'error']), failure: FailureSchema }),
  /** The system asks the window to open files (with Kvasir) or to show a route (menu). */
  'app.open': z.object({ paths: z.array(z.string()), route: z.string() }),
  /** From the MCP server of 'command.mcp', to its client only. */
  'command.message': z.object({ message: z.unknown() }),
};

export type EventTopic = keyof typeof events;
export type EventPayload<T extends EventTopic> = z.infer<(typeof events)[T]>;
export type KvasirEvent = { [T in EventTopic]: { topic: T; payload: EventPayload<T> } }[EventTopic];
