/** Misbehaving servers: each failure has an error message, and no written text is lost. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANY_OBJECT, jsonGrammar, type JsonFormat } from '../src-main/answering/json-grammar.ts';
import { App } from '../src-main/app.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import type { ErrorCode } from '../src-shared/errors.ts';
import { DOCUMENTS, QUESTION, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { readyLibrary } from './support/ready-library.ts';
import { begin, event, hostileServer, refuse, stream, type HostileServer } from './support/hostile-server.ts';

const KEY = 'sk-hostile-0123456789abcdef';
const EVERYTHING = { scope: { libraryIds: [], documentIds: [] } };

let dir: string;
let app: App;
let server: HostileServer;

beforeAll(async () => {
  dir = tempDir();
  server = await hostileServer();
  app = await App.open({ dataDir: dir, overrides: { maxTokens: 40, chunkTokens: 64, strict: false } });
  await use({ address: server.address });
  app.start();
  await readyLibrary(app, 'Docs', writeFiles(join(dir, 'docs'), DOCUMENTS));
});
afterEach(() => {
  server.heard.length = 0;
  server.left = 0;
});
afterAll(async () => {
  await app.close();
  await server.close();
  removeDir(dir);
});

/** Selects a server's model with a timeout of 1 s. */
async function use(asked: { address: string; model?: string; separator?: string }): Promise<string> {
  const added = AddedServerSchema.parse({ model: 'big', key: KEY, waitSeconds: 1, ...asked });
  const { id } = await app.models.addServer(added);
  await app.loader.activate(id);
  return id;
}

async function ask(question = QUESTION): Promise<Message> {
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, question);
  await app.chat.idle();
  const { messages } = app.chat.get(id);
  expect(messages[0]).toMatchObject({ role: 'user', text: question });
  return messages.find((message) => message.id === answerId)!;
}

/** A message and advice: on one line each, and without the key. */
function expectTold({ state, failure }: Message, code: ErrorCode, says: RegExp): void {
  expect(state).toBe('failed');
  expect(failure).toMatchObject({ code, message: expect.stringMatching(says) as string });
  expect(failure?.message).toMatch(/^[^\n]+\.$/);
  expect(failure?.advice).toMatch(/^[^\n]+\.$/);
  expect(JSON.stringify(failure)).not.toContain(KEY);
}

const json = (response: ServerResponse, body: string, type = 'application/json', status = 200): void => {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
};

test('a correct server receives messages with the passages as text, its key, and nothing about this machine', async () => {
  const usage = { prompt_tokens: 90, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 64 } };
  server.answer = (response) => stream(response, ['Fine', '.'], usage);
  const message = await ask();
  expect(message).toMatchObject({ state: 'done', text: 'Fine.' });
  expect(message.stats?.server).toEqual({ promptTokens: 90, cachedTokens: 64, answerTokens: 2 });
  const [{ url, headers, body } = { url: '', headers: {}, body: {} }] = server.heard;
  expect(url).toBe('/v1/chat/completions');
  expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'user-agent': 'Kvasir' });
  expect(Object.keys(headers).filter((name) => name.startsWith('x-') || name.startsWith('openai'))).toEqual(
    [],
  );
  expect(body).toMatchObject({ model: 'big', stream: true, max_tokens: 40, temperature: 0 });
  expect(body.messages).toHaveLength(1);
  const { role, content } = body.messages![0]!;
  expect(role).toBe('user');
  expect(content).toMatch(new RegExp(`Question: ${QUESTION.replace('?', '\\?')}$`));
  for (const { text } of message.citations) expect(content).toContain(text);
});

test("passages are joined by LMCache's separator", async () => {
  server.answer = (response) => stream(response, ['Fine.']);
  await use({ address: server.address, model: 'lmcache', separator: ' # # ' });
  const { citations } = await ask();
  const passages = citations.map(({ text }) => text).join(' # # ');
  expect(server.heard[0]?.body.messages?.[0]?.content).toBe(` # # ${passages} # # Question: ${QUESTION}`);
  await use({ address: server.address });
});

