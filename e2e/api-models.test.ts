/** The API with the user's models: an embedding model, a reranker, and one whose answers never end. */
import { embedMany } from 'ai';
import { createOpenAI } from '@ai-sdk/openai';
import { join } from 'node:path';
import OpenAI, { APIUserAbortError, BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { randomModel } from '../tools/random-model/random-model.ts';
import { makeModel, removeDir, tempDir } from './cli-support.ts';
import { endApi, KEY, serveApi, useModel, type ApiServer } from './support/api-server.ts';
import { BERT } from './support/small-bert.ts';

let dir: string;
let server: ApiServer;
let client: OpenAI;
let chatModel: string;
let embedder: string;

beforeAll(async () => {
  dir = tempDir();
  chatModel = await useModel(dir, makeModel(join(dir, 'endless.gguf'), { layers: 8, embd: 256, ff: 512 }));
  embedder = await useModel(dir, randomModel({ ...BERT, context: 64, pooling: 1 }, dir));
  await useModel(dir, randomModel({ ...BERT, context: 64, pooling: 4 }, dir), 'Judge');
  server = await serveApi(dir);
  client = new OpenAI({ baseURL: server.baseURL, apiKey: KEY, maxRetries: 0 });
  const isListed = async (): Promise<boolean> =>
    (await client.models.list()).data.some(({ id }) => id === 'Judge');
  await vi.waitUntil(isListed, { timeout: 60_000, interval: 100 });
});
afterAll(async () => {
  await endApi(server);
  removeDir(dir);
});

describe('vectors', () => {
  const input = ['red', 'green', 'red'];

  test('are the same as numbers and in base64, one unit vector per text', async () => {
    // The client requests base64 by default.
    const packed = await client.embeddings.create({ model: embedder, input });
    const plain = await client.embeddings.create({ model: embedder, input, encoding_format: 'float' });
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(
      plain.data.map(({ embedding }) => embedding),
    );
    const [red = [], green = [], again = []] = plain.data.map(({ embedding }) => embedding);
    expect([red.length, Math.hypot(...red)]).toEqual([BERT.embd, expect.closeTo(1, 5)]);
    expect(again).toEqual(red);
    expect(green).not.toEqual(red);
    expect(plain.usage.total_tokens).toBeGreaterThanOrEqual(3);
  });

  test('are available through the AI SDK', async () => {
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey: KEY });
    const { embeddings } = await embedMany({ model: openai.embedding(embedder), values: input });
    expect(embeddings).toHaveLength(3);
    expect(embeddings[0]).toEqual(embeddings[2]);
  });

  test('need texts that fit the model', async () => {
    const long = 'red '.repeat(500);
    await expect(client.embeddings.create({ model: embedder, input: long })).rejects.toThrow(BadRequestError);
    await expect(client.embeddings.create({ model: embedder, input, dimensions: 8 })).rejects.toMatchObject({
      param: 'dimensions',
    });
  });

  test('rank documents', async () => {
    const body = { model: embedder, query: 'red', documents: ['green', 'red', 'blue'], top_n: 2 };
    const ranking = await client.post<{ results: { index: number; relevance_score: number }[] }>('/rerank', {
      body,
    });
    expect(ranking.results).toHaveLength(2);
    expect(ranking.results[0]).toEqual({ index: 1, relevance_score: expect.closeTo(1, 5) as number });
  });
});

test('a reranker scores documents from 0 to 1, the same whatever their order', async () => {
  type Ranking = { results: { index: number; relevance_score: number }[] };
  const documents = ['a green tree', 'a red car', 'red '.repeat(500)];
  const rank = (given: string[]): Promise<Ranking> =>
    client.post('/rerank', { body: { model: 'Judge', query: 'red', documents: given } });
  const { results } = await rank(documents);
  const scores = results.map(({ relevance_score: score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  for (const score of scores) expect(score > 0 && score < 1).toBe(true);
  const again = (await rank(documents.toReversed())).results;
  expect(again).toEqual(results.map((result) => ({ ...result, index: 2 - result.index })));
  const { data } = await client.models.list();
  expect(data.find(({ id }) => id === 'Judge')).toMatchObject({ kind: 'reranker' });
});

describe('a client that disconnects', () => {
  const messages = [{ role: 'user' as const, content: 'Once' }];
  const asked = (): Omit<OpenAI.ChatCompletionCreateParams, 'stream'> => ({ model: chatModel, messages });

  async function metric(name: string): Promise<string | undefined> {
    const headers = { Authorization: `Bearer ${KEY}` };
    const text = await (await fetch(`${server.origin}/metrics`, { headers })).text();
    return new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
  }
  const running = () => metric('kvasir_queue_running');
  /** Number of completed answers. */
  const made = () => metric('kvasir_ttft_seconds_count');

  test('during a stream ends the computation', async () => {
    const stream = await client.chat.completions.create({ ...asked(), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await expect.poll(running).toBe('0');
  });

  test('before an answer begins ends it as well, and waiting requests proceed', async () => {
    const abort = new AbortController();
    const first = client.chat.completions.create(asked(), { signal: abort.signal });
    const left = expect(first).rejects.toThrow(APIUserAbortError);
    await expect.poll(running, { interval: 5 }).toBe('1');
    const next = client.chat.completions.create({ ...asked(), max_completion_tokens: 2 });
    abort.abort();
    await left;
    expect((await next).usage?.completion_tokens).toBe(2);
    await expect.poll(running).toBe('0');
  });

  test('of MCP ends its question to a library', async () => {
    const ask = (abort: AbortController, name: string, input: object): Promise<Response> =>
      fetch(`${server.origin}/mcp`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${KEY}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: input },
        }),
        signal: abort.signal,
      });
    const question = 'Where does Project Polaris run?';
    const library = 'Sample library';
    const isRead = async (): Promise<string> =>
      (await ask(new AbortController(), 'search', { query: question, library })).text();
    await expect.poll(isRead, { timeout: 60_000, interval: 200 }).toContain('document_id');
    const before = await made();
    const abort = new AbortController();
    await ask(abort, 'ask', { question, library, max_tokens: 4096 });
    await expect.poll(running, { interval: 5 }).toBe('1');
    abort.abort();
    await expect.poll(running).toBe('0');
    expect(await made()).toBe(before);
  });
});
