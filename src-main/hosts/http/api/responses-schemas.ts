import { z } from '@hono/zod-openapi';
import { OutputAnnotationSchema } from './annotations.ts';
import { ANY, FILTERS, LimitSchema, NO_CHANGE, NO_TOOLS, only } from './client-fields.ts';
import { RESPONSE_TOOLS } from './tools.ts';
import { CitationSchema, HowMadeSchema, TextPartSchema, WRITING } from './schemas.ts';

const InputTextSchema = TextPartSchema.extend({ type: z.literal('input_text') }).openapi('InputText');

/** As in an answer. */
const OutputTextSchema = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
});

const ContentSchema = z.union([
  z.string(),
  z
    .array(
      z.discriminatedUnion('type', [InputTextSchema, OutputTextSchema], {
        error: 'Only parts of the types "input_text" and "output_text" are supported.',
      }),
    )
    .min(1),
]);

const ItemSchema = z.union(
  [
    z.strictObject({
      type: z.literal('message').optional(),
      role: z.enum(['user', 'assistant', 'system', 'developer']),
      content: ContentSchema,
      id: z.string().optional(),
      status: z.string().optional(),
      phase: ANY,
    }),
    // An answer's thoughts, which later turns do not see.
    z.strictObject({
      type: z.literal('reasoning'),
      id: z.string(),
      summary: z.array(z.unknown()),
      content: z.array(z.unknown()).optional(),
      encrypted_content: ANY,
      status: z.string().optional(),
    }),
    z.strictObject({
      type: z.literal('function_call'),
      id: z.string().optional(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status: z.string().optional(),
      namespace: ANY,
    }),
    z.strictObject({
      type: z.literal('function_call_output'),
      id: z.string().optional(),
      call_id: z.string(),
      output: ContentSchema,
      status: z.string().optional(),
    }),
  ],
  { error: 'Only messages, function calls and their outputs are supported.' },
);

const FormatSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text') }),
    z.strictObject({ type: z.literal('json_object') }),
    z.strictObject({
      type: z.literal('json_schema'),
      name: z.string(),
      description: z.string().optional(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().nullish(),
    }),
  ],
  { error: 'Only the formats text, json_object and json_schema are supported.' },
);

export const ResponseRequestSchema = z
  .strictObject({
    ...NO_CHANGE,
    ...NO_TOOLS,
    ...RESPONSE_TOOLS,
    ...FILTERS,
    model: z.string().min(1),
    input: z.union([z.string().min(1), z.array(ItemSchema).min(1).max(4096)]),
    instructions: z.string().nullish(),
    previous_response_id: z.string().nullish(),
    /** Whether later requests may continue from this one; kept in memory while there is space. */
    store: z.boolean().nullish(),
    max_output_tokens: LimitSchema,
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    stream: z.boolean().nullish(),
    text: z.strictObject({ format: FormatSchema.optional(), verbosity: only('medium') }).optional(),
    reasoning: z
      .strictObject({
        effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
        summary: only('auto'),
      })
      .nullish(),
    truncation: only('disabled'),
    background: only(false),
    include: z.array(z.unknown()).max(0, { error: 'Nothing further can be included.' }).nullish(),
    max_tool_calls: z.int().nullish(),
    top_logprobs: only(0),
    stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
    kvasir: WRITING.kvasir,
  })
  .openapi('ResponseRequest');

const OutputSchema = z.union([
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: z.enum(['completed', 'incomplete']),
    role: z.literal('assistant'),
    content: z.array(
      z.object({
        type: z.literal('output_text'),
        text: z.string(),
        /** Only in a library's answer. */
        annotations: z.array(OutputAnnotationSchema),
        logprobs: z.array(z.unknown()).max(0),
      }),
    ),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.unknown()).max(0),
    content: z.array(z.object({ type: z.literal('reasoning_text'), text: z.string() })),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: z.enum(['completed', 'incomplete']),
  }),
]);

export const ResponseSchema = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    error: z.null(),
    incomplete_details: z.object({ reason: z.literal('max_output_tokens') }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string(),
    output: z.array(OutputSchema),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    store: z.boolean(),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    text: z.object({ format: z.object({ type: z.string() }) }),
    /** As requested. */
    tool_choice: z.unknown(),
    tools: z.array(z.unknown()),
    truncation: z.literal('disabled'),
    usage: z
      .object({
        input_tokens: z.int(),
        /** Tokens that were not computed for this request, and tokens that it stored for later ones. */
        input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable(),
    citations: z.array(CitationSchema).optional(),
    kvasir: HowMadeSchema.optional(),
  })
  .openapi('Response');

export type ResponseRequest = z.infer<typeof ResponseRequestSchema>;
export type ResponseBody = z.infer<typeof ResponseSchema>;
export type OutputItem = z.infer<typeof OutputSchema>;
