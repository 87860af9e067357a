import type { Context } from 'hono';
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { JsonFormat } from '../../../../answering/json-grammar.ts';
import type { ToolCall } from '../../../../answering/tools.ts';
import type { TokenLogprobs } from '../../../../answering/backends/backend.ts';
import type { CompletionRequest, CompletionResult } from '../../../../completions/types.ts';
import { failureOf } from '../../errors.ts';
import type { ApiCore } from '../core.ts';
import { lineStream } from '../events.ts';
import {
  citationsOf,
  howMade,
  jsonOf,
  limitOf,
  logprobsTold,
  messagesOf,
  textsOf,
  writingOf,
} from '../request-fields.ts';
import { body, jsonOrLines } from '../schemas.ts';
import { toolRequest } from '../tools.ts';
import { nameOf } from './names.ts';
import { callTold, withCallIds } from './calls.ts';
import {
  ChatRequestSchema,
  ChatSchema,
  FAILURES,
  GenerateRequestSchema,
  GenerateSchema,
  type ChatRequest,
  type ResponseFields,
  type GenerateRequest,
} from './schemas.ts';

const chat = createRoute({
  method: 'post',
  path: '/api/chat',
  request: body(ChatRequestSchema, 'format'),
  responses: { 200: jsonOrLines(ChatSchema, 'The answer; without `stream: false` its pieces'), ...FAILURES },
});

const generate = createRoute({
  method: 'post',
  path: '/api/generate',
  request: body(GenerateRequestSchema, 'format'),
  responses: {
    200: jsonOrLines(GenerateSchema, 'The answer; without `stream: false` its pieces'),
    ...FAILURES,
  },
});

/** A piece of an answer, or all of it, in a route's form. */
type Form = (text: string, thought: string, calls?: readonly ToolCall[]) => object;

const asMessage: Form = (content, thinking, calls = []) => ({
  message: {
    role: 'assistant',
    content,
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(callTold) }),
  },
});

const asResponse: Form = (response, thinking) => ({ response, ...(thinking !== '' && { thinking }) });

/** Ollama's routes for answers. */
export function addAnswerRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(chat, (c) => {
    const sent = c.req.valid('json');
    const messages = messagesOf(withCallIds(sent.messages), core.separator);
    return answer(c, sent, messages.length === 0 ? undefined : { messages }, asMessage, core);
  });
  app.openapi(generate, (c) => {
    const sent = c.req.valid('json');
    return answer(c, sent, sent.prompt === '' ? undefined : promptOf(sent, core), asResponse, core);
  });
}

/** Without a prompt, clients only want the model to be loaded. */
async function answer(
  c: Context,
  sent: ChatRequest | GenerateRequest,
  prompt: CompletionRequest['prompt'] | undefined,
  form: Form,
  core: ApiCore,
): Promise<Response> {
  const head = headOf(sent.model, core);
  if (!prompt) {
    core.completions.model(nameOf(sent.model, core)); // NOT_FOUND
    return c.json({ ...head, ...form('', ''), done: true, done_reason: 'load' });
  }
  const request = { ...requestOf(sent, core), prompt };
  if (sent.stream !== false) return streamAnswer(c, sent.model, request, form, core);
  const result = await core.completions.complete(request, { signal: c.req.raw.signal });
  const { text, thought, calls, logprobs } = result;
  return c.json({ ...head, ...form(text, thought, calls), ...logprobFields(logprobs), ...figuresOf(result) });
}

function streamAnswer(
  c: Context,
  model: string,
  request: CompletionRequest,
  form: Form,
  core: ApiCore,
): Promise<Response> {
  const piece = (text: string, thought = '') => ({
    ...headOf(model, core),
    ...form(text, thought),
    done: false,
  });
  return lineStream({
    work: async (send, signal) => {
      const result = await core.completions.complete(request, {
        signal,
        onThought: (text) => send(piece('', text)),
        onDelta: ({ text, logprobs }) => send({ ...piece(text), ...logprobFields(logprobs) }),
      });
      if (result.calls.length > 0) send({ ...piece(''), ...form('', '', result.calls) });
      send({ ...piece(''), ...figuresOf(result) });
    },
    failed: (error) => ollamaFailure(failureOf(error, core.log, c.get('requestId')).body.error.message),
    keepAlive: () => piece(''),
    signal: c.req.raw.signal,
    keepAliveMs: core.keepAliveMs,
  });
}

/** An error body in the format of Ollama's API. */
export function ollamaFailure(error: string): { error: string } {
  return { error };
}

function headOf(model: string, { clock }: ApiCore): Pick<ResponseFields, 'model' | 'created_at'> {
  return { model, created_at: new Date(clock()).toISOString() };
}

function requestOf(sent: ChatRequest | GenerateRequest, core: ApiCore): Omit<CompletionRequest, 'prompt'> {
  const { options = {}, think, format, logprobs, top_logprobs, kvasir } = sent;
  const model = nameOf(sent.model, core);
  return {
    ...writingOf({ ...options, model, kvasir }),
    model,
    maxTokens: limitOf(options.num_predict),
    logprobs: logprobs === true ? (top_logprobs ?? 0) : undefined,
    json: jsonIn(format),
    tools: toolRequest({ tools: toolsIn(sent), choice: 'auto', parallel: true }),
    think: think === undefined ? undefined : think !== false,
  };
}

function toolsIn(sent: ChatRequest | GenerateRequest) {
  return 'tools' in sent ? (sent.tools ?? []).map((tool) => tool.function) : [];
}

function jsonIn(format: ChatRequest['format']): JsonFormat | undefined {
  if (format === undefined || format === '') return undefined;
  return jsonOf(
    format === 'json' ? { type: 'json_object' } : { type: 'json_schema', schema: format },
    'format',
  );
}

function promptOf(
  { prompt, system, raw }: GenerateRequest,
  { separator }: ApiCore,
): CompletionRequest['prompt'] {
  if (raw === true) return { text: textsOf(prompt, separator) };
  const user = { role: 'user' as const, content: prompt };
  const messages = system === undefined ? [user] : [{ role: 'system' as const, content: system }, user];
  return { messages: messagesOf(messages, separator) };
}

function logprobFields(logprobs: readonly TokenLogprobs[] | undefined): Pick<ResponseFields, 'logprobs'> {
  return logprobs ? { logprobs: logprobsTold(logprobs) } : {};
}

function figuresOf(result: CompletionResult): Omit<ResponseFields, 'model' | 'created_at' | 'logprobs'> {
  const { ttftMs, tokensPerSecond } = result.made.stats;
  const { promptTokens, completionTokens } = result.usage;
  const answerMs = tokensPerSecond > 0 ? (1000 * completionTokens) / tokensPerSecond : 0;
  return {
    done: true,
    done_reason: result.finish === 'length' ? 'length' : 'stop',
    total_duration: nanoseconds(ttftMs.total + answerMs),
    load_duration: nanoseconds(ttftMs.wait),
    prompt_eval_count: promptTokens,
    prompt_eval_duration: nanoseconds(ttftMs.total - ttftMs.wait),
    eval_count: completionTokens,
    eval_duration: nanoseconds(answerMs),
    ...citationsOf(result),
    kvasir: howMade(result),
  };
}

export function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}
