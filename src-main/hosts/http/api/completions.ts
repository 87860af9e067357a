import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { TokenLogprobs } from '../../../answering/backends/backend.ts';
import type { CompletionRequest, CompletionResult } from '../../../completions/types.ts';
import { only } from './client-fields.ts';
import { seconds, type ApiCore } from './core.ts';
import { streamed } from './events.ts';
import { ANSWER_END, body, FAILURES, jsonOrEvents, STREAM_OPTIONS, WRITING } from './schemas.ts';
import {
  citationsOf,
  howMade,
  limitOf,
  limitsIn,
  logprobTold,
  textsOf,
  usageOf,
  writingOf,
} from './request-fields.ts';

const CompletionRequestSchema = z
  .strictObject({
    ...WRITING,
    model: z.string().min(1),
    prompt: z.union([z.string().min(1), z.tuple([z.string().min(1)])], {
      error: 'Only one prompt, as a text, is supported.',
    }),
    /** Number of most likely tokens reported at each position. */
    logprobs: z.int().min(0).max(5).nullish(),
    echo: only(false),
    best_of: only(1),
    suffix: only(''),
  })
  .refine(...STREAM_OPTIONS)
  .openapi('CompletionRequest');

const LogprobsSchema = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number()),
  top_logprobs: z.array(z.record(z.string(), z.number())),
  text_offset: z.array(z.int()),
});

const CompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        text: z.string(),
        logprobs: LogprobsSchema.nullable(),
        finish_reason: z.enum(['stop', 'length']),
      }),
    ),
    ...ANSWER_END,
  })
  .openapi('Completion');

const route = createRoute({
  method: 'post',
  path: '/v1/completions',
  request: body(CompletionRequestSchema),
  responses: {
    200: jsonOrEvents(CompletionSchema, 'The continuation of the text; with `stream`, its pieces'),
    ...FAILURES,
  },
});

type Body = z.infer<typeof CompletionRequestSchema>;

export function addCompletionRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(route, async (c) => {
    const asked = c.req.valid('json');
    const request = requestOf(asked, core);
    const base = {
      id: `cmpl-${randomUUID()}`,
      object: 'text_completion' as const,
      created: seconds(core.clock),
      model: asked.model,
    };
    if (asked.stream === true) return streamText(c, asked, request, base, core);
    const result = await core.completions.complete(request, { signal: c.req.raw.signal });
    return c.json({ ...base, ...answerOf(result) }, 200);
  });
}

function requestOf(asked: Body, { separator }: ApiCore): CompletionRequest {
  const { model, prompt, logprobs } = asked;
  const text = typeof prompt === 'string' ? prompt : prompt[0];
  return {
    ...writingOf(asked),
    model,
    prompt: { text: textsOf(text, separator) },
    // OpenAI's default for this endpoint.
    maxTokens: limitOf(...limitsIn(asked), 16),
    logprobs: logprobs ?? undefined,
  };
}

function answerOf(
  result: CompletionResult,
): Pick<z.infer<typeof CompletionSchema>, 'choices' | 'usage' | 'citations' | 'kvasir'> {
  const { text, logprobs, finish } = result;
  const told = logprobs ? logprobsTold(logprobs, 0) : null;
  return {
    choices: [{ index: 0, text, logprobs: told, finish_reason: finish === 'length' ? finish : 'stop' }],
    usage: usageOf(result),
    ...citationsOf(result),
    kvasir: howMade(result),
  };
}

function streamText(
  c: Context,
  asked: Body,
  request: CompletionRequest,
  base: object,
  core: ApiCore,
): Promise<Response> {
  return streamed(c, core, async (send, signal) => {
    let offset = 0;
    const result = await core.completions.complete(request, {
      signal,
      onDelta: ({ text, logprobs }) => {
        const told = logprobs ? logprobsTold(logprobs, offset) : null;
        offset += text.length;
        send({ ...base, choices: [{ index: 0, text, logprobs: told, finish_reason: null }] });
      },
    });
    const last = { index: 0, text: '', logprobs: null, finish_reason: result.finish };
    send({ ...base, choices: [last], ...citationsOf(result), kvasir: howMade(result) });
    if (asked.stream_options?.include_usage) send({ ...base, choices: [], usage: usageOf(result) });
  });
}

/** In this endpoint's format; `offset`: where the first token's text begins. */
function logprobsTold(logprobs: readonly TokenLogprobs[], offset: number): z.infer<typeof LogprobsSchema> {
  let at = offset;
  const told = logprobs.map((each) => ({ ...logprobTold(each), top: each.top.map(logprobTold) }));
  return {
    tokens: told.map(({ token }) => token),
    token_logprobs: told.map(({ logprob }) => logprob),
    top_logprobs: told.map(({ top }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: told.map(({ token }) => (at += token.length) - token.length),
  };
}
