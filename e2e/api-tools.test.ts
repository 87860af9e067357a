/**
 * Loops of two steps with tools: the clients that agents are built with, the real server, and the demo model with a template that has tools. That
 * model does not decide to call by itself: the first request of each loop demands a call, the rest leaves it free.
 */
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { createOpenAI } from '@ai-sdk/openai';
import { tool as langchainTool } from '@langchain/core/tools';
import { HumanMessage, type AIMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI, { BadRequestError } from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ToolRequest } from '../src-main/answering/tools.ts';
import { App } from '../src-main/app.ts';
import type { CompletionMessage } from '../src-main/completions/types.ts';
import { TOOL_TEMPLATE } from '../src-main/testing/chat-templates.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { all, endApi, KEY, serveApi, useModel, type ApiServer } from './support/api-server.ts';
import { withMetadata } from './support/gguf-metadata.ts';

const DEMO_FILE = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');
const QUESTION = 'Question: Where does Mara Lind work?';
/** The demo model answers a question behind its passages. */
const FOUND = `Mara Lind is an engineer. She works in the Oslo office.\n\n${QUESTION}`;
const TEMPLATE = TOOL_TEMPLATE.replace(/'<tool_response>.*? \}\}/, "message.content + '\\n' }}");

const Person = z.object({
  person: z.enum(['Mara Lind', 'Jon Berg']),
  year: z.int(),
});
const description = 'Finds what is known of a person.';

let dir: string;
let server: ApiServer;
let model: string;
/** The arguments of each call. */
let called: z.infer<typeof Person>[];

beforeAll(async () => {
  dir = tempDir();
  const file = join(dir, 'tools.gguf');
  const key = 'tokenizer.chat_template';
  withMetadata(DEMO_FILE, file, { without: key, values: { [key]: TEMPLATE } });
  model = await useModel(join(dir, 'data'), file, '', { sample: false });
  server = await serveApi(join(dir, 'data'));
});
afterAll(async () => {
  await endApi(server);
  removeDir(dir);
});
beforeEach(() => {
  called = [];
});

function find(given: z.infer<typeof Person>): string {
  called.push(given);
  return FOUND;
}

/** Sends requests on, and demands a call in those without a result of one. */
function demanding(choice: unknown): typeof fetch {
  return (url, init) => {
    const body = typeof init?.body === 'string' ? init.body : '';
    if (/"tool_result"|"role":"tool"|"function_call_output"/.test(body)) return fetch(url, init);
    const sent = JSON.stringify({ ...(JSON.parse(body) as object), tool_choice: choice });
    return fetch(url, { ...init, body: sent });
  };
}

function expectOneCall(): void {
  expect(called).toEqual([Person.parse(called[0])]);
}

describe('OpenAI’s client', () => {
  const open = (): OpenAI =>
    new OpenAI({ baseURL: server.baseURL, apiKey: KEY, maxRetries: 0, fetch: demanding('required') });
  const messages = [{ role: 'user' as const, content: QUESTION }];
  const asked = { temperature: 0, max_tokens: 120, messages };
  const finder = (): OpenAI.ChatCompletionFunctionTool =>
    zodFunction({ name: 'find', parameters: Person, description });

  test.each([false, true])('runs tools; streamed: %s', async (stream) => {
    const tools = [zodFunction({ name: 'find', parameters: Person, description, function: find })];
    const request = { ...asked, model, tools, parallel_tool_calls: false };
    const { completions } = open().chat;
    const runner = stream
      ? completions.runTools({ ...request, stream: true })
      : completions.runTools(request);
    expect(await runner.finalContent()).toMatch(/Oslo/);
    expectOneCall();
    const roles = runner.messages.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('a call comes in pieces', async () => {
    const more = { tools: [finder()], parallel_tool_calls: false, stream: true as const };
    const request = { ...asked, ...more, model };
    const pieces = await all(await open().chat.completions.create(request));
    const deltas = pieces.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'find' } });
    expect(deltas[0]?.id).toMatch(/^call_/);
    const given = deltas.map((delta) => (delta.index === 0 ? delta.function?.arguments : '') ?? '').join('');
    expect(Person.safeParse(JSON.parse(given)).success).toBe(true);
    expect(pieces.some(({ choices }) => choices[0]?.finish_reason === 'tool_calls')).toBe(true);
  });

  test('responses carry calls and take their outputs', async () => {
    const client = open();
    const tools = [
      { type: 'function', name: 'find', parameters: z.toJSONSchema(Person), strict: true, description },
    ] as OpenAI.Responses.Tool[];
    const request = { model, tools, temperature: 0, parallel_tool_calls: false, max_output_tokens: 120 };
    const first = await client.responses.create({ ...request, input: QUESTION });
    const call = first.output[0];
    if (call?.type !== 'function_call') throw new Error(JSON.stringify(first.output));
    const output = find(Person.parse(JSON.parse(call.arguments)));
    const events = await all(
      await client.responses.create({
        ...request,
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output }],
        stream: true,
      }),
    );
    const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    expect(text.join('')).toMatch(/Oslo/);
    expect(events.at(-1)?.type).toBe('response.completed');
    expectOneCall();
    const streamed = client.responses.stream({ ...request, input: QUESTION });
    const again = (await streamed.finalResponse()).output[0];
    expect(again).toMatchObject({ type: 'function_call', name: 'find', arguments: call.arguments });
  });

  test('some of the tools are allowed, in chat and in responses', async () => {
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: KEY, maxRetries: 0 });
    const other = zodFunction({ name: 'other', parameters: Person, description });
    const chat = await client.chat.completions.create({
      ...asked,
      model,
      tools: [other, finder()],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'find' } }] },
      },
    });
    const called = chat.choices[0]?.message.tool_calls ?? [];
    const response = await client.responses.create({
      model,
      input: QUESTION,
      temperature: 0,
      max_output_tokens: 120,
      tools: ['other', 'find'].map((name) => {
        return { type: 'function', name, parameters: z.toJSONSchema(Person), strict: true, description };
      }),
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'find' }] },
    });
    const names = [
      ...called.map((call) => (call.type === 'function' ? call.function.name : call.type)),
      ...response.output.map((item) => (item.type === 'function_call' ? item.name : item.type)),
    ];
    expect(new Set(names)).toEqual(new Set(['find']));
  });

  test('a strict schema that cannot be held is refused by its path', async () => {
    const strict = {
      name: 'f',
      strict: true,
      parameters: { type: 'object', properties: { a: { uniqueItems: true } } },
    };
    const tools = [{ type: 'function', function: strict }] as OpenAI.ChatCompletionTool[];
    const request = { ...asked, model, tools };
    await expect(open().chat.completions.create(request)).rejects.toThrow(BadRequestError);
    await expect(open().chat.completions.create(request)).rejects.toThrow(/tool f: .*#\/properties\/a/);
  });
});

