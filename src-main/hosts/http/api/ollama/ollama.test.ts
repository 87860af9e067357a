import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { TOOL_TEMPLATE } from '../../../../testing/chat-templates.ts';
import { api } from '../api.test-support.ts';

const CHAT = '/api/chat';
const GENERATE = '/api/generate';
const HELLO = { model: 'Fake', messages: [{ role: 'user', content: 'Hello' }] };
const ONCE = { model: 'Fake', prompt: 'Hello' };
const WHOLE = { stream: false };

type Line = Record<string, unknown> & { message?: { content: string; thinking?: string } };

async function bodyOf(answer: Promise<Response>): Promise<Line> {
  return (await (await answer).json()) as Line;
}

async function linesOf(answer: Promise<Response>): Promise<Line[]> {
  const text = await (await answer).text();
  expect(text).toMatch(/\n$/);
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

async function refusal(answer: Promise<Response>): Promise<[number, unknown]> {
  const response = await answer;
  return [response.status, ((await response.json()) as { error: unknown }).error];
}

describe('answers', () => {
  test('come in lines unless the request asks for a whole one, with the same text', async () => {
    const { post } = api();
    const streamed = await post(CHAT, HELLO);
    expect(streamed.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = await linesOf(Promise.resolve(streamed));
    const whole = await bodyOf(post(CHAT, { ...HELLO, ...WHOLE }));
    expect(lines.map(({ message }) => message?.content).join('')).toBe('She lives in Oslo.');
    expect(whole.message).toEqual({ role: 'assistant', content: 'She lives in Oslo.' });
    expect(lines.map(({ done }) => done)).toEqual([...lines.slice(1).map(() => false), true]);
    const generated = await linesOf(post(GENERATE, ONCE));
    expect(generated.map(({ response }) => response).join('')).toBe('She lives in Oslo.');
    for (const last of [lines.at(-1), whole, generated.at(-1)])
      expect(last).toMatchObject({
        model: 'Fake',
        created_at: '1970-01-01T00:00:05.000Z',
        done_reason: 'stop',
      });
  });

  test('end with counts, and durations in nanoseconds', async () => {
    const whole = await bodyOf(api().post(CHAT, { ...HELLO, ...WHOLE }));
    const { kvasir, eval_count, prompt_eval_count, ...rest } = whole as Record<string, number> & {
      kvasir: { ttft_ms: { total: number } };
    };
    expect([eval_count, prompt_eval_count]).toEqual([expect.any(Number), expect.any(Number)]);
    const { total_duration, load_duration, prompt_eval_duration, eval_duration } = rest;
    expect((load_duration ?? NaN) + (prompt_eval_duration ?? NaN)).toBeCloseTo(
      kvasir.ttft_ms.total * 1e6,
      -2,
    );
    expect(total_duration).toBeCloseTo(kvasir.ttft_ms.total * 1e6 + (eval_duration ?? NaN), -2);
  });

  test('have thoughts apart', async () => {
    const { post } = api({ says: '<think>Hm.</think>Yes.' });
    const asked = { ...HELLO, think: true };
    const whole = await bodyOf(post(CHAT, { ...asked, ...WHOLE }));
    expect(whole.message).toEqual({ role: 'assistant', content: 'Yes.', thinking: 'Hm.' });
    const lines = await linesOf(post(CHAT, asked));
    expect(lines.map(({ message }) => message?.thinking ?? '').join('')).toBe('Hm.');
  });

  test('are none for a request without a prompt, which has the model loaded', async () => {
    const { post, model } = api();
    for (const [path, more] of [
      [CHAT, { messages: [] }],
      [CHAT, {}],
      [GENERATE, {}],
      [GENERATE, { prompt: '' }],
    ] as const)
      expect(await bodyOf(post(path, { model: 'Fake', keep_alive: '5m', ...more }))).toMatchObject({
        done: true,
        done_reason: 'load',
      });
    expect(model.sampled).toHaveLength(0);
    expect((await post(CHAT, { model: 'none' })).status).toBe(404);
  });

  test('go on with a raw prompt as it is, and put a system message before another', async () => {
    const { post, model } = api();
    await post(GENERATE, { ...ONCE, raw: true, ...WHOLE });
    await post(GENERATE, { ...ONCE, system: 'Be kind.', ...WHOLE });
    const [raw, framed] = model.sessions.map(({ tokens }) => model.detokenize(tokens));
    expect(raw).toMatch(/^Hello/);
    expect(framed).toMatch(/Be kind\.[^]*Hello/);
  });

  test('keep the stream alive by lines that add nothing', async () => {
    const held = Promise.withResolvers<undefined>();
    const { post } = api({ keepAliveMs: 1, beforeToken: () => held.promise });
    const answer = await post(CHAT, HELLO); // begins before the first token
    held.resolve(undefined);
    const lines = await linesOf(Promise.resolve(answer));
    expect(lines[0]).toMatchObject({ message: { role: 'assistant', content: '' }, done: false });
    expect(lines.map(({ message }) => message?.content).join('')).toBe('She lives in Oslo.');
  });

  test('that fail on their way say so in a line', async () => {
    const held = Promise.withResolvers<undefined>();
    held.promise.catch(() => undefined);
    const { post } = api({ keepAliveMs: 1, beforeToken: () => held.promise });
    const answer = await post(GENERATE, ONCE);
    held.reject(new KvasirError('REMOTE_SLOW', 'Nothing came.'));
    expect((await linesOf(Promise.resolve(answer))).at(-1)).toEqual({ error: 'Nothing came.' });
  });
});

describe('requests', () => {
  test('set the sampler by their options', async () => {
    const { post, model } = api({ says: 'one two three four five' });
    const options = { temperature: 0.5, top_k: 7, min_p: 0.2, repeat_penalty: 1.3, seed: 3, num_predict: 2 };
    const hints = { num_ctx: 4096, num_thread: 4, use_mmap: true, mirostat: 0, penalize_newline: true };
    const answer = await bodyOf(post(CHAT, { ...HELLO, ...WHOLE, options: { ...options, ...hints } }));
    expect(answer).toMatchObject({ done_reason: 'length', eval_count: 2 });
    const filters = { temperature: 0.5, topK: 7, topP: 1, minP: 0.2 };
    expect(model.sampled[0]).toMatchObject(filters);
  });

  test.each([
    { format: null, options: null, think: null, tools: null, keep_alive: null, logprobs: null },
    { format: '', options: {}, tools: [], keep_alive: -1, think: 'low' },
    { options: { stop: [], num_predict: -1, seed: 0, tfs_z: 1, typical_p: 1, repeat_last_n: 64 } },
    { messages: [{ role: 'user', content: 'Hello', images: null, tool_calls: null, thinking: null }] },
    { messages: [{ role: 'assistant', content: '', tool_calls: [], images: [] }, HELLO.messages[0]] },
    { model: 'Fake:latest' },
  ])('may have %j', async (more) => {
    expect((await api().post(CHAT, { ...HELLO, ...WHOLE, ...more })).status).toBe(200);
  });

  test.each([
    [
      CHAT,
      { messages: [{ role: 'user', content: 'x', images: ['aGVsbG8='] }] },
      /messages\.0\.images.*text only/,
    ],
    [GENERATE, { images: ['aGVsbG8='] }, /images.*text only/],
    [CHAT, { tools: [{ type: 'function' }] }, /tools/],
    [CHAT, { options: { mirostat: 2 } }, /options\.mirostat/],
    [CHAT, { options: { heat: 2 } }, /options\.heat is not supported/],
    [CHAT, { format: 'xml' }, /format/],
    [CHAT, { format: { type: 'array', uniqueItems: true } }, /uniqueItems/],
    [GENERATE, { suffix: '}' }, /suffix/],
    [GENERATE, { template: '{{ .Prompt }}' }, /template/],
    [GENERATE, { context: [1, 2] }, /context.*\/api\/chat/],
  ])('%s with %j is refused by name', async (path, more, why) => {
    const base = path === CHAT ? HELLO : ONCE;
    expect(await refusal(api().post(path, { ...base, ...more }))).toEqual([400, expect.stringMatching(why)]);
  });

  test('may say that their JSON is a form, as `curl -d` does', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await api().post(CHAT, { ...HELLO, ...WHOLE }, type)).status).toBe(200);
    expect(await refusal(api().post(CHAT, '{', type))).toEqual([400, expect.any(String)]);
  });

  test('without a key, for an unknown model or path are refused in Ollama’s form', async () => {
    const { post, get } = api({ keys: ['key'] });
    expect(await refusal(post(CHAT, HELLO))).toEqual([401, expect.stringContaining('API key')]);
    const authorized = { Authorization: 'Bearer key' };
    const unknown = await refusal(post(CHAT, { ...HELLO, model: 'none' }, authorized));
    expect(unknown).toEqual([404, expect.stringContaining('no model called "none"')]);
    expect(await refusal(get('/api/blobs/x', authorized))).toEqual([404, expect.any(String)]);
  });

  test('ask a library, and get its passages', async () => {
    const messages = [{ role: 'user', content: 'Where does Mara live?' }];
    const answer = await bodyOf(api().post(CHAT, { model: 'kvasir/Notes:latest', messages, ...WHOLE }));
    expect(answer).toMatchObject({ model: 'kvasir/Notes:latest', citations: expect.any(Array) as unknown });
  });
});