test('thoughts are shown as thoughts in either format, and are not sent back', async () => {
  const { id } = app.chat.create(EVERYTHING);
  const thinks = async (answer: (response: ServerResponse) => void): Promise<Message> => {
    server.answer = answer;
    const { answerId } = app.chat.send(id, QUESTION);
    await app.chat.idle();
    return app.chat.get(id).messages.find((message) => message.id === answerId)!;
  };
  const apart = await thinks((response) => {
    begin(response, []);
    response.write(event({ reasoning_content: 'Let me ' }) + event({ reasoning: 'see.' }));
    response.end(`${event({ content: 'Riga.' })}${event({}, 'stop')}data: [DONE]\n\n`);
  });
  expect(apart).toMatchObject({ text: 'Riga.', thinking: { text: 'Let me see.' } });
  const within = await thinks((response) => stream(response, ['<think>Hm', 'm.</think>', '\n\nRiga.']));
  expect(within).toMatchObject({ text: 'Riga.', thinking: { text: 'Hmm.' } });
  const sent = server.heard.at(-1)?.body.messages ?? [];
  expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(sent[1]?.content).toBe('Riga.');
});

test('a JSON schema is sent as response_format; an answer of text fails, even if it is cut', async () => {
  server.answer = (response) => stream(response, ['{"city":"Oslo"}']);
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const model = app.models.list().find(({ active }) => active)!.name;
  const prompt = { messages: [{ role: 'user' as const, parts: [{ text: QUESTION }] }] };
  const { signal } = new AbortController();
  const complete = (json: JsonFormat) => app.completions.complete({ model, prompt, json }, { signal });
  expect((await complete({ schema, grammar: jsonGrammar(schema) })).text).toBe('{"city":"Oslo"}');
  await complete({ grammar: ANY_OBJECT });
  expect(server.heard.map(({ body }) => body.response_format)).toEqual([
    { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    { type: 'json_object' },
  ]);
  const cut = (text: string) => {
    server.answer = (response) => {
      begin(response, [text]);
      response.end(`${event({}, 'length')}data: [DONE]\n\n`);
    };
    return complete({ schema, grammar: jsonGrammar(schema) });
  };
  expect(await cut('{"city":')).toMatchObject({ text: '{"city":', finish: 'length' });
  await expect(cut('Mara works')).rejects.toMatchObject({ code: 'REMOTE_FAILED' });
});

test('tools are sent with strict where the client set it, which vLLM needs to hold calls to their schemas', async () => {
  const parameters = { type: 'object', properties: { person: { type: 'string' } } };
  const tools = [
    { name: 'find', parameters, strict: true },
    { name: 'list', parameters, strict: false },
    { name: 'count', parameters },
  ];
  const model = app.models.list().find(({ active }) => active)!.name;
  const prompt = { messages: [{ role: 'user' as const, parts: [{ text: QUESTION }] }] };
  const request = { model, prompt, tools: { tools, choice: 'auto' as const, parallel: true } };
  await app.completions.complete(request, { signal: new AbortController().signal });
  expect(server.heard.map(({ body }) => body.tools)).toEqual([
    tools.map((tool) => ({ type: 'function', function: tool })),
  ]);
});

test.each<[string, (response: ServerResponse) => void, ErrorCode, RegExp]>([
  [
    'a wrong key',
    (r) => refuse(r, 401, { message: `Incorrect key: ${KEY}.` }),
    'REMOTE_KEY',
    /refuses the key/,
  ],
  ['a missing model', (r) => refuse(r, 404, { message: 'no such model' }), 'REMOTE_MODEL', /no model “big”/],
  [
    'an overlong prompt',
    (r) =>
      refuse(r, 400, {
        message: "This model's maximum context length is 9 tokens.",
        code: 'context_length_exceeded',
      }),
    'CONTEXT_OVERFLOW',
    /do not fit the context/,
  ],
  [
    'a longer answer than the context',
    (r) => refuse(r, 400, { message: 'max_tokens=40000 cannot be greater than max_model_len=4096.' }),
    'CONTEXT_OVERFLOW',
    /do not fit the context/,
  ],
  [
    'an oversized body',
    (r) => refuse(r, 413, { message: 'Payload too large' }),
    'CONTEXT_OVERFLOW',
    /do not fit the context/,
  ],
  ['an answer in one piece', (r) => json(r, '{"choices": []}'), 'REMOTE_PROTOCOL', /sent application\/json/],
  [
    'too many requests',
    (r) => refuse(r, 429, { message: 'slow down' }, { 'retry-after': '7' }),
    'REMOTE_BUSY',
    /no more requests/,
  ],
  [
    'an empty account',
    (r) => refuse(r, 429, { message: 'You exceeded your current quota.', code: 'insufficient_quota' }),
    'REMOTE_QUOTA',
    /used up/,
  ],
  [
    'a server that is loading',
    (r) => refuse(r, 503, { message: 'Loading model' }),
    'REMOTE_BUSY',
    /still loading/,
  ],
  [
    'an internal error',
    (r) => refuse(r, 500, { message: `it broke\nwith ${KEY}` }),
    'REMOTE_FAILED',
    /could not answer \(500: it broke with …\)/,
  ],
  [
    'an error outside OpenAI’s format',
    (r) => json(r, '{"object": "error", "message": "The pump broke."}', 'application/json', 500),
    'REMOTE_FAILED',
    /could not answer \(500: The pump broke\)/,
  ],
  [
    'FastAPI’s detail',
    (r) => json(r, '{"detail": "Pinned to small."}', 'application/json', 400),
    'REMOTE_FAILED',
    /could not answer \(400: Pinned to small\)/,
  ],
  [
    'a page',
    (r) => json(r, '<!doctype html><p>Sign in', 'text/html; charset=utf-8'),
    'REMOTE_PROTOCOL',
    /it sent text\/html/,
  ],
  [
    'an error page',
    (r) => void r.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
    'REMOTE_FAILED',
    /\(502\)/,
  ],
  [
    'broken JSON',
    (r) => json(r, 'data: {"choices": [\n\n', 'text/event-stream'),
    'REMOTE_PROTOCOL',
    /not JSON/,
  ],
  [
    'JSON of another kind',
    (r) => json(r, 'data: {"choices": "none"}\n\n', 'text/event-stream'),
    'REMOTE_PROTOCOL',
    /does not match OpenAI’s schema/,
  ],
  ['an empty stream', (r) => json(r, 'data: [DONE]\n\n', 'text/event-stream'), 'REMOTE_PROTOCOL', /is empty/],
  [
    'an error in the stream',
    (r) =>
      json(r, 'data: {"error": {"message": "CUDA out of memory", "code": 500}}\n\n', 'text/event-stream'),
    'REMOTE_FAILED',
    /CUDA out of memory/,
  ],
  [
    'an error in the stream without a code',
    (r) => json(r, 'data: {"error": {"message": "CUDA out of memory"}}\n\n', 'text/event-stream'),
    'REMOTE_FAILED',
    /could not answer \(CUDA out of memory\)/,
  ],
  [
    'an error in the stream that is a text',
    (r) => json(r, 'data: {"error": "CUDA out of memory"}\n\n', 'text/event-stream'),
    'REMOTE_FAILED',
    /could not answer \(CUDA out of memory\)/,
  ],
  [
    'a redirect',
    (r) => void r.writeHead(307, { location: 'http://127.0.0.1:9/v1/chat/completions' }).end(),
    'REMOTE_PROTOCOL',
    /redirected the request/,
  ],
  ['a dropped connection', (r) => void r.socket?.destroy(), 'REMOTE_UNREACHABLE', /cannot be reached/],
  ['silence', (r) => begin(r, []), 'REMOTE_SLOW', /no first token within 1 seconds/],
])('%s is reported, and not retried', async (_what, answer, code, says) => {
  server.answer = answer;
  const message = await ask();
  expectTold(message, code, says);
  expect(server.heard).toHaveLength(1);
  if (code === 'REMOTE_BUSY' && /7/.test(message.failure!.advice))
    expect(message.failure!.advice).toMatch(/in 7 seconds/);
  expect(app.models.list().find(({ active }) => active)?.failure).toMatchObject({ code });
});

test.each<[string, (response: ServerResponse) => void, ErrorCode, RegExp]>([
  ['cut', (r) => void setTimeout(() => r.socket?.destroy(), 50), 'REMOTE_CUT', /in the middle of the answer/],
  ['ended without its end marker', (r) => void r.end(), 'REMOTE_CUT', /in the middle of the answer/],
  ['silent', () => undefined, 'REMOTE_SLOW', /nothing more within 1 seconds/],
  ['broken', (r) => void r.end('data: {"oops\n\n'), 'REMOTE_PROTOCOL', /not JSON/],
])('an answer that is %s midway keeps its text, and can be retried', async (_how, then, code, says) => {
  server.answer = (response) => {
    begin(response, ['It is ', 'in Riga']);
    then(response);
  };
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, QUESTION);
  await app.chat.idle();
  const message = app.chat.get(id).messages.find((each) => each.id === answerId)!;
  expectTold(message, code, says);
  expect(message.text).toBe('It is in Riga');
  expect(message.citations.length).toBeGreaterThan(0);
  server.answer = (response) => stream(response, ['Riga.']);
  const again = app.chat.regenerate(id, answerId);
  await app.chat.idle();
  expect(app.chat.get(id).messages.find((each) => each.id === again.answerId)).toMatchObject({
    state: 'done',
    text: 'Riga.',
  });
  expect(app.models.list().find(({ active }) => active)?.failure).toBeNull();
});

