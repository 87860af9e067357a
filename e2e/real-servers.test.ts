/**
 * Models on servers of other projects, used through the window's core. Each server is started by the command in its environment variable
 * (CONTRIBUTING.md); without one its tests are skipped.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonGrammar } from '../src-main/answering/json-grammar.ts';
import { App } from '../src-main/app.ts';
import type { CompletionRequest, CompletionResult } from '../src-main/completions/types.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import type { ErrorCode } from '../src-shared/errors.ts';
import { DOCUMENTS, QUESTION, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { readyLibrary } from './support/ready-library.ts';
import { realServer, SERVER_KEY, type RealServer } from './support/real-server.ts';

/** What a server can do, as far as servers differ. */
interface Abilities {
  /** Checks a key. */
  keys: boolean;
  /** How it refuses a model that it does not have; null: it answers with its own. */
  otherModel: ErrorCode | null;
  /** Lists the length of its context. */
  context: boolean;
  /** Counts the tokens that it did not compute again. */
  cached: boolean;
  /** Holds answers to JSON schemas. */
  json: boolean;
  /** Calls a tool when the choice demands it. */
  calls: boolean;
}

const ALL: Abilities = {
  keys: true,
  otherModel: 'REMOTE_MODEL',
  context: true,
  cached: true,
  json: true,
  calls: true,
};
const SERVERS: [name: string, variable: string, abilities: Abilities][] = [
  ['llama-server', 'KVASIR_REAL_LLAMA_SERVER', { ...ALL, otherModel: null }],
  ['vLLM', 'KVASIR_REAL_VLLM', ALL],
  [
    'transformers serve',
    'KVASIR_REAL_TRANSFORMERS',
    { keys: false, otherModel: 'REMOTE_FAILED', context: false, cached: false, json: false, calls: false },
  ],
];

const EVERYTHING = { scope: { libraryIds: [], documentIds: [] } };
const LONG = 'Write a very long story about Mara and the Oslo office, with many people in it.';
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Porto'] } },
  required: ['city'],
  additionalProperties: false,
} as const;

