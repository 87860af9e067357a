import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { CompletionRequest, CompletionResult } from '../../../completions/types.ts';
import type { JsonSchema } from '../../../answering/json-grammar.ts';
import { MessageAnnotationSchema, urlCitations } from './annotations.ts';
import { LimitSchema, only, unread } from './client-fields.ts';
import { CallSchema, callTold, CHAT_TOOLS, chatChoice, toolRequest } from './tools.ts';
import { seconds, type ApiCore } from './core.ts';
import { once, streamed } from './events.ts';
import {
  ANSWER_END,
  AnswerContentSchema,
  body,
  ContentSchema,
  FAILURES,
  FormatSchema,
  jsonOrEvents,
  STREAM_OPTIONS,
  TokenLogprobSchema,
  WRITING,
} from './schemas.ts';
import {
  citationsOf,
  howMade,
  jsonOf,
  limitOf,
  limitsIn,
  logprobsTold,
  messagesOf,
  thinkOf,
  usageOf,
  writingOf,
} from './request-fields.ts';

/** Fields of a message besides its role. */
const SAID = { content: ContentSchema, name: z.string().nullish() } as const;

/** An answer as clients send it back. Later turns see neither thoughts nor annotations. */
const ASSISTANT = {
  ...SAID,
  role: z.literal('assistant'),
  content: AnswerContentSchema,
  refusal: z.string().nullish(),
  ...unread('reasoning_content reasoning reasoning_details thinking annotations'),
  tool_calls: z.array(CallSchema).nullish(),
} as const;

const MessageSchema = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ ...SAID, role: z.literal('system') }),
    z.strictObject({ ...SAID, role: z.literal('developer') }),
    z.strictObject({ ...SAID, role: z.literal('user') }),
    z.strictObject(ASSISTANT),
    z.strictObject({
      ...SAID,
      role: z.literal('tool'),
      content: AnswerContentSchema,
      /** Absent: the first call that has no result yet. */
      tool_call_id: z.string().optional(),
    }),
  ],
  { error: 'Only the roles system, developer, user, assistant and tool are supported.' },
);

export const ChatRequestSchema = z
  .strictObject({
    ...WRITING,
    ...CHAT_TOOLS,
    model: z.string().min(1),
    messages: z.array(MessageSchema).min(1).max(4096),
    max_completion_tokens: LimitSchema,
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    response_format: FormatSchema,
    reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
    /** The switch of Qwen's models; `reasoning_effort` takes precedence. */
    chat_template_kwargs: z.strictObject({ enable_thinking: z.boolean().optional() }).nullish(),
    store: only(false),
    modalities: z.array(z.literal('text', { error: 'Kvasir writes text only.' })).nullish(),
  })
  .refine(...STREAM_OPTIONS)
  .refine(({ logprobs, top_logprobs: top }) => logprobs === true || !top, {
    path: ['top_logprobs'],
    error: 'None are told without "logprobs": true.',
  })
  .openapi('ChatRequest');

const LogprobsSchema = z.object({
  content: z.array(TokenLogprobSchema),
  refusal: z.null(),
});

const ChatSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    system_fingerprint: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          /** null where the answer only calls tools. */
          content: z.string().nullable(),
          refusal: z.null(),
          tool_calls: z.array(CallSchema).optional(),
          /** The model's thoughts; absent if none. */
          reasoning_content: z.string().optional(),
          /** Only in a library's answer. */
          annotations: z.array(MessageAnnotationSchema).optional(),
        }),
        logprobs: LogprobsSchema.nullable(),
        finish_reason: z.enum(['stop', 'length', 'tool_calls']),
      }),
    ),
    ...ANSWER_END,
  })
  .openapi('ChatCompletion');

const route = createRoute({
  method: 'post',
  path: '/v1/chat/completions',
  request: body(ChatRequestSchema),
  responses: {
    200: jsonOrEvents(ChatSchema, 'The answer; with `stream` its pieces'),
    ...FAILURES,
  },
});

type Body = z.infer<typeof ChatRequestSchema>;

export function addChatRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(route, async (c) => {
    const asked = c.req.valid('json');
    const request = requestOf(asked, core);
    const head = { id: `chatcmpl-${randomUUID()}`, created: seconds(core.clock) };
    if (asked.stream === true) return streamAnswer(c, asked, request, head, core);
    const result = await core.completions.complete(request, { signal: c.req.raw.signal });
    return c.json(answerOf(result, head), 200);
  });
}

