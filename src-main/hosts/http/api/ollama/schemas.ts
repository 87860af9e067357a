import { z } from '@hono/zod-openapi';
import { ANY, FILTERS, LimitSchema, NO_CHANGE, only, unread } from '../client-fields.ts';
import { TextSchema, MOST_TEXTS } from '../embeddings.ts';
import { CHAT_TOOLS, ParametersSchema, ToolNameSchema } from '../tools.ts';
import { CitationSchema, HowMadeSchema, TokenLogprobSchema, WRITING } from '../schemas.ts';

const { temperature, top_p, seed, stop, frequency_penalty, presence_penalty, kvasir } = WRITING;

/** How to sample, and hints about the server's memory and devices, which have no effect. */
const OptionsSchema = z
  .strictObject({
    ...NO_CHANGE,
    ...FILTERS,
    num_predict: LimitSchema,
    temperature,
    top_p,
    seed,
    stop,
    frequency_penalty,
    presence_penalty,
    ...unread('penalize_newline numa main_gpu low_vram f16_kv logits_all vocab_only'),
    ...unread('use_mmap use_mlock embedding_only'),
  })
  .optional();

const NO_IMAGES = z.array(z.unknown()).max(0).optional();

/** Fields of requests for an answer. */
const REQUEST = {
  model: z.string().min(1),
  /** Default: true. */
  stream: z.boolean().optional(),
  /** "json", or the JSON schema of the answer. */
  format: z.union([z.enum(['json', '']), z.record(z.string(), z.unknown())]).optional(),
  options: OptionsSchema,
  think: z.union([z.boolean(), z.enum(['low', 'medium', 'high', 'max'])]).optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  // The model in use stays loaded. A prompt that does not fit is refused.
  keep_alive: ANY,
  truncate: ANY,
  shift: ANY,
  kvasir,
} as const;

/** Calls have no ids here: a result names its tool, and belongs to the first call of it that has none yet. */
const CallSchema = z.object({
  function: z.object({ name: ToolNameSchema, arguments: ParametersSchema }),
});

const MessageSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool'], {
    error: 'Only the roles system, user, assistant and tool are supported.',
  }),
  content: z.string().optional(),
  // Later turns do not see the thoughts of an earlier answer.
  thinking: ANY,
  images: NO_IMAGES,
  tool_calls: z.array(CallSchema).optional(),
  tool_name: z.string().optional(),
  name: ANY,
});

export const ChatRequestSchema = z
  .strictObject({
    ...REQUEST,
    messages: z.array(MessageSchema).max(4096).default([]),
    tools: CHAT_TOOLS.tools,
  })
  .openapi('OllamaChatRequest');

export const GenerateRequestSchema = z
  .strictObject({
    ...REQUEST,
    prompt: z.string().default(''),
    system: z.string().optional(),
    /** Continues the prompt, without the chat template. */
    raw: z.boolean().optional(),
    images: NO_IMAGES,
    suffix: only(''),
    template: only(''),
    context: z
      .array(z.unknown())
      .max(0, { error: 'Contexts are not supported: send the earlier messages to /api/chat.' })
      .optional(),
  })
  .openapi('OllamaGenerateRequest');

/** Durations are in nanoseconds. */
const RESPONSE = {
  model: z.string(),
  created_at: z.string(),
  done: z.boolean(),
  done_reason: z.enum(['stop', 'length', 'load']).optional(),
  total_duration: z.int().optional(),
  /** Waiting for the model. */
  load_duration: z.int().optional(),
  prompt_eval_count: z.int().optional(),
  prompt_eval_duration: z.int().optional(),
  eval_count: z.int().optional(),
  eval_duration: z.int().optional(),
  logprobs: z.array(TokenLogprobSchema).optional(),
  /** Only in a library's answer. */
  citations: z.array(CitationSchema).optional(),
  kvasir: HowMadeSchema.optional(),
} as const;

export const ChatSchema = z
  .object({
    ...RESPONSE,
    message: z.object({
      role: z.literal('assistant'),
      content: z.string(),
      thinking: z.string().optional(),
      tool_calls: z.array(CallSchema).optional(),
    }),
  })
  .openapi('OllamaChat');

export const GenerateSchema = z
  .object({ ...RESPONSE, response: z.string(), thinking: z.string().optional() })
  .openapi('OllamaGenerate');

const EMBED = { model: z.string().min(1), keep_alive: ANY, options: OptionsSchema } as const;

export const EmbedRequestSchema = z
  .strictObject({
    ...EMBED,
    input: z.union([z.string(), z.array(TextSchema).max(MOST_TEXTS)]),
    /** false: refuses a text that is too long. Default: cuts it, and lists it in `truncated`. */
    truncate: z.boolean().optional(),
    dimensions: z.int().min(1).optional(),
  })
  .openapi('OllamaEmbedRequest');

export const EmbedSchema = z
  .object({
    model: z.string(),
    embeddings: z.array(z.array(z.number())),
    total_duration: z.int(),
    load_duration: z.int(),
    prompt_eval_count: z.int(),
    /** Not Ollama's: indexes of the texts that were cut, if any were. */
    truncated: z.array(z.int()).optional(),
  })
  .openapi('OllamaEmbed');

export const EmbeddingsRequestSchema = z
  .strictObject({ ...EMBED, prompt: z.string() })
  .openapi('OllamaEmbeddingsRequest');

export const EmbeddingsSchema = z.object({ embedding: z.array(z.number()) }).openapi('OllamaEmbeddings');

const DetailsSchema = z.object({
  parent_model: z.string(),
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()),
  parameter_size: z.string(),
  quantization_level: z.string(),
});

const ModelSchema = z.object({
  name: z.string(),
  model: z.string(),
  modified_at: z.string(),
  size: z.int(),
  digest: z.string(),
  details: DetailsSchema,
});

export const TagsSchema = z.object({ models: z.array(ModelSchema) }).openapi('OllamaTags');

export const RunningSchema = z
  .object({
    models: z.array(
      ModelSchema.omit({ modified_at: true }).extend({
        expires_at: z.string(),
        size_vram: z.int(),
        context_length: z.int(),
      }),
    ),
  })
  .openapi('OllamaRunning');

export const ShowRequestSchema = z
  .strictObject({
    model: z.string().min(1).optional(),
    /** The older name of `model`. */
    name: z.string().min(1).optional(),
    ...unread('verbose system template options'),
  })
  .refine(({ model, name }) => model ?? name, { path: ['model'], error: 'It is missing.' })
  .openapi('OllamaShowRequest');

export const ShowSchema = z
  .object({
    modelfile: z.string(),
    parameters: z.string(),
    template: z.string(),
    license: z.string(),
    modified_at: z.string(),
    details: DetailsSchema,
    model_info: z.record(z.string(), z.union([z.string(), z.number()])),
    capabilities: z.array(z.enum(['completion', 'embedding', 'tools'])),
  })
  .openapi('OllamaShow');

export const VersionSchema = z.object({ version: z.string() }).openapi('OllamaVersion');

const FailureSchema = z.object({ error: z.string() }).openapi('OllamaError');

export const FAILURES = {
  default: { description: 'What went wrong', content: { 'application/json': { schema: FailureSchema } } },
} as const;

export type ChatRequest = z.infer<typeof ChatRequestSchema>;
export type GenerateRequest = z.infer<typeof GenerateRequestSchema>;
export type ResponseFields = z.infer<z.ZodObject<typeof RESPONSE>>;
export type Details = z.infer<typeof DetailsSchema>;