describe.each(SERVERS)('%s', (name, variable, able) => {
  const command = process.env[variable];
  if (command === undefined || command === '') {
    test.skip(`is not tried: ${variable} has no command that starts ${name}`);
    return;
  }

  let dir: string;
  let app: App;
  let server: RealServer;
  let model: string;
  let contextTokens: number | null;

  beforeAll(async () => {
    dir = tempDir();
    server = await realServer(command);
    await server.start();
    // Longer than two blocks of vLLM on a processor (128 tokens), because it reuses whole blocks.
    const systemPrompt = 'Answer briefly. '.repeat(100);
    const overrides = { maxTokens: 24, chunkTokens: 64, contextTokens: 32_768, strict: false, systemPrompt };
    app = await App.open({ dataDir: dir, overrides });
    const listed = await app.servers.ask(server.address, able.keys ? SERVER_KEY : '');
    const first = process.env[`${variable}_MODEL`] ?? listed.models[0]?.id ?? 'default';
    contextTokens = listed.models.find(({ id }) => id === first)?.contextTokens ?? null;
    model = await use({ model: first, contextTokens });
    app.start();
    await readyLibrary(app, 'Docs', writeFiles(join(dir, 'docs'), DOCUMENTS));
  });
  afterAll(async () => {
    await app.close();
    await server.kill();
    removeDir(dir);
  });

  /** Uses a model of the server; returns its name in the list. */
  async function use(asked: { model: string; key?: string; contextTokens?: number | null }): Promise<string> {
    const { address } = server;
    const key = able.keys ? SERVER_KEY : '';
    const added = AddedServerSchema.parse({ address, key, waitSeconds: 280, ...asked });
    const { id } = await app.models.addServer(added);
    await app.loader.activate(id);
    return app.models.list().find((entry) => entry.id === id)!.name;
  }

  async function ask(question: string, conversation = app.chat.create(EVERYTHING).id): Promise<Message> {
    const { answerId } = app.chat.send(conversation, question);
    await app.chat.idle();
    return app.chat.get(conversation).messages.find(({ id }) => id === answerId)!;
  }

  function complete(content: string, more: Partial<CompletionRequest> = {}): Promise<CompletionResult> {
    const prompt = { messages: [{ role: 'user' as const, parts: [{ text: content }] }] };
    const { signal } = new AbortController();
    return app.completions.complete({ model, prompt, maxTokens: 24, ...more }, { signal });
  }

  test('lists its model, with the length of its context if it says it', () => {
    expect(contextTokens !== null).toBe(able.context);
  });

  test.runIf(able.keys)('refuses a wrong key, and none', async () => {
    await expect(app.servers.ask(server.address, 'wrong')).rejects.toMatchObject({ code: 'REMOTE_KEY' });
    await expect(app.servers.ask(server.address, '')).rejects.toMatchObject({ code: 'REMOTE_KEY' });
  });

  test('answers from passages in pieces, with its counts; a second turn reuses the first', async () => {
    const pieces: string[] = [];
    const end = app.events.on((event) => {
      if (event.topic === 'chat.text') pieces.push(event.payload.text);
    });
    const { id } = app.chat.create(EVERYTHING);
    const first = await ask(QUESTION, id);
    end();
    expect(first).toMatchObject({ state: 'done', failure: null });
    expect(first.citations.length).toBeGreaterThan(0);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('').trim()).toBe(first.text.trim());
    expect(first.stats!.server!.promptTokens).toBeGreaterThan(20);
    expect(first.stats!.server!.answerTokens).toBeGreaterThan(0);
    const second = await ask('And what does Jon sell?', id);
    expect(second).toMatchObject({ state: 'done', failure: null });
    const cached = second.stats!.server!.cachedTokens;
    if (able.cached) expect(cached).toBeGreaterThan(0);
    else expect(cached).toBeNull();
  });

  test('ends an answer at its limit, which is then continued, and at a stop text', async () => {
    const { id } = app.chat.create({ ...EVERYTHING, maxTokens: 4 });
    const cut = await ask(LONG, id);
    expect(cut.stats).toMatchObject({ stop: 'length', server: { answerTokens: 4 } });
    app.chat.continue(id, cut.id);
    await app.chat.idle();
    const more = app.chat.get(id).messages.at(-1)!;
    expect(more.failure).toBeNull();
    expect(more.text.startsWith(cut.text)).toBe(true);
    const whole = await complete('Count: one, two, three, four, five.', { temperature: 0 });
    const word = /\w{2,}/.exec(whole.text.slice(whole.text.indexOf(' ')))![0];
    const stopped = await complete('Count: one, two, three, four, five.', { temperature: 0, stop: [word] });
    expect(stopped).toMatchObject({ finish: 'stop', stoppedBy: word });
    expect(stopped.text).toBe(whole.text.slice(0, whole.text.indexOf(word)));
    expect(stopped.usage.completionTokens).toBeGreaterThan(0);
    expect(stopped.usage.promptTokens).toBeGreaterThan(0);
  });

  test('answers without a limit of tokens', async () => {
    const { finish, text } = await complete('Say hello.', { maxTokens: undefined, stop: ['.', '!', '\n'] });
    expect([finish, text !== '']).toEqual(['stop', true]);
  });

  test('holds an answer to a JSON schema, or the answer fails', async () => {
    const json = { schema: SCHEMA, grammar: jsonGrammar(SCHEMA) };
    const asked = complete('Where does Mara work? She works in Oslo.', { json });
    if (able.json) expect((await asked).text).toMatch(/^\s*\{\s*"city"\s*:\s*"(Oslo|Porto)"\s*\}\s*$/);
    else await expect(asked).rejects.toMatchObject({ code: 'REMOTE_FAILED' });
  });

  test.runIf(able.calls)('calls a tool, and answers with its result', async () => {
    // vLLM holds only the calls of strict tools to their schemas.
    const about = { description: 'Finds the city of a person.', parameters: PERSON, strict: true };
    const tool = { name: 'find_city', ...about };
    const tools = { tools: [tool], choice: 'required' as const, parallel: false };
    const asked = { role: 'user' as const, parts: [{ text: 'In which city does Mara work?' }] };
    const called = await complete(asked.parts[0]!.text, { tools, maxTokens: 200 });
    expect(called.finish).toBe('tool_calls');
    expect(called.calls[0]).toMatchObject({ name: 'find_city' });
    expect(JSON.parse(called.calls[0]!.arguments)).toEqual({ person: expect.any(String) as string });
    // A small model may call more often than once, even where the request forbids it.
    const results = called.calls.map(({ id }) => ({
      role: 'tool' as const,
      parts: [{ text: 'Oslo' }],
      callId: id,
    }));
    const messages = [asked, { role: 'assistant' as const, parts: [], calls: called.calls }, ...results];
    const answer = await complete('', { prompt: { messages }, tools: { ...tools, choice: 'none' } });
    expect(answer.text).not.toBe('');
  });

  test('embeds nothing: that is done here', async () => {
    const asked = app.vectors.embed(model, ['Oslo'], new AbortController().signal);
    await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test.runIf(able.context)('says that a prompt is too long', async () => {
    await use({ model: modelOf(), contextTokens: null });
    const asked = complete('a b c d '.repeat(Math.ceil(contextTokens! / 3)));
    await expect(asked).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW' });
    await use({ model: modelOf(), contextTokens });
  });

  test.runIf(able.otherModel !== null)('says that it does not have a model', async () => {
    const known = modelOf();
    await use({ model: 'no-such-model' });
    expect((await ask(QUESTION)).failure).toMatchObject({ code: able.otherModel });
    await use({ model: known, contextTokens });
  });

  test('stopping an answer keeps its text', async () => {
    const { id } = app.chat.create({ ...EVERYTHING, maxTokens: 2000 });
    app.chat.send(id, LONG);
    await expect.poll(() => app.chat.get(id).messages.at(-1)?.text ?? '', { timeout: 280_000 }).not.toBe('');
    app.chat.stop(id);
    await app.chat.idle();
    expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'stopped', failure: null });
  });

  test('is killed in mid-answer: the text is kept; when it is back, it answers', async () => {
    const { id } = app.chat.create({ ...EVERYTHING, maxTokens: 2000 });
    const { answerId } = app.chat.send(id, LONG);
    await expect.poll(() => app.chat.get(id).messages.at(-1)?.text ?? '', { timeout: 280_000 }).not.toBe('');
    await server.kill();
    await app.chat.idle();
    const cut = app.chat.get(id).messages.at(-1)!;
    expect(cut).toMatchObject({ state: 'failed', failure: { code: 'REMOTE_CUT' } });
    expect([cut.text !== '', cut.failure!.advice]).toEqual([true, expect.stringContaining('ask again')]);
    expect((await ask(QUESTION)).failure).toMatchObject({ code: 'REMOTE_UNREACHABLE' });
    await server.start();
    app.chat.setOptions(id, { ...EVERYTHING, maxTokens: 24 });
    const again = app.chat.regenerate(id, answerId);
    await app.chat.idle();
    const answer = app.chat.get(id).messages.find((each) => each.id === again.answerId);
    expect(answer).toMatchObject({ state: 'done', failure: null });
    expect(app.models.list().find(({ active }) => active)?.failure).toBeNull();
  });

  function modelOf(): string {
    return app.models.list().find(({ name: each }) => each === model)!.server!.model;
  }
});

const PERSON = {
  type: 'object',
  properties: { person: { type: 'string' } },
  required: ['person'],
  additionalProperties: false,
};