describe('models', () => {
  const details = { format: 'gguf', family: 'llama', parameter_size: '1.2B', quantization_level: 'Q4_K' };

  test('are listed with facts, libraries with those of the model that answers', async () => {
    const { models } = (await (await api().get('/api/tags')).json()) as { models: Line[] };
    expect(models.map(({ name }) => name)).toEqual([
      'Fake:latest',
      'kvasir/Notes:latest',
      'kvasir/Twice:latest',
    ]);
    for (const model of models)
      expect(model).toMatchObject({
        size: 750_000_000,
        details,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
    expect(new Set(models.map(({ digest }) => digest)).size).toBe(3);
  });

  test('in use are told with their context', async () => {
    const { models } = (await (await api().get('/api/ps')).json()) as { models: Line[] };
    expect(models).toMatchObject([{ model: 'Fake:latest', context_length: 4096, size_vram: 0 }]);
  });

  test.each([{ model: 'Fake' }, { model: 'Fake:latest' }, { name: 'Fake', verbose: true }])(
    'are shown: %j',
    async (asked) => {
      expect(await bodyOf(api().post('/api/show', asked))).toMatchObject({
        details,
        model_info: { 'general.architecture': 'llama', 'llama.context_length': 4096 },
        capabilities: ['completion'],
      });
    },
  );

  test('that call tools are shown so', async () => {
    const { post } = api({ chatTemplate: TOOL_TEMPLATE });
    for (const model of ['Fake', 'kvasir/Notes'])
      expect(await bodyOf(post('/api/show', { model }))).toMatchObject({
        capabilities: ['completion', 'tools'],
      });
  });

  test('that are unknown, or have no name, are refused', async () => {
    const { post } = api();
    expect(await refusal(post('/api/show', { model: 'none' }))).toEqual([404, expect.any(String)]);
    expect(await refusal(post('/api/show', {}))).toEqual([400, expect.stringContaining('model')]);
  });
});

test('vectors of one text, of several and of none', async () => {
  const { post } = api();
  const embed = async (more: object) => bodyOf(post('/api/embed', { model: 'Letters:latest', ...more }));
  expect(await embed({ input: 'ab' })).toMatchObject({
    embeddings: [[expect.closeTo(Math.SQRT1_2), expect.closeTo(Math.SQRT1_2)]],
    prompt_eval_count: 2,
  });
  expect(await embed({ input: ['a', 'b'], truncate: true })).toMatchObject({
    embeddings: [
      [1, 0],
      [0, 1],
    ],
  });
  expect(await embed({ input: '' })).toMatchObject({ embeddings: [] });
  expect(await bodyOf(post('/api/embeddings', { model: 'Letters', prompt: 'b' }))).toEqual({
    embedding: [0, 1],
  });
  expect(await refusal(post('/api/embed', { model: 'Letters', input: 'a', dimensions: 1 }))).toEqual([
    400,
    expect.stringContaining('dimensions'),
  ]);
  const long = { input: ['a', 'abababab'] };
  expect(await embed(long)).toMatchObject({ prompt_eval_count: 6, truncated: [1] });
  expect(await refusal(post('/api/embed', { model: 'Letters', ...long, truncate: false }))).toEqual([
    400,
    expect.stringContaining('8 tokens'),
  ]);
});

test('a server says that it runs', async () => {
  const { get } = api();
  expect(await (await get('/')).text()).toContain('Ollama is running');
  expect(await (await get('/api/version')).json()).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
  });
});
