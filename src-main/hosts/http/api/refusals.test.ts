/** Fields that no route may ignore, on each route. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { serverModel } from '../../../testing/server-model.ts';
import { api, refused } from './api.test-support.ts';

const TEXT = { type: 'text', text: 'x' };
const IMAGE = { type: 'image_url', image_url: { url: 'x' } };
const INPUT_IMAGE = { type: 'input_image', image_url: 'x' };
const CLAUDES_IMAGE = { type: 'image', source: { type: 'url', url: 'http://x' } };
const FUNCTION = { type: 'function', function: { name: 'f' } };
const user = (content: unknown): object[] => [{ role: 'user', content }];

/** A valid request for each route. */
const GOOD: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'Fake', messages: user('x') },
  '/v1/completions': { model: 'Fake', prompt: 'x' },
  '/v1/responses': { model: 'Fake', input: 'x' },
  '/v1/messages': { model: 'Fake', max_tokens: 9, messages: user('x') },
};

test.each(Object.entries(GOOD))('%s answers what it supports', async (path, body) => {
  expect((await api().post(path, body)).status).toBe(200);
});

describe.each(Object.entries(GOOD))('%s refuses by name', (path, body) => {
  test.each([
    ['functions', { functions: [{ name: 'f' }] }],
    ['n', { n: 2 }],
    ['images', { images: ['x'] }],
    ['audio', { audio: {} }],
    ['some_thing', { some_thing: 1 }],
    ['__proto__', JSON.parse('{"__proto__":1}') as object],
    ['constructor', { constructor: 1 }],
  ])('%s', async (field, more) => {
    for (const stream of [false, true]) {
      const [status, , message] = await refused(api().post(path, { ...body, ...more, stream }));
      expect(status).toBe(400);
      expect(message).toMatch(new RegExp(`^${field}( is not supported|: Only)`));
      expect(message).not.toMatch(/object|native code/);
    }
  });
});

test.each(['union', 'chunk-head', 'guess'])(
  'a strategy %s is refused by name, on each route',
  async (name) => {
    for (const [path, body] of Object.entries(GOOD)) {
      const [status, , message] = await refused(
        api().post(path, { ...body, kvasir: { strategy: { name } } }),
      );
      expect([status, message]).toEqual([400, expect.stringContaining(`There is no strategy "${name}"`)]);
    }
  },
);

describe.each(Object.entries(GOOD))('%s refuses what is for libraries', (path, body) => {
  test.each([
    ['top_k', 3],
    ['may_guess', true],
    ['may_guess', false],
  ])('kvasir.%s: %s', async (field, value) => {
    const kvasir = { [field]: value };
    const [status, , message] = await refused(api().post(path, { ...body, kvasir }));
    expect([status, message]).toEqual([400, expect.stringContaining(`kvasir.${field} is for libraries`)]);
    const library = { ...body, model: 'kvasir/Notes', kvasir: { may_guess: true, top_k: 3 } };
    expect((await api().post(path, library)).status).toBe(200);
  });
});

test.each([
  ['/v1/chat/completions', 'stream_options', { stream_options: { include_usage: true } }],
  ['/v1/chat/completions', 'stream_options', { stream: false, stream_options: {} }],
  ['/v1/completions', 'stream_options', { stream_options: { include_usage: true } }],
  ['/v1/chat/completions', 'top_logprobs', { top_logprobs: 2 }],
  ['/v1/chat/completions', 'top_logprobs', { logprobs: false, top_logprobs: 2 }],
])('%s refuses %s without what it is for: %j', async (path, field, more) => {
  const [status, param, message] = await refused(api().post(path, { ...GOOD[path], ...more }));
  expect([status, param, message]).toEqual([400, field, expect.stringContaining(field)]);
});

test('top_k is refused of a model on a server, which is not told of it', async () => {
  const body = { ...GOOD['/v1/messages'], top_k: 5 };
  expect((await api().post('/v1/messages', body)).status).toBe(200);
  const [status, , message] = await refused(api({ server: serverModel() }).post('/v1/messages', body));
  expect([status, message]).toEqual([400, expect.stringContaining('top_k')]);
});

test.each([
  ['/v1/chat/completions', { messages: user([TEXT, IMAGE]) }, 'messages.0.content.1.type: Only parts'],
  [
    '/v1/chat/completions',
    { messages: [{ role: 'critic', content: 'x' }] },
    'messages.0.role: Only the roles',
  ],
  [
    '/v1/chat/completions',
    { messages: [{ role: 'tool', content: 'x' }] },
    'A tool result has no call before it',
  ],
  [
    '/v1/chat/completions',
    { tools: [{ type: 'custom', custom: {} }] },
    'tools.0.type: Only tools of the type',
  ],
  ['/v1/completions', { prompt: [IMAGE] }, 'prompt'],
  ['/v1/responses', { input: user([INPUT_IMAGE]) }, 'input.0.content.0.type: Only parts'],
  ['/v1/responses', { input: [{ type: 'web_search_call', id: 'x', action: {} }] }, 'input.0'],
  ['/v1/responses', { tools: [{ type: 'web_search' }] }, 'tools.0.type: Only tools of the type'],
  ['/v1/completions', { tools: [FUNCTION] }, 'tools: Tools need a chat'],
  ['/v1/messages', { messages: user([TEXT, CLAUDES_IMAGE]) }, 'messages.0.content.1.type: Only blocks'],
  [
    '/v1/messages',
    { messages: user([{ type: 'tool_result', tool_use_id: 'x', content: [CLAUDES_IMAGE] }]) },
    'Results of tools are supported as text',
  ],
  [
    '/v1/messages',
    {
      messages: [...user('x'), { role: 'assistant', content: [{ type: 'tool_use', id: 'x' }] }, ...user('x')],
    },
    'messages.1.content.0.name',
  ],
])('%s refuses a part of %j', async (path, more, why) => {
  const [status, , message] = await refused(api().post(path, { ...GOOD[path], ...more }));
  expect(status).toBe(400);
  expect(message).toContain(why);
});

describe('what is not JSON is refused, not taken for an empty request', () => {
  test.each([...Object.keys(GOOD), '/v1/embeddings', '/v1/rerank', '/v1/tokenize'])('%s', async (path) => {
    const { routes } = api();
    for (const headers of [{ 'Content-Type': 'text/plain' }, { 'Content-Type': 'multipart/form-data' }]) {
      const body = JSON.stringify(GOOD[path] ?? {});
      const answer = await routes.request(path, { method: 'POST', headers, body });
      expect(answer.status).toBe(415);
    }
    expect((await routes.request(path, { method: 'POST' })).status).toBe(400);
  });
});

test('a thousand requests that are refused leave nothing in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { post } = api();
  const long = 'x'.repeat(100_000);
  const send = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) {
      const path = Object.keys(GOOD)[i % 4] ?? '';
      const body = i % 8 < 4 ? `{"model":"${i}${long}` : { ...GOOD[path], more: `${i}${long}` };
      expect((await post(path, body)).status).toBe(400);
    }
    // Signals and bodies are collected only in a second round, after the first has released what held them.
    for (let round = 0; round < 3; round++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = await send(500);
  expect(await send(1000)).toBeLessThan(before + 100 * long.length); // a tenth of the data sent
});
