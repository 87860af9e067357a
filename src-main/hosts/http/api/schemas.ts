import { z } from '@hono/zod-openapi';
import { NewStrategyRequestSchema } from '../../../../src-shared/strategy.ts';
import {
  CacheMarkSchema,
  FILTERS,
  LimitSchema,
  NO_CHANGE,
  NO_TOOLS,
  only,
  withoutNulls,
} from './client-fields.ts';

export const TextPartSchema = z
  .strictObject({
    type: z.literal('text'),
    text: z.string(),
    /** Encoded once and stored: then reused at any position. */
    cache: z.boolean().optional(),
    title: z.string().min(1).max(200).optional(),
    // Requests prefix caching, which is always on.
    cache_control: CacheMarkSchema,
  })
  .openapi('TextPart');

const PartsSchema = z.array(
  z.discriminatedUnion('type', [TextPartSchema], { error: 'Only parts of the type "text" are supported.' }),
);

export const ContentSchema = z.union([z.string(), PartsSchema.min(1)]);

/** For an empty answer clients send back no content. */
export const AnswerContentSchema = z.union([z.string(), PartsSchema]).optional();

/** Empty strings stop nothing. */
const StopSchema = z.union([z.string(), z.array(z.string()).max(16)]).nullish();

/** Fields for generating an answer. */
export const WRITING = {
  ...NO_CHANGE,
  ...NO_TOOLS,
  ...FILTERS,
  max_tokens: LimitSchema,
  n_predict: LimitSchema,
  num_predict: LimitSchema,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  /** -1: a random seed. */
  seed: z.int().nullish(),
  stop: StopSchema,
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  n: only(1),
  frequency_penalty: only(0),
  presence_penalty: only(0),
  logit_bias: z.strictObject({}, { error: 'No bias is supported.' }).nullish(),
  /** Kvasir's extensions. */
  kvasir: z
    .strictObject({
      strategy: NewStrategyRequestSchema.optional(),
      /** For a library: maximum passages in the prompt, and whether to ask the model if none was found. */
      top_k: z.int().min(1).max(256).optional(),
      may_guess: z.boolean().optional(),
    })
    .optional(),
} as const;

/** For requests with WRITING: streaming options require a stream. */
export const STREAM_OPTIONS: [
  fits: (asked: { stream?: unknown; stream_options?: unknown }) => boolean,
  { path: string[]; error: string },
] = [
  ({ stream, stream_options: options }) => stream === true || options === undefined || options === null,
  { path: ['stream_options'], error: 'They are for streams: send "stream": true with them.' },
];

/** The answer's format. */
export const FormatSchema = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          schema: z.record(z.string(), z.unknown()),
          strict: z.boolean().nullish(),
        }),
      }),
    ],
    { error: 'Only the formats text, json_object and json_schema are supported.' },
  )
  .nullish();

export const UsageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    /** Tokens that were not computed for this request, and tokens that it stored for later ones. */
    prompt_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
    completion_tokens_details: z.object({
      reasoning_tokens: z.int(),
      /** Guessed from the prompt: those that the model chose, and the others. Absent where there were none. */
      accepted_prediction_tokens: z.int().optional(),
      rejected_prediction_tokens: z.int().optional(),
    }),
  })
  .openapi('Usage');

export const HowMadeSchema = z
  .object({
    strategy: z.object({ name: z.string(), ratio: z.number() }),
    /** The controller's reason. */
    reason: z.string(),
    prefix_tokens: z.int(),
    reused_tokens: z.int(),
    recomputed_tokens: z.int(),
    computed_tokens: z.int(),
    stored_tokens: z.int(),
    /** Chunks by the source of their KV. */
    chunks: z.record(z.string(), z.int()),
    /** Milliseconds up to the first token, and their parts. */
    ttft_ms: z.record(z.string(), z.number()),
    tokens_per_second: z.number(),
    notices: z.array(z.object({ kind: z.string(), message: z.string() })),
    /** What the prompt contains of each document, in tokens; for a library's answer. */
    documents: z.array(z.object({ document: z.string(), read_tokens: z.int(), tokens: z.int() })).optional(),
    /** UTF-16 ranges of the answer with names, numbers or dates that are in no passage. */
    unsupported: z.array(z.object({ start: z.int(), end: z.int() })).optional(),
    /** The same of its sentences that no passage supports. */
    own: z.array(z.object({ start: z.int(), end: z.int() })).optional(),
  })
  .openapi('HowMade');

const LogprobSchema = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable(),
});

export const TokenLogprobSchema = LogprobSchema.extend({ top_logprobs: z.array(LogprobSchema) });

export const CitationSchema = z
  .object({
    /** The number in the text's citation mark: [1]. */
    index: z.int(),
    document: z.string(),
    title: z.string(),
    page: z.string().nullable(),
    /** UTF-16 range in the document. */
    start: z.int(),
    end: z.int(),
    text: z.string(),
    /** Ranges in `text` that support the answer. */
    quotes: z.array(z.object({ start: z.int(), end: z.int() })),
    score: z.number(),
  })
  .openapi('Citation');

export const ANSWER_END = {
  usage: UsageSchema,
  /** Only in a library's answer. */
  citations: z.array(CitationSchema).optional(),
  kvasir: HowMadeSchema,
};

const FailureSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .openapi('Error');

/** Error responses of every route. */
export const FAILURES = {
  default: { description: 'What went wrong', content: { 'application/json': { schema: FailureSchema } } },
} as const;

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } } as const;
}

/** The body, or its pieces if the request asks for a stream. */
export function jsonOrEvents<S extends z.ZodType>(schema: S, description: string) {
  const { content } = json(schema, description);
  const events = { 'text/event-stream': { schema: z.string() } };
  return { description: `${description}, as server-sent events`, content: { ...content, ...events } };
}

/** The body, or unless the request asks for none its pieces. */
export function jsonOrLines<S extends z.ZodType>(schema: S, description: string) {
  const { content } = json(schema, description);
  const lines = { 'application/x-NDJSON': { schema: z.string() } }; // in lower case, its type would be JSON's
  return { description: `${description}, each on a line`, content: { ...content, ...lines } };
}

/** `verbatim`: a further field that has a JSON schema. */
export function body<S extends z.ZodType>(schema: S, verbatim?: string) {
  const lenient = z.preprocess((sent) => withoutNulls(sent, verbatim), schema);
  return { body: { required: true, content: { 'application/json': { schema: lenient } } } } as const;
}