test('stopping ends the request; the text is kept and can be continued', async () => {
  server.answer = (response) => begin(response, ['It is ', 'in Riga']);
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, QUESTION);
  await expect.poll(() => app.chat.get(id).messages.at(-1)?.text).toBe('It is in Riga');
  app.chat.stop(id);
  await app.chat.idle();
  await expect.poll(() => server.left).toBe(1);
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({
    state: 'stopped',
    failure: null,
    text: 'It is in Riga',
  });
  server.answer = (response) => stream(response, [', I think.']);
  app.chat.continue(id, answerId);
  await app.chat.idle();
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'done', text: 'It is in Riga, I think.' });
  const sent = server.heard[1]?.body.messages ?? [];
  expect(sent.slice(1)).toMatchObject([
    { role: 'assistant', content: 'It is in Riga' },
    { role: 'user', content: expect.stringMatching(/Go on exactly/) as string },
  ]);
});

test('stopping before the first token ends the request as well', async () => {
  server.answer = () => undefined;
  const { id } = app.chat.create(EVERYTHING);
  app.chat.send(id, QUESTION);
  await expect.poll(() => server.heard.length).toBe(1);
  app.chat.stop(id);
  await app.chat.idle();
  await expect.poll(() => server.left).toBe(1);
  expect(app.chat.get(id).messages.at(-1)).toMatchObject({ state: 'stopped', failure: null, text: '' });
});