test.each([false, true])('Anthropic’s tool runner; streamed: %s', async (stream) => {
  const client = new Anthropic({
    baseURL: server.origin,
    apiKey: KEY,
    maxRetries: 0,
    fetch: demanding({ type: 'any', disable_parallel_tool_use: true }),
  });
  const tools = [betaZodTool({ name: 'find', inputSchema: Person, description, run: find })];
  const messages = [{ role: 'user' as const, content: QUESTION }];
  const request = { model, max_tokens: 120, temperature: 0, tools, messages };
  const runner = stream
    ? client.beta.messages.toolRunner({ ...request, stream: true })
    : client.beta.messages.toolRunner(request);
  const { content, stop_reason: reason } = await runner.runUntilDone();
  expect(content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toMatch(/Oslo/);
  expect(reason).toBe('end_turn');
  expectOneCall();
});

describe.each(['chat', 'responses'] as const)('the AI SDK by %s', (route) => {
  const asked = () => {
    const provider = createOpenAI({
      baseURL: server.baseURL,
      apiKey: KEY,
      fetch: demanding('required'),
    });
    return {
      model: provider[route](model),
      temperature: 0,
      maxOutputTokens: 120,
      prompt: QUESTION,
      tools: { find: tool({ description, inputSchema: Person, execute: find }) },
      providerOptions: { openai: { parallelToolCalls: false, store: false } },
      stopWhen: isStepCount(3),
    };
  };

  test('goes on until there is an answer', async () => {
    const { text, steps } = await generateText(asked());
    expect(text).toMatch(/Oslo/);
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expectOneCall();
  });

  test('streams the same', async () => {
    const streamed = streamText(asked());
    expect((await all(streamed.textStream)).join('')).toMatch(/Oslo/);
    expectOneCall();
  });
});

test('LangChain', async () => {
  const chat = new ChatOpenAI({
    model,
    temperature: 0,
    maxTokens: 120,
    apiKey: KEY,
    maxRetries: 0,
    configuration: { baseURL: server.baseURL, fetch: demanding('required') },
  });
  const finder = langchainTool(find, { name: 'find', description, schema: Person });
  const bound = chat.bindTools([finder], { parallel_tool_calls: false });
  const messages: BaseMessage[] = [new HumanMessage(QUESTION)];
  for (let step = 0; step < 3; step++) {
    const answer: AIMessage = await bound.invoke(messages);
    messages.push(answer);
    for (const call of answer.tool_calls ?? []) messages.push((await finder.invoke(call)) as BaseMessage);
    if (!answer.tool_calls?.length) break;
  }
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  expect(messages.at(-1)?.text).toMatch(/Oslo/);
  expectOneCall();
});

test('a model on a server calls through Kvasir', async () => {
  const app = await App.open({ dataDir: join(dir, 'other') });
  try {
    const { id, name } = await app.models.addServer(
      AddedServerSchema.parse({ address: server.origin, model, key: KEY }),
    );
    await app.loader.activate(id);
    const parameters = z.toJSONSchema(Person) as Record<string, unknown>;
    const request = {
      model: name,
      temperature: 0,
      maxTokens: 120,
      tools: {
        tools: [{ name: 'find', description, parameters }],
        choice: { name: 'find' },
        parallel: false,
      },
    };
    const asked: CompletionMessage = { role: 'user', parts: [{ text: QUESTION }] };
    const complete = (messages: CompletionMessage[], tools?: ToolRequest) =>
      app.completions.complete(
        { ...request, prompt: { messages }, tools },
        { signal: AbortSignal.timeout(60_000) },
      );
    const { calls, finish } = await complete([asked], request.tools);
    expect([finish, calls.map((call) => call.name)]).toEqual(['tool_calls', ['find']]);
    const result = find(Person.parse(JSON.parse(calls[0]?.arguments ?? '')));
    const { text } = await complete([
      asked,
      { role: 'assistant', parts: [], calls },
      { role: 'tool', callId: calls[0]?.id, parts: [{ text: result }] },
    ]);
    expect(text).toMatch(/Oslo/);
  } finally {
    await app.close();
  }
});
