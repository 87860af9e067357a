import { z } from '@hono/zod-openapi';
import { ANY, FILTERS, NO_TOOLS, unread } from '../client-fields.ts';
import { ParametersSchema, ToolNameSchema, toolsSchema } from '../tools.ts';
import { HowMadeSchema, CitationSchema, WRITING } from '../schemas.ts';

const CacheControlSchema = z
  .strictObject({
    type: z.literal('ephemeral'),
    // Either way, stored chunks stay until the cache needs the space.
    ttl: z.enum(['5m', '1h']).optional(),
  })
  .nullish();

/** Thoughts of an earlier answer, which later turns do not see. */
const THOUGHTS = [
  z.looseObject({ type: z.literal('thinking') }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
] as const;

const TextBlockSchema = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: CacheControlSchema,
  // Fields of an answer that clients send back.
  citations: z.array(z.unknown()).nullish(),
});

const PlainSchema = z.literal('text/plain', { error: 'Only text/plain is sent as text.' });

const PackedSchema = z.enum(['text/plain', 'application/pdf'], {
  error: 'Only text/plain and application/pdf are read.',
});

const SourceSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text'), media_type: PlainSchema, data: z.string() }),
    z.strictObject({ type: z.literal('base64'), media_type: PackedSchema, data: z.base64() }),
    z.strictObject({ type: z.literal('content'), content: z.union([z.string(), z.array(TextBlockSchema)]) }),
  ],
  { error: 'Only sources of the types text, base64 and content are supported: Kvasir fetches nothing.' },
);

const DocumentBlockSchema = z.strictObject({
  type: z.literal('document'),
  source: SourceSchema,
  title: z.string().max(500).nullish(),
  context: z.string().nullish(),
  citations: z.strictObject({ enabled: z.boolean().optional() }).nullish(),
  cache_control: CacheControlSchema,
});

const ToolUseSchema = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: ParametersSchema,
  cache_control: CacheControlSchema,
  caller: ANY,
});

const ToolResultSchema = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z
    .union([
      z.string(),
      z.array(
        z.discriminatedUnion('type', [TextBlockSchema], { error: 'Results of tools are supported as text.' }),
      ),
    ])
    .optional(),
  is_error: z.boolean().nullish(),
  cache_control: CacheControlSchema,
});

const UserContentSchema = z.array(
  z.discriminatedUnion('type', [TextBlockSchema, DocumentBlockSchema, ToolResultSchema], {
    error: 'Only blocks of the types text, document and tool_result are supported: no images.',
  }),
);

const TextContentSchema = z.array(
  z.discriminatedUnion('type', [TextBlockSchema], {
    error: 'Only blocks of the type text are supported here.',
  }),
);

const AnswerContentSchema = z.array(
  z.discriminatedUnion('type', [TextBlockSchema, ToolUseSchema, ...THOUGHTS], {
    error: 'Only blocks of the types text, thinking and tool_use are supported here.',
  }),
);

const MessageSchema = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('user'), content: z.union([z.string(), UserContentSchema]) }),
    z.strictObject({
      role: z.literal('assistant'),
      content: z.union([z.string(), AnswerContentSchema]).optional(),
    }),
    z.strictObject({ role: z.literal('system'), content: z.union([z.string(), TextContentSchema]) }),
  ],
  { error: 'Only the roles user, assistant and system are supported.' },
);

