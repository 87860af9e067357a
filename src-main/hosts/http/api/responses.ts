import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { CompletionMessage, CompletionRequest, CompletionResult } from '../../../completions/types.ts';
import { seconds, type ApiCore } from './core.ts';
import { failureOf, Refusal } from '../errors.ts';
import { eventStream, once } from './events.ts';
import { responseChoice, toolRequest } from './tools.ts';
import { outputOf, ResponseEvents } from './response-events.ts';
import { ResponseStore } from './response-store.ts';
import {
  ResponseRequestSchema,
  ResponseSchema,
  type ResponseBody,
  type ResponseRequest,
} from './responses-schemas.ts';
import { body, FAILURES, jsonOrEvents } from './schemas.ts';
import {
  citationsOf,
  howMade,
  jsonOf,
  limitOf,
  ownOf,
  samplingOf,
  textsOf,
  thinkOf,
} from './request-fields.ts';

const route = createRoute({
  method: 'post',
  path: '/v1/responses',
  request: body(ResponseRequestSchema),
  responses: {
    200: jsonOrEvents(ResponseSchema, 'The answer; with `stream` its events'),
    ...FAILURES,
  },
});

/** A request and its messages. */
interface ResponseTurn {
  request: CompletionRequest;
  /** The conversation, without instructions, which apply to one answer only. */
  messages: CompletionMessage[];
  /** The response before there is an answer. */
  begun: ResponseBody;
}

export function addResponseRoutes(app: OpenAPIHono, core: ApiCore): void {
  const store = new ResponseStore();
  app.openapi(route, async (c) => {
    const sent = c.req.valid('json');
    const asked = responseTurn(sent, core, store);
    if (sent.stream === true) return streamResponse(c, asked, core, store);
    const result = await core.completions.complete(asked.request, { signal: c.req.raw.signal });
    return c.json(responseOf(asked, result, outputOf(result, statusOf(result)), store), 200);
  });
}

function streamResponse(
  c: Context,
  asked: ResponseTurn,
  core: ApiCore,
  store: ResponseStore,
): Promise<Response> {
  const events = new ResponseEvents();
  return eventStream({
    work: async (send, signal) => {
      events.to(send);
      const begin = once(() => events.begin(asked.begun));
      const write = (kind: 'reasoning' | 'message', text: string): void => {
        begin();
        events.write(kind, text);
      };
      const result = await core.completions.complete(asked.request, {
        signal,
        onThought: (text) => write('reasoning', text),
        onDelta: ({ text, cited }) => {
          write('message', text);
          if (cited) events.cite(cited);
        },
        onCall: (delta) => {
          begin();
          events.call(delta);
        },
      });
      begin(); // an empty answer
      events.finish(responseOf(asked, result, events.end(statusOf(result)), store));
    },
    failed: (error) => events.failed(failureOf(error, core.log, c.get('requestId')).body.error),
    signal: c.req.raw.signal,
    keepAliveMs: core.keepAliveMs,
  });
}

function responseTurn(
  sent: ResponseRequest,
  { separator, clock }: ApiCore,
  store: ResponseStore,
): ResponseTurn {
  const { model, input, instructions, temperature, top_p, reasoning } = sent;
  const maxTokens = limitOf(sent.max_output_tokens);
  const format = sent.text?.format ?? { type: 'text' as const };
  const messages = [...before(sent, store), ...messagesIn(input, separator)];
  const system: CompletionMessage[] = instructions
    ? [{ role: 'system', parts: [{ text: instructions }] }]
    : [];
  return {
    messages,
    request: {
      model,
      prompt: { messages: [...system, ...messages] },
      maxTokens,
      ...samplingOf(sent),
      json: jsonOf(format, 'text.format'),
      tools: toolRequest({
        tools: sent.tools ?? [],
        ...responseChoice(sent.tool_choice),
        parallel: sent.parallel_tool_calls,
      }),
      think: thinkOf(reasoning?.effort),
      ...ownOf(sent),
    },
    begun: {
      id: `resp_${randomUUID()}`,
      object: 'response',
      created_at: seconds(clock),
      status: 'in_progress',
      error: null,
      incomplete_details: null,
      instructions: instructions ?? null,
      max_output_tokens: maxTokens ?? null,
      metadata: sent.metadata ?? {},
      model,
      output: [],
      parallel_tool_calls: sent.parallel_tool_calls ?? true,
      previous_response_id: sent.previous_response_id ?? null,
      store: sent.store ?? true,
      temperature: temperature ?? null,
      top_p: top_p ?? null,
      text: { format: { type: format.type } },
      tool_choice: sent.tool_choice ?? 'auto',
      tools: sent.tools ?? [],
      truncation: 'disabled',
      usage: null,
    },
  };
}

/** The conversation up to the response that this one continues. */
function before(
  { previous_response_id: id }: ResponseRequest,
  store: ResponseStore,
): readonly CompletionMessage[] {
  if (typeof id !== 'string') return [];
  const known = store.get(id);
  if (known) return known;
  const message = `There is no response ${JSON.stringify(id)} any more, or it was not to be stored.`;
  throw new Refusal(400, message, { param: 'previous_response_id', code: 'previous_response_not_found' });
}

function messagesIn(input: ResponseRequest['input'], separator: string | undefined): CompletionMessage[] {
  if (typeof input === 'string') return [{ role: 'user', parts: textsOf(input, separator) }];
  const messages: CompletionMessage[] = [];
  for (const item of input) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'function_call') addCall(messages, item);
    else if (item.type === 'function_call_output')
      messages.push({ role: 'tool', callId: item.call_id, parts: textsOf(item.output, separator) });
    else {
      const role = item.role === 'developer' ? 'system' : item.role;
      messages.push({ role, parts: textsOf(item.content, separator) });
    }
  }
  return messages;
}

/** Calls of one answer, which may have text before them, are one message. */
function addCall(
  messages: CompletionMessage[],
  { call_id: id, name, arguments: given }: { call_id: string; name: string; arguments: string },
): void {
  const last = messages.at(-1);
  const call = { id, name, arguments: given };
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', parts: [], calls: [call] });
  else messages[messages.length - 1] = { ...last, calls: [...(last.calls ?? []), call] };
}

function statusOf({ finish }: CompletionResult): 'completed' | 'incomplete' {
  return finish === 'length' ? 'incomplete' : 'completed';
}

function responseOf(
  { begun, messages }: ResponseTurn,
  result: CompletionResult,
  output: ResponseBody['output'],
  store: ResponseStore,
): ResponseBody {
  const { usage, text, calls } = result;
  const status = statusOf(result);
  const answer: CompletionMessage = {
    role: 'assistant',
    parts: [{ text }],
    ...(calls.length > 0 && { calls }),
  };
  if (begun.store) store.keep(begun.id, [...messages, answer]);
  return {
    ...begun,
    status,
    output,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    usage: {
      input_tokens: usage.promptTokens,
      input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.storedTokens },
      output_tokens: usage.completionTokens,
      output_tokens_details: { reasoning_tokens: usage.thoughtTokens },
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
    ...citationsOf(result),
    kvasir: howMade(result),
  };
}
