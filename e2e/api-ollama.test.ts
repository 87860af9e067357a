/** Ollama's own client with the real server: the demo model, and an embedding model. */
import { Ollama } from 'ollama';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { randomModel } from '../tools/random-model/random-model.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { all, DEMO, endApi, KEY, LIBRARY, serveApi, useModel, type ApiServer } from './support/api-server.ts';
import { readyData } from './support/ready-data.ts';
import { BERT } from './support/small-bert.ts';

const QUESTION = 'Mara Lind works in the Oslo office.\n\nQuestion: Where does Mara Lind work?';
const GREEDY = { temperature: 0, num_predict: 24 };

let dir: string;
let server: ApiServer;
let ollama: Ollama;
let embedder: string;

beforeAll(async () => {
  dir = await readyData(tempDir());
  embedder = await useModel(dir, randomModel({ ...BERT, context: 64, pooling: 1 }, dir));
  server = await serveApi(dir);
  ollama = new Ollama({ host: server.origin, headers: { Authorization: `Bearer ${KEY}` } });
  await vi.waitUntil(async () => (await ollama.list()).models.length === 3, {
    timeout: 60_000,
    interval: 100,
  });
});
afterAll(async () => {
  await endApi(server);
  removeDir(dir);
});

const chat = { model: DEMO, messages: [{ role: 'user', content: QUESTION }], options: GREEDY };

test('models and libraries are listed, shown and running', async () => {
  const { models } = await ollama.list();
  expect(models.map(({ name }) => name).sort()).toEqual(
    [DEMO, embedder, LIBRARY].map((name) => `${name}:latest`).sort(),
  );
  expect(
    models.every(({ size, modified_at }) => size > 0 && !Number.isNaN(Date.parse(String(modified_at)))),
  ).toBe(true);
  const shown = await ollama.show({ model: `${DEMO}:latest` });
  expect(shown.capabilities).toEqual(['completion']);
  expect((await ollama.show({ model: embedder })).capabilities).toEqual(['embedding']);
  expect((await ollama.ps()).models.map(({ name }) => name)).toContain(`${DEMO}:latest`);
  expect((await ollama.version()).version).toMatch(/^\d+\.\d+/);
});

test('a chat is answered whole and streamed, with counts and durations', async () => {
  const whole = await ollama.chat(chat);
  expect(whole.message.content).toMatch(/Oslo/);
  expect(whole).toMatchObject({ done: true, done_reason: 'stop' });
  expect(whole.prompt_eval_count).toBeGreaterThan(10);
  expect(whole.eval_count).toBeGreaterThan(1);
  expect(whole.total_duration).toBeGreaterThan(whole.eval_duration);
  const pieces = await all(await ollama.chat({ ...chat, stream: true }));
  expect(pieces.map(({ message }) => message.content).join('')).toBe(whole.message.content);
  expect(pieces.length).toBeGreaterThan(3);
  const probable = await ollama.chat({ ...chat, logprobs: true, top_logprobs: 2 });
  expect(probable.logprobs).toHaveLength(whole.eval_count);
  expect(probable.logprobs?.[0]?.top_logprobs).toHaveLength(2);
  expect(pieces.at(-1)).toMatchObject({ done: true, done_reason: 'stop', eval_count: whole.eval_count });
});

test('a prompt is answered, and continued where it is raw', async () => {
  const asked = { model: DEMO, prompt: QUESTION, options: GREEDY };
  const answer = await ollama.generate(asked);
  expect(answer.response).toMatch(/Oslo/);
  const longer = await ollama.generate({ ...asked, system: 'Answer in short.' });
  expect(longer.prompt_eval_count).toBeGreaterThan(answer.prompt_eval_count);
  const options = { temperature: 0, num_predict: 3 };
  const raw = { model: DEMO, prompt: 'Mara Lind works in the', raw: true, options };
  const pieces = await all(await ollama.generate({ ...raw, stream: true }));
  expect(pieces.at(-1)).toMatchObject({ done: true, done_reason: 'length', eval_count: 3 });
});

test('an answer keeps to a schema', async () => {
  const format = {
    type: 'object',
    properties: { place: { type: 'string', maxLength: 20 } },
    required: ['place'],
    additionalProperties: false,
  };
  const { message } = await ollama.chat({ ...chat, format, options: { temperature: 0 } });
  expect(JSON.parse(message.content)).toEqual({ place: expect.any(String) as string });
});

test('a library answers with citations', async () => {
  const messages = [{ role: 'user', content: 'Where does Project Polaris run?' }];
  const answer = await ollama.chat({ model: LIBRARY, messages, options: GREEDY });
  const { citations } = answer as unknown as { citations: { text: string }[] };
  expect(citations.some(({ text }) => text.includes('Project Polaris'))).toBe(true);
});

test('texts are embedded, the same by both routes', async () => {
  const { embeddings } = await ollama.embed({ model: embedder, input: ['red', 'green', 'red'] });
  expect(embeddings.map((vector) => vector.length)).toEqual([BERT.embd, BERT.embd, BERT.embd]);
  expect(embeddings[2]).toEqual(embeddings[0]);
  expect((await ollama.embeddings({ model: embedder, prompt: 'red' })).embedding).toEqual(embeddings[0]);
});

test('what is not possible is refused with the reason', async () => {
  const picture = [{ role: 'user', content: 'What is this?', images: ['iVBORw0KGgo='] }];
  await expect(ollama.chat({ model: DEMO, messages: picture })).rejects.toMatchObject({
    status_code: 400,
    message: expect.stringContaining('images is not supported') as string,
  });
  await expect(ollama.chat({ ...chat, model: 'none' })).rejects.toMatchObject({ status_code: 404 });
  const stranger = new Ollama({ host: server.origin });
  await expect(stranger.list()).rejects.toMatchObject({ status_code: 401 });
});

test('a client that stops a stream ends the computation', async () => {
  const endless = { ...chat, options: { temperature: 0, num_predict: 2000 } };
  const stream = await ollama.chat({ ...endless, stream: true });
  const read = async (): Promise<void> => {
    for await (const piece of stream) if (piece.message.content !== '') stream.abort();
  };
  await expect(read()).rejects.toThrow(/abort/i);
  const running = async (): Promise<string | undefined> => {
    const headers = { Authorization: `Bearer ${KEY}` };
    const text = await (await fetch(`${server.origin}/metrics`, { headers })).text();
    return /^kvasir_queue_running (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(running).toBe('0');
});
