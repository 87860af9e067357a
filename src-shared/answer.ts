import { z } from 'zod';
import { PromptFiguresSchema } from './figures.ts';
import { PlanSchema } from './plan.ts';
import { TtftSchema } from './ttft.ts';

/**
 * The answer to one question in the hosts' output format (`ask --json` prints exactly this). Times are in milliseconds.
 */
const SourceSchema = z.object({
  /** Path relative to the library's folder. */
  document: z.string(),
  title: z.string(),
  /** Ordinal of the chunk in its document, from 0. */
  chunk: z.int().min(0),
  text: z.string(),
  score: z.number(),
  /** Why it was chosen, e.g. "matches the question" or "precedes a match". */
  reason: z.string(),
  /**
   * Source of its KV: device memory, main memory, the store's file, partly stored chunks with common text, or computed
   * for this answer (a miss).
   */
  tier: z.enum(['device', 'ram', 'disk', 'shared', 'partial', 'computed']),
  tokens: z.int(),
});

export const NoticeSchema = z.object({
  kind: z.enum([
    'no-match', // no document matched: the answer is the model's own
    'openings', // nothing matched and not everything fits: the answer rests on outlines and openings
    'newest-only', // the question's words are very common: of the passages with them, the newest were ranked
    'missing-facts', // names, numbers or dates of the question that stand in none of its passages
    'still-reading', // documents that cannot be found yet, since they are being read
    'unprepared', // documents that cannot be found yet, since the model in use has no chunks of them
    'queue-paused', // the same, and nothing is done about it until the queue is resumed
    'left-out', // chunks that did not fit the context
    'turns-left-out', // older turns of the conversation that did not fit the context
    'plain-prompt', // the chat template could not be used
    'quarantined', // damaged chunk files were set aside and computed again
    'shared-lost', // chunks did not come from shared cache or disk, or not to the end, and were computed
    'kinds-skipped', // files of a folder that are no documents
    'over-budget', // the library's cache is larger than the disk budget
    'full-prefill', // cached passages were left unused: computing all is faster
    'unsupported', // names, numbers or dates of the answer stand in no passage
    'cut-off', // the limit of the answer, or the end of the context, came before its end
    'cut-parts', // an analysis combined answers that had been cut off
    'repeats', // it was ended, since the model said the same again and again
    'still-thinking', // the limit of the answer went to thoughts before there was any
    'not-blended', // everything is computed, since the model does not stand blending or cannot be blended
    'blending-stopped', // the same, since answers in use changed too much by it
    'no-tools', // the model's chat template has no tools: the answer was made without them
    'call-limit', // the model had to answer after the last of several steps with calls
    'call-repeated', // a call was not run again with the same arguments
    'document-failed', // a document in the library could not be read
  ]),
  message: z.string(),
});

/** Why an answer ended: end of sequence, length limit, stopped, end of the context, or repetition. */
export const StopSchema = z.enum(['eos', 'length', 'aborted', 'callback', 'context', 'repetition']);

export const AnswerSchema = z.object({
  question: z.string(),
  answer: z.string(),
  /** The model's thoughts; absent if not requested. */
  thinking: z.string().optional(),
  stop: StopSchema,
  sources: z.array(SourceSchema),
  notices: z.array(NoticeSchema),
  ttftMs: TtftSchema,
  /**
   * Time of the same prompt's full prefill, up to the logits: estimated from measurements here, or measured. null:
   * unknown.
   */
  fullPrefillMs: z.number().nullable(),
  fullPrefillMeasured: z.boolean(),
  tokensPerSecond: z.number(),
  /** The strategy in the engine's format; the reason, and the prediction. */
  strategy: z.unknown(),
  plan: PlanSchema.optional(),
  prompt: PromptFiguresSchema,
});

export type Source = z.infer<typeof SourceSchema>;
export type Notice = z.infer<typeof NoticeSchema>;
export type Answer = z.infer<typeof AnswerSchema>;
