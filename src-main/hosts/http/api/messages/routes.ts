import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { PromptUsage } from '../../../../answering/backends/backend.ts';
import { isLibraryName } from '../../../../completions/names.ts';
import type { CompletionRequest } from '../../../../completions/types.ts';
import type { ApiCore } from '../core.ts';
import { failureOf, Refusal } from '../../errors.ts';
import { eventStream, once } from '../events.ts';
import { body, json, jsonOrEvents } from '../schemas.ts';
import { toolRequest } from '../tools.ts';
import { ownOf, samplingOf } from '../request-fields.ts';
import { begunMessage, endedMessage, MessageBlocks, MessageWriter } from './answer.ts';
import { messageFailure, NO_THREADS } from './errors.ts';
import { documentsIn, promptOf, readPdfs, type SentPrompt } from './prompt.ts';
import {
  CountRequestSchema,
  CountSchema,
  FAILURES,
  MessageBodySchema,
  MessageRequestSchema,
  type CountRequest,
  type MessageRequest,
} from './schemas.ts';

const create = createRoute({
  method: 'post',
  path: '/v1/messages',
  request: body(MessageRequestSchema),
  responses: {
    200: jsonOrEvents(MessageBodySchema, 'The answer; with `stream` its events'),
    ...FAILURES,
  },
});

const count = createRoute({
  method: 'post',
  path: '/v1/messages/count_tokens',
  request: body(CountRequestSchema),
  responses: { 200: json(CountSchema, 'How many tokens the prompt has'), ...FAILURES },
});

interface MessageTurn {
  prompt: SentPrompt;
  request: CompletionRequest;
  id: string;
  isLibrary: boolean;
}

export function addMessageRoutes(app: OpenAPIHono, core: ApiCore): void {
  app.openapi(create, async (c) => {
    const sent = c.req.valid('json');
    const { signal } = c.req.raw;
    const asked = await messageTurn(sent, core, signal);
    if (sent.stream === true) return streamMessage(c, asked, core);
    const { prompt, request, id, isLibrary } = asked;
    const blocks = new MessageBlocks();
    const writer = new MessageWriter({ prompt, blocks, isLibrary });
    const result = await core.completions.complete(request, {
      signal,
      onDelta: (delta) => writer.write(delta),
      onCall: (delta) => writer.call(delta),
    });
    writer.end();
    const message = { ...begunMessage(id, request.model), content: blocks.blocks, ...endedMessage(result) };
    return c.json(message, 200);
  });
  app.openapi(count, async (c) => {
    const sent = c.req.valid('json');
    const pdfs = await readPdfs(sent.messages, core.documents, c.req.raw.signal);
    const { messages } = promptOf(sent, core.separator, pdfs);
    const asked = { model: sent.model, prompt: { messages }, think: false, tools: toolsIn(sent) };
    const { tokens } = await core.completions.tokenize(asked, true);
    return c.json({ input_tokens: tokens.length }, 200);
  });
}

function streamMessage(c: Context, asked: MessageTurn, core: ApiCore): Promise<Response> {
  const { prompt, request, id, isLibrary } = asked;
  const requestId = c.get('requestId');
  return eventStream({
    work: async (send, signal) => {
      const tell = (type: string, fields: object): void => send({ type, ...fields }, type);
      let used: PromptUsage | undefined;
      const begin = once(() => {
        tell('message_start', { message: begunMessage(id, request.model, used) });
        tell('ping', {});
      });
      const writer = new MessageWriter({ prompt, blocks: new MessageBlocks(send), isLibrary });
      const result = await core.completions.complete(request, {
        signal,
        onPrompt: (usage) => (used = usage),
        onDelta: (delta) => {
          begin();
          writer.write(delta);
        },
        onCall: (delta) => {
          begin();
          writer.call(delta);
        },
      });
      begin(); // an empty answer
      writer.end();
      const { stop_reason, stop_sequence, usage, ...more } = endedMessage(result);
      tell('message_delta', { delta: { stop_reason, stop_sequence }, usage, ...more });
      tell('message_stop', {});
    },
    failed: (error, send) =>
      send(messageFailure(failureOf(error, core.log, requestId), requestId).body, 'error'),
    signal: c.req.raw.signal,
    keepAliveMs: core.keepAliveMs,
  });
}

async function messageTurn(
  sent: MessageRequest,
  { separator, completions, documents }: ApiCore,
  signal: AbortSignal,
): Promise<MessageTurn> {
  const { model, max_tokens, stop_sequences } = sent;
  if (documentsIn(sent.messages).length > 0 && completions.model(model).kind === 'library')
    throw new Refusal(400, 'A library answers from its own documents: send others to a model.');
  if (sent.thread)
    throw new Refusal(400, 'thread is not supported: send all messages.', {
      param: 'thread',
      code: NO_THREADS,
    });
  const own = ownOf(sent);
  const prompt = promptOf(sent, separator, await readPdfs(sent.messages, documents, signal));
  return {
    prompt,
    isLibrary: isLibraryName(model),
    id: `msg_${randomUUID()}`,
    request: {
      model,
      prompt: { messages: prompt.messages },
      maxTokens: max_tokens,
      ...samplingOf(sent),
      tools: toolsIn(sent),
      stop: stop_sequences?.filter((text) => text !== ''),
      // An answer must not contain thoughts unless the client requested thinking.
      think: false,
      ...own,
    },
  };
}

function toolsIn({ tools, tool_choice: choice }: CountRequest): CompletionRequest['tools'] {
  const { type = 'auto', name = '', disable_parallel_tool_use: alone = false } = choice ?? {};
  const choices = { auto: 'auto', none: 'none', any: 'required', tool: { name } } as const;
  return toolRequest({
    tools: (tools ?? []).map(({ input_schema: parameters, ...tool }) => ({ ...tool, parameters })),
    choice: choices[type],
    parallel: alone !== true,
  });
}