function requestOf(asked: Body, { separator }: ApiCore): CompletionRequest {
  const {
    model,
    messages,
    logprobs,
    top_logprobs,
    reasoning_effort: effort,
    chat_template_kwargs: template,
    response_format: format,
    tools,
    tool_choice: choice,
    parallel_tool_calls: parallel,
  } = asked;
  return {
    ...writingOf(asked),
    model,
    prompt: { messages: messagesOf(messages, separator) },
    maxTokens: limitOf(asked.max_completion_tokens, ...limitsIn(asked)),
    logprobs: logprobs === true ? (top_logprobs ?? 0) : undefined,
    json: format ? jsonOf({ ...format, ...schemaOf(format) }, 'response_format') : undefined,
    tools: toolRequest({
      tools: (tools ?? []).map((tool) => tool.function),
      ...chatChoice(choice),
      parallel,
    }),
    think: thinkOf(effort) ?? template?.enable_thinking,
  };
}

function schemaOf(format: NonNullable<Body['response_format']>): { schema?: JsonSchema } {
  return format.type === 'json_schema' ? { schema: format.json_schema.schema } : {};
}

interface Head {
  id: string;
  created: number;
}

function answerOf(result: CompletionResult, head: Head): z.infer<typeof ChatSchema> {
  const { model, fingerprint, text, calls, thought, logprobs, finish } = result;
  return {
    ...head,
    object: 'chat.completion',
    model,
    system_fingerprint: shortened(fingerprint),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(calls.length > 0 && { tool_calls: calls.map(callTold) }),
          ...(thought !== '' && { reasoning_content: thought }),
          ...annotationsOf(text, { sentences: result.made.stats.sentences, passages: result.citations }),
        },
        logprobs: logprobs ? { content: logprobsTold(logprobs), refusal: null } : null,
        finish_reason: finish,
      },
    ],
    usage: usageOf(result),
    ...citationsOf(result),
    kvasir: howMade(result),
  };
}

function streamAnswer(
  c: Context,
  asked: Body,
  request: CompletionRequest,
  head: Head,
  core: ApiCore,
): Promise<Response> {
  const withUsage = asked.stream_options?.include_usage === true;
  const base = {
    ...head,
    object: 'chat.completion.chunk',
    model: asked.model,
    ...(withUsage && { usage: null }),
  };
  return streamed(c, core, async (send, signal) => {
    const begin = once(() => send({ ...base, choices: [choice({ role: 'assistant', content: '' })] }));
    const piece = (delta: object, more: object = {}): void => {
      begin();
      send({ ...base, choices: [{ ...choice(delta), ...more }] });
    };
    let written = '';
    const result = await core.completions.complete(request, {
      signal,
      onThought: (text) => piece({ reasoning_content: text }),
      onDelta: ({ text, logprobs, cited }) => {
        written += text;
        piece(
          { content: text, ...(cited && annotationsOf(written, cited)) },
          logprobs && { logprobs: { content: logprobsTold(logprobs), refusal: null } },
        );
      },
      onCall: ({ index, id, name, arguments: more }) =>
        piece({
          tool_calls: [
            { index, ...(id !== undefined && { id, type: 'function' }), function: { name, arguments: more } },
          ],
        }),
    });
    const { finish, fingerprint } = result;
    begin(); // an empty answer
    send({
      ...base,
      system_fingerprint: shortened(fingerprint),
      choices: [{ ...choice({}), finish_reason: finish }],
      ...citationsOf(result),
      kvasir: howMade(result),
    });
    if (withUsage) send({ ...base, choices: [], usage: usageOf(result) });
  });
}

function annotationsOf(...cited: Parameters<typeof urlCitations>) {
  const annotations = urlCitations(...cited).map((url_citation) => ({
    type: 'url_citation' as const,
    url_citation,
  }));
  return annotations.length > 0 ? { annotations } : {};
}

function choice(delta: object) {
  return { index: 0, delta, logprobs: null as unknown, finish_reason: null as string | null };
}

/** Identifies the weights, as far as clients compare it. */
function shortened(fingerprint: string): string {
  return `fp_${fingerprint.slice(0, 16)}`;
}
