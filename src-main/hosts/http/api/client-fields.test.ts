/** Fields that clients commonly send or echo are accepted on every route. */
import { describe, expect, test } from 'vitest';
import { api, refused } from './api.test-support.ts';

const CHAT = '/v1/chat/completions';
const user = (content: unknown, more: object = {}): object => ({ role: 'user', content, ...more });
const chat = (more: object): object => ({ model: 'Fake', messages: [user('Hello')], ...more });
/** An assistant message as output by `model_dump()` of OpenAI's Python client. */
const DUMPED = {
  content: 'Hi.',
  refusal: null,
  role: 'assistant',
  annotations: [],
  audio: null,
  function_call: null,
  tool_calls: null,
};

const GOOD: Readonly<Record<string, object>> = {
  [CHAT]: chat({}),
  '/v1/completions': { model: 'Fake', prompt: 'x' },
  '/v1/responses': { model: 'Fake', input: 'x' },
  '/v1/messages': { model: 'Fake', max_tokens: 9, messages: [user('x')] },
};

describe('chat answers', () => {
  test.each([
    ['a name', [user('Hello', { name: 'ida' })]],
    ['a name of null', [user('Hello', { name: null })]],
    ['a dumped answer', [user('Hello'), DUMPED, user('And?')]],
    ['a null content', [user('Hello'), { role: 'assistant', content: null }, user('And?')]],
    ['an empty content', [user('Hello'), { role: 'assistant', content: '' }, user('And?')]],
    ['no parts', [user('Hello'), { role: 'assistant', content: [] }, user('And?')]],
    ['no content', [user('Hello'), { role: 'assistant', tool_calls: [] }, user('And?')]],
    ['thoughts', [user('Hello'), { ...DUMPED, reasoning: 'x', reasoning_details: [{}] }, user('And?')]],
    ['annotations', [user('Hello'), { ...DUMPED, annotations: [{ type: 'url_citation' }] }, user('And?')]],
    [
      'a cache mark',
      [user([{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' }, title: null }])],
    ],
  ])('messages with %s', async (_, messages) => {
    expect((await api().post(CHAT, { model: 'Fake', messages })).status).toBe(200);
  });

  test.each([
    { tools: [], tool_choice: 'auto' },
    { tools: null, tool_choice: null, functions: null, function_call: null, audio: null },
    { stop: '' },
    { stop: ['', 'x'] },
    { top_k: 40, min_p: 0.05, repeat_penalty: 1.1, cache_prompt: true },
    { top_k: -1, repetition_penalty: 1.05, typical_p: 1, mirostat: 0, num_ctx: 4096, n_keep: -1 },
    { dry_multiplier: 0, dry_base: 1.75, xtc_probability: 0, xtc_threshold: 0.1, ttl: 300 },
    { max_tokens: -1 },
    { n_predict: 5, keep_alive: '5m' },
    { frequency_penalty: 0, presence_penalty: null, logit_bias: null, seed: -1, kvasir: null },
    { chat_template_kwargs: { enable_thinking: false }, verbosity: 'medium', reasoning_format: 'auto' },
    { stream_options: null, response_format: null, prediction: null },
  ])('%j', async (more) => {
    expect((await api().post(CHAT, chat(more))).status).toBe(200);
  });

  test('a null within a schema is a value', async () => {
    const json_schema = { name: 'n', schema: { type: ['string', 'null'], enum: ['x', null] } };
    const [status, , message] = await refused(
      api().post(
        CHAT,
        chat({ response_format: { type: 'json_schema', json_schema: { ...json_schema, x: 1 } } }),
      ),
    );
    expect([status, message]).toEqual([400, expect.stringContaining('json_schema.x')]);
    const schema = { type: 'null', pattern: null };
    const odd = { type: 'json_schema', json_schema: { name: 'n', schema } };
    expect((await refused(api().post(CHAT, chat({ response_format: odd }))))[2]).toContain('pattern');
  });
});

test.each(Object.entries(GOOD))(
  '%s takes null for what it knows and what it does not',
  async (path, body) => {
    const nulls = {
      temperature: null,
      top_p: null,
      tools: null,
      metadata: null,
      audio: null,
      unheard_of: null,
    };
    expect((await api().post(path, { ...body, ...nulls })).status).toBe(200);
  },
);

test.each(Object.entries(GOOD))('%s takes filters of other servers and no tools', async (path, body) => {
  const more = { top_k: 5, min_p: 0.1, repeat_penalty: 1.2, tools: [] };
  expect((await api().post(path, { ...body, ...more })).status).toBe(200);
});

test('responses take an answer as it was dumped, and thoughts', async () => {
  const input = [
    user('Hello', { type: 'message' }),
    { type: 'reasoning', id: 'r', summary: [], content: null, encrypted_content: null, status: null },
    {
      type: 'message',
      id: 'm',
      status: 'completed',
      role: 'assistant',
      phase: null,
      content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: null }],
    },
    user('And?'),
  ];
  const more = { include: [], max_output_tokens: -1, background: false, tool_choice: 'auto' };
  expect((await api().post('/v1/responses', { model: 'Fake', input, ...more })).status).toBe(200);
});

test('Anthropic’s messages take thoughts of an earlier answer, and tools that are none', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'x' };
  const answer = { role: 'assistant', content: [thinking, { type: 'text', text: 'Hi.', citations: null }] };
  const messages = [user('Hello'), answer, user('And?')];
  const more = { max_tokens: 9, tools: [], tool_choice: { type: 'auto' }, stop_sequences: [''] };
  const { post, model } = api();
  expect((await post('/v1/messages', { model: 'Fake', messages, ...more })).status).toBe(200);
  expect(model.detokenize(model.sessions[0]?.tokens ?? [])).not.toContain('Hm.');
});

test.each([
  ['min_tokens', 5],
  ['mirostat', 2],
  ['grammar', 'root ::= "x"'],
  ['ignore_eos', true],
  ['repeat_penalty', 0],
  ['max_tokens', 0],
  ['max_tokens', -3],
])('%s: %j asks for what there is not, and is refused by name', async (field, value) => {
  const [status, param, message] = await refused(api().post(CHAT, chat({ [field]: value })));
  expect([status, param, message]).toEqual([400, field, expect.stringContaining(field)]);
});

test('filters reach the sampler, the request’s before any other', async () => {
  const { post, model } = api();
  const more = { temperature: 0.5, top_k: 7, min_p: 0.2, repeat_penalty: 1.3, seed: 3 };
  for (const path of Object.keys(GOOD)) await post(path, { ...GOOD[path], ...more, ...seedless(path) });
  const filters = {
    temperature: 0.5,
    topK: 7,
    topP: 1,
    minP: 0.2,
    repeatPenalty: expect.closeTo(1.3) as number,
  };
  expect(model.sampled).toHaveLength(4);
  for (const sampling of model.sampled) expect(sampling).toMatchObject(filters);
});

/** Neither accepts a seed. */
function seedless(path: string): object {
  return path === '/v1/responses' || path === '/v1/messages' ? { seed: null } : {};
}

test('-1 sets no limit where the default is one', async () => {
  const { post } = api({ says: 'word '.repeat(40) });
  const tokens = async (max_tokens: number | null): Promise<number> => {
    const answer = await post('/v1/completions', { model: 'Fake', prompt: 'x', max_tokens });
    return ((await answer.json()) as { usage: { completion_tokens: number } }).usage.completion_tokens;
  };
  expect(await tokens(null)).toBe(16);
  expect(await tokens(-1)).toBeGreaterThan(16);
});