test('an untrusted certificate, an unknown host, and a closed port: nothing is sent', async () => {
  const secret = await hostileServer({ tls: true });
  await use({ address: secret.address });
  expectTold(await ask(), 'REMOTE_CERTIFICATE', /not signed by an authority this computer trusts/);
  expect(secret.heard).toEqual([]);
  await use({ address: 'http://no-such-host.invalid/v1' });
  expectTold(await ask(), 'REMOTE_UNREACHABLE', /Host .* not found/);
  await use({ address: secret.address.replace('https', 'http') });
  expect((await ask()).failure?.code).toMatch(/^REMOTE_/);
  await secret.close();
  await use({ address: secret.address });
  expectTold(await ask(), 'REMOTE_UNREACHABLE', /cannot be reached \(ECONNREFUSED\)/);
  await use({ address: server.address });
});

test('an invalid model list, and invalid addresses', async () => {
  const list = (address = server.address) => app.servers.ask(address, KEY);
  server.answer = (response) => json(response, '<html>', 'text/html');
  await expect(list()).rejects.toMatchObject({ code: 'REMOTE_PROTOCOL' });
  server.answer = (response) =>
    json(
      response,
      '{"data":[{"id":"a","max_model_len":4096},{"nothing":1},{"id":"b"},{"id":"text-embedding-3-small"}]}',
    );
  // A model for embedding cannot chat, so it is not offered.
  expect((await list()).models).toEqual([
    { id: 'a', contextTokens: 4096 },
    { id: 'b', contextTokens: null },
  ]);
  for (const address of ['ftp://x', 'http://u:p@x', 'http://x?k=1', '::'])
    await expect(list(address)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
});

test('after all tests the key is in one file only', () => {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
  const holding = files.filter((path) => statSync(path).isFile() && readFileSync(path).includes(KEY));
  expect(holding).toEqual([app.paths.serverKeys]);
});