const PROMPT = {
  model: z.string().min(1),
  messages: z
    .array(MessageSchema)
    .min(1)
    .max(4096)
    .refine((messages) => messages.at(-1)?.role !== 'assistant', {
      error: 'The last one is of the assistant: Kvasir does not go on with an answer that was begun.',
    }),
  system: z.union([z.string(), TextContentSchema]).nullish(),
  tools: toolsSchema(
    z.strictObject({
      type: z.literal('custom', { error: 'Only tools of the type "custom" are supported.' }).optional(),
      name: ToolNameSchema,
      description: z.string().nullish(),
      input_schema: ParametersSchema,
      strict: z.boolean().nullish(),
      cache_control: CacheControlSchema,
      ...unread('eager_input_streaming input_examples allowed_callers defer_loading'),
    }),
  ),
  tool_choice: z
    .strictObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: ToolNameSchema.optional(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .refine(({ type, name }) => (type === 'tool') === (name !== undefined), {
      path: ['name'],
      error: 'The type "tool" has a name, and no other.',
    })
    .nullish(),
  mcp_servers: NO_TOOLS.tools,
  thinking: z
    .looseObject({ type: z.literal('disabled', { error: 'Thinking is not supported: only "disabled" is.' }) })
    .nullish(),
} as const;

export const MessageRequestSchema = z
  .strictObject({
    ...PROMPT,
    /** 0: no answer; the prompt is processed, and its chunks are stored. */
    max_tokens: z.int().min(0),
    stop_sequences: z.array(z.string()).max(16).nullish(),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    ...FILTERS,
    // No effect here: prefixes are cached as long as there is space, whether requested or not.
    cache_control: CacheControlSchema,
    metadata: z.strictObject({ user_id: z.string().nullish() }).nullish(),
    service_tier: z.enum(['auto', 'standard_only']).nullish(),
    betas: z.array(z.string()).nullish(),
    /** A conversation that the server keeps: refused, in the way that makes clients send all of it. */
    thread: z.looseObject({}).nullish(),
    kvasir: WRITING.kvasir,
  })
  .openapi('MessageRequest');

export const CountRequestSchema = z.strictObject(PROMPT).openapi('CountTokensRequest');

export const CountSchema = z.object({ input_tokens: z.int() }).openapi('TokenCount');

const PLACE = { cited_text: z.string(), document_index: z.int(), document_title: z.string().nullable() };

/** A position in a client's documents. Ends are exclusive; characters are Unicode code points. */
const LocationSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('char_location'),
    ...PLACE,
    start_char_index: z.int(),
    end_char_index: z.int(),
    file_id: z.null(),
  }),
  z.object({
    type: z.literal('page_location'),
    ...PLACE,
    /** From 1. */
    start_page_number: z.int(),
    end_page_number: z.int(),
    file_id: z.null(),
  }),
  z.object({
    type: z.literal('content_block_location'),
    ...PLACE,
    start_block_index: z.int(),
    end_block_index: z.int(),
    file_id: z.null(),
  }),
  /** A sentence of a library's passage. */
  z.object({
    type: z.literal('search_result_location'),
    cited_text: z.string(),
    /** Of the passage in `citations`, from 0. */
    search_result_index: z.int(),
    /** The document, and the UTF-16 range of the sentence in its text. */
    source: z.string(),
    title: z.string(),
    start_block_index: z.literal(0),
    end_block_index: z.literal(1),
  }),
]);

const UsageSchema = z.object({
  /** Neither read from the cache nor written to it. */
  input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  output_tokens: z.int(),
});

export const MessageBodySchema = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal('text'),
          text: z.string(),
          citations: z.array(LocationSchema).nullable(),
        }),
        z.object({
          type: z.literal('tool_use'),
          id: z.string(),
          name: z.string(),
          input: z.record(z.string(), z.unknown()),
        }),
      ]),
    ),
    stop_reason: z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use']).nullable(),
    stop_sequence: z.string().nullable(),
    usage: UsageSchema,
    /** Only in a library's answer. */
    citations: z.array(CitationSchema).optional(),
    kvasir: HowMadeSchema.optional(),
  })
  .openapi('Message');

const FailureSchema = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.object({ error_code: z.string(), unsupported: z.array(z.string()) }).optional(),
    }),
    request_id: z.string(),
  })
  .openapi('MessageError');

export const FAILURES = {
  default: { description: 'What went wrong', content: { 'application/json': { schema: FailureSchema } } },
} as const;

export type MessageRequest = z.infer<typeof MessageRequestSchema>;
export type CountRequest = z.infer<typeof CountRequestSchema>;
export type MessageBody = z.infer<typeof MessageBodySchema>;
export type AnswerBlock = MessageBody['content'][number];
export type TextBlock = Extract<AnswerBlock, { type: 'text' }>;
export type Location = z.infer<typeof LocationSchema>;
export type DocumentBlock = z.infer<typeof DocumentBlockSchema>;
export type FailureBody = z.infer<typeof FailureSchema>;
