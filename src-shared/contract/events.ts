import { z } from 'zod';
import { AnalysisStateSchema } from './analysis.ts';
import { FailureSchema, IdSchema } from './common.ts';
import { AnswerStatsSchema, CitationSchema, ThinkingSchema } from './chat.ts';
import { PackOffersSchema } from './devices.ts';
import { FoundModelsSchema } from './found-models.ts';
import { QueueStatusSchema } from './libraries.ts';
import { DownloadSchema } from './models.ts';
import { NoticeSchema } from '../answer.ts';
import { SettingsSchema } from '../settings.ts';

const OfStep = z.object({ id: IdSchema, stepId: IdSchema });
const OfAnswer = z.object({ conversationId: IdSchema, answerId: IdSchema });

/** What the core tells every window by itself. "changed" events say that something should be asked for again. */
export const events = {
  /** Titles, messages, branches or options; without an id, the list. */
  'chat.changed': z.object({ conversationId: IdSchema.optional() }),
  /** Prompt processing: rows × layers done, in all, and time left; 0 in all while passages are looked for. */
  'chat.progress': OfAnswer.extend({
    done: z.number(),
    total: z.number(),
    secondsLeft: z.number().nullable(),
  }),
  'chat.citations': OfAnswer.extend({ citations: z.array(CitationSchema) }),
  'chat.notice': OfAnswer.extend({ notice: NoticeSchema }),
  /** More of an answer's text; `offset` is the UTF-16 length of what came before, so that none is taken twice. */
  'chat.text': OfAnswer.extend({ offset: z.int(), text: z.string() }),
  /** More of what the model thinks before it answers, as 'chat.text'; time and tokens so far. */
  'chat.thinking': OfAnswer.extend({ offset: z.int(), ...ThinkingSchema.shape }),
  /** The answer is complete, stopped or failed: ask for the conversation again for the rest. */
  'chat.done': OfAnswer.extend({
    state: z.enum(['done', 'stopped', 'failed']),
    failure: FailureSchema.nullable(),
    stats: AnswerStatsSchema.nullable(),
  }),
  /** Prompts made for a comparison, and in all; the one in work counts in part. */
  'compare.progress': z.object({ answerId: IdSchema, done: z.number(), total: z.int() }),
  /** At most five a second. */
  'queue.status': QueueStatusSchema,
  /** Libraries, documents or chunks; without an id, the list of libraries. At most twice a second for each library. */
  'library.changed': z.object({ libraryId: IdSchema.optional() }),
  'models.changed': z.object({}),
  /** Loading or reading a model file; 0 to 1. */
  'models.progress': z.object({ id: IdSchema, fraction: z.number() }),
  'models.download': DownloadSchema,
  /** What a search for models on this machine found so far, at most four times a second; at its end, all. */
  'models.found': FoundModelsSchema,
  /** Another hub is set, its token, or what models are judged by: nothing of what was asked holds. */
  'hub.changed': z.object({}),
  /** What is known of devices, or which one 'auto' takes. */
  'devices.changed': z.object({}),
  /** Packs that can be fetched, and how far that is; at most five a second. */
  'devices.offers': PackOffersSchema,
  'cache.changed': z.object({}),
  'cache.progress': z.object({ done: z.int(), total: z.int() }),
  /** State or figures of the shared cache. At most once a second. */
  'sharing.changed': z.object({}),
  'settings.changed': SettingsSchema,
  /** Prompts × strategies measured, and in all. */
  'calibration.progress': z.object({ done: z.int(), total: z.int() }),
  'calibration.changed': z.object({}),
  /** An answer was compared with its full prefill, or what follows from such comparisons changed. */
  'watching.changed': z.object({}),
  /** State or steps of an analysis; without an id, the list. */
  'analysis.changed': z.object({ id: IdSchema.optional() }),
  /** How far a step's prompt is (rows × layers), and how far the analysis is. */
  'analysis.progress': OfStep.extend({
    done: z.number(),
    total: z.number(),
    /** Of the whole analysis; null until something can be estimated. */
    secondsLeft: z.number().nullable(),
  }),
  /** More of a step's answer. `offset` is the UTF-16 length of what came before: 0 also when a question came in between and it is written anew. */
  'analysis.text': OfStep.extend({ offset: z.int(), text: z.string() }),
  'analysis.done': z.object({ id: IdSchema, state: AnalysisStateSchema, failure: FailureSchema.nullable() }),
  /** Bytes gone through by the backup in the making, and in all. */
  'backups.progress': z.object({ done: z.number(), total: z.number() }),
  /** A backup was made, or could not be: none is in the making now. */
  'backups.changed': z.object({}),
  /** Something went wrong, or right, that belongs to no call. */
  'app.notice': z.object({ level: z.enum(['info', 'warning', 'error']), failure: FailureSchema }),
  /** The system asks the window to take files (opened with Kvasir) or to go somewhere (menu). */
  'app.open': z.object({ paths: z.array(z.string()), route: z.string() }),
};

export type EventTopic = keyof typeof events;
export type EventPayload<T extends EventTopic> = z.infer<(typeof events)[T]>;
export type KvasirEvent = { [T in EventTopic]: { topic: T; payload: EventPayload<T> } }[EventTopic];
