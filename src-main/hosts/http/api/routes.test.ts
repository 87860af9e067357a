import { describe, expect, test, vi } from 'vitest';
import { KvasirError, type ErrorCode } from '../../../../src-shared/errors.ts';
import type { ErrorBody } from '../errors.ts';
import { api, refused } from './api.test-support.ts';

const CHAT = '/v1/chat/completions';
const HELLO = { model: 'Fake', messages: [{ role: 'user', content: 'Where?' }] };

describe('what is not supported', () => {
  test.each([
    ['tools.0.type', [{ type: 'custom' }], 'tools'],
    ['tool_choice', 'required'],
    ['functions', [{ name: 'f' }]],
    ['audio', {}],
    ['n', 2],
    ['frequency_penalty', 1],
    ['logit_bias.5', { 5: 1 }, 'logit_bias'],
    ['prediction', {}],
    ['some_thing', 1],
    ['top_logprobs', 21],
    ['temperature', 3],
    ['max_tokens', 0],
    ['modalities.0', ['audio'], 'modalities'],
  ])('%s is refused by its name', async (param, value, field: string = param) => {
    const [status, told, message] = await refused(api().post(CHAT, { ...HELLO, [field]: value }));
    expect([status, told]).toEqual([400, param]);
    expect(message).toContain(param);
  });

  test.each([
    [
      'messages.0.content.0.type',
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
    ],
    ['messages.0.content.0.type', { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }],
    ['messages.0.content.0.size', { role: 'user', content: [{ type: 'text', text: 'x', size: 1 }] }],
    ['messages.0.tool_call_id', { role: 'tool', content: 'x', tool_call_id: 5 }],
    ['messages.0.tool_calls.0.type', { role: 'assistant', content: 'x', tool_calls: [{ id: '1' }] }],
    ['messages.0.content', { role: 'user', content: 5 }],
  ])('%s of a message, too', async (param, message) => {
    const [status, told] = await refused(api().post(CHAT, { model: 'Fake', messages: [message] }));
    expect([status, told]).toEqual([400, param]);
  });

  test.each([
    ['/v1/completions', { model: 'Fake', prompt: ['a', 'b'] }, 'prompt'],
    ['/v1/completions', { model: 'Fake', prompt: [1, 2] }, 'prompt.0'],
    ['/v1/completions', { model: 'Fake', prompt: 'a', echo: true }, 'echo'],
    ['/v1/completions', { model: 'Fake', prompt: 'a', best_of: 2 }, 'best_of'],
    ['/v1/embeddings', { model: 'Letters', input: 'a', dimensions: 1 }, 'dimensions'],
    ['/v1/embeddings', { model: 'Letters', input: '' }, 'input'],
    ['/v1/embeddings', { model: 'Letters', input: ['a', ''] }, 'input.1'],
    ['/v1/embeddings', { model: 'Letters', input: [] }, 'input'],
    ['/v1/rerank', { model: 'Letters', query: 'a', documents: [] }, 'documents'],
  ])('%s refuses %j', async (path, body, param) => {
    const [status, told] = await refused(api().post(path, body));
    expect([status, told]).toEqual([400, param]);
  });

  test.each([[[1, 2]], [[[1, 2], [3]]]])('token ids %j are refused with the remedy', async (input) => {
    const sent = api().post('/v1/embeddings', { model: 'Letters', input });
    const [status, param, message] = await refused(sent);
    expect([status, param]).toEqual([400, 'input.0']);
    expect(message).toContain('check_embedding_ctx_length=False');
  });

  test('vectors have the length that is asked for, or the request is refused', async () => {
    const ask = (dimensions: number | null) =>
      api().post('/v1/embeddings', { model: 'Letters', input: 'a', dimensions });
    expect([(await ask(2)).status, (await ask(null)).status]).toEqual([200, 200]);
    expect((await refused(ask(1)))[2]).toContain('have 2 dimensions');
  });

  test('what changes nothing may be sent', async () => {
    const harmless = { user: 'me', metadata: { a: 'b' }, store: false, n: 1, logit_bias: {}, stop: null };
    expect((await api().post(CHAT, { ...HELLO, ...harmless })).status).toBe(200);
  });
});

describe('a request that makes no sense', () => {
  test.each(['', 'nonsense', '[]', 'null', '{"model":"Fake"}'])('%j is refused', async (body) => {
    expect((await refused(api().post(CHAT, body)))[0]).toBe(400);
  });

  test('is refused where it is no JSON, too long, or for nothing that there is', async () => {
    const { get, post } = api();
    expect((await refused(post(CHAT, HELLO, { 'Content-Type': 'text/plain' })))[0]).toBe(415);
    expect((await refused(post(CHAT, { ...HELLO, user: 'x'.repeat(17 * 2 ** 20) })))[0]).toBe(413);
    expect(await refused(get('/v1/nothing'))).toEqual([404, null, 'There is no GET /v1/nothing here.']);
    expect((await refused(post(CHAT, { ...HELLO, model: 'None' })))[0]).toBe(404);
  });

  test('is answered under a path with slashes too many, and another path is told', async () => {
    const { get, post } = api();
    for (const path of ['//v1/models', '/v1//models', '/v1/models/'])
      expect((await get(`http://127.0.0.1${path}`)).status).toBe(200);
    for (const path of ['/chat/completions', '/v1/v1/chat/completions', '/api/v1/chat/completions'])
      expect((await refused(post(path, HELLO)))[2]).toContain('The path is /v1/chat/completions.');
  });

  test.each([
    ['GET', CHAT, 'POST'],
    ['PUT', '/v1/messages', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['DELETE', '/v1/models/kvasir/Notes', 'GET'],
    ['POST', '/openapi.json', 'GET'],
  ])('%s %s is refused with what it takes', async (method, path, takes) => {
    const answer = await api().routes.request(path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, takes]);
  });

  test.each<[string, number, string, object, Record<string, string>]>([
    ['a model that is not there', 404, 'model_not_found', { model: 'None' }, { 'X-Api-Key': 'right' }],
    ['a wrong key', 401, 'invalid_api_key', {}, { 'X-Api-Key': 'wrong' }],
    ['no key', 401, 'invalid_api_key', {}, {}],
  ])('%s is told as OpenAI does', async (_, status, code, more, headers) => {
    const answer = await api({ keys: ['right'] }).post(CHAT, { ...HELLO, ...more }, headers);
    const { error } = (await answer.json()) as ErrorBody;
    expect([answer.status, error.type, error.code]).toEqual([status, 'invalid_request_error', code]);
  });

  test('with a prompt that is too long says so', async () => {
    const { post } = api({ contextTrain: 64 });
    const long = { ...HELLO, messages: [{ role: 'user', content: 'why '.repeat(100) }] };
    const response = await post(CHAT, long);
    const { error } = (await response.json()) as ErrorBody;
    expect([response.status, error.code]).toEqual([400, 'context_length_exceeded']);
  });
});

test.each<[string, object]>([
  [CHAT, { messages: [{ role: 'user', content: 'why '.repeat(1_000_000) }] }],
  [CHAT, { model: 'kvasir/Notes', messages: [{ role: 'user', content: 'why '.repeat(1_000_000) }] }],
  ['/v1/completions', { prompt: 'why '.repeat(1_000_000) }],
  ['/v1/tokenize', { prompt: 'why '.repeat(1_000_000) }],
])('%s refuses a prompt that is far too long after its beginning', async (path, more) => {
  const { post, model } = api({ contextTrain: 64 });
  const tokenize = vi.spyOn(model, 'tokenize');
  const response = await post(path, { model: 'Fake', ...more });
  const { error } = (await response.json()) as ErrorBody;
  expect([response.status, error.code]).toEqual([400, 'context_length_exceeded']);
  const read = tokenize.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  expect(read).toBeLessThan(1_000_000);
});

test('a text that is longer than the context is counted', async () => {
  const body = { model: 'Fake', prompt: 'why '.repeat(1000) };
  const answer = await api({ contextTrain: 64 }).post('/v1/tokenize', body);
  expect(((await answer.json()) as { count: number }).count).toBeGreaterThan(1000);
});

describe('who is let in', () => {
  const NOBODY = { keys: ['first-key', 'second-key'] };

  test('is who has a key, of several', async () => {
    const { get } = api(NOBODY);
    expect((await refused(get('/v1/models')))[0]).toBe(401);
    for (const wrong of ['Bearer wrong', 'Bearer first-ke', 'first-key', 'Bearer ', 'Basic first-key'])
      expect((await refused(get('/v1/models', { Authorization: wrong })))[0]).toBe(401);
    expect((await get('/v1/models', { Authorization: 'Bearer second-key' })).status).toBe(200);
    expect((await get('/v1/models', { 'X-Api-Key': 'first-key' })).status).toBe(200);
  });

  test('waits after a hundred wrong keys, unless its right key was used there before; other addresses do not', async () => {
    const { routes } = api(NOBODY);
    const ask = async (remoteAddress: string, key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      return routes.request('/v1/models', { headers }, { incoming: { socket: { remoteAddress } } });
    };
    for (let i = 0; i < 200; i++) expect((await ask('10.0.0.1')).status).toBe(401);
    for (let i = 0; i < 200; i++) expect((await ask('10.0.0.1', 'outdated')).status).toBe(401);
    expect((await ask('10.0.0.1', 'second-key')).status).toBe(200);
    for (let i = 0; i < 99; i++) expect((await ask('10.0.0.1', `guess-${i}`)).status).toBe(401);
    const waiting = await ask('10.0.0.1', 'first-key');
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await ask('10.0.0.1', 'second-key')).status).toBe(200);
    expect((await ask('10.0.0.1', 'outdated')).status).toBe(429);
    expect((await ask('10.0.0.2', 'first-key')).status).toBe(200);
  });

  test('health is 503 before a model is loaded', async () => {
    const answer = await api({ idle: true }).get('/health');
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'loading' }]);
  });

  test('metrics want a key, health does not', async () => {
    const { get } = api(NOBODY);
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/health')).status).toBe(200);
  });

  test('is who names this server as it is called here', async () => {
    const { get } = api({ hosts: ['127.0.0.1', 'localhost', 'aibox'] });
    for (const host of ['127.0.0.1:1', '127.0.0.1', 'LOCALHOST:1', 'aibox:4000', 'AIBOX.'])
      expect((await get('/v1/models', { Host: host })).status).toBe(200);
    for (const host of ['evil.example:1', 'localhost.evil.example', '']) {
      const [status, , message] = await refused(get('/v1/models', { Host: host }));
      expect([status, message]).toEqual([403, expect.stringContaining('--allow-host NAME')]);
    }
  });

  test('are programs of this machine at /mcp, which pages there cannot read', async () => {
    const { routes } = api({ hosts: ['localhost'] });
    const ask = (path: string, origin: string) =>
      routes.request(path, { method: 'POST', headers: { Host: 'localhost:1', Origin: origin } });
    for (const origin of ['http://localhost:1', 'https://127.0.0.1', 'http://[::1]:6274']) {
      const answer = await ask('/mcp', origin);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
      expect((await ask(CHAT, origin)).status).toBe(403);
    }
    for (const origin of ['http://evil.example', 'http://localhost.evil.example', 'null', 'file://localhost'])
      expect((await ask('/mcp', origin)).status).toBe(403);
  });

  test('pages are not, unless their origin was named', async () => {
    const there = { Origin: 'http://there.example' };
    expect((await refused(api().post(CHAT, HELLO, there)))[0]).toBe(403);
    const { post, get, routes } = api({ origins: ['http://there.example'] });
    const answer = await post(CHAT, HELLO, there);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'http://there.example',
    ]);
    expect((await refused(get('/v1/models', { Origin: 'http://elsewhere.example' })))[0]).toBe(403);
    const asks = { ...there, 'Access-Control-Request-Method': 'POST' };
    expect((await routes.request(CHAT, { method: 'OPTIONS', headers: asks })).status).toBe(204);
    const allowsNetwork = async (origin: string): Promise<string | null> => {
      const headers = { ...asks, Origin: origin, 'Access-Control-Request-Private-Network': 'true' };
      const preflight = await routes.request(CHAT, { method: 'OPTIONS', headers });
      return preflight.headers.get('access-control-allow-private-network');
    };
    expect(await allowsNetwork('http://there.example')).toBe('true');
    expect(await allowsNetwork('http://elsewhere.example')).toBeNull();
  });
});

describe('what is not the fault of a request', () => {
  const failing = (code: ErrorCode) =>
    api({ beforeToken: () => Promise.reject(new KvasirError(code, 'Why.', 'What then.')) });

  test.each<[ErrorCode, status: number, anthropics: number, type: string, again: string | null]>([
    ['OUT_OF_MEMORY', 503, 529, 'overloaded_error', null],
    ['REMOTE_BUSY', 503, 529, 'overloaded_error', null],
    ['REMOTE_SLOW', 504, 504, 'timeout_error', null],
    ['REMOTE_UNREACHABLE', 502, 502, 'api_error', null],
    ['REMOTE_FAILED', 502, 502, 'api_error', null],
    ['REMOTE_CUT', 502, 502, 'api_error', null],
    ['REMOTE_KEY', 502, 502, 'api_error', 'false'],
    ['REMOTE_QUOTA', 502, 502, 'api_error', 'false'],
    ['REMOTE_MODEL', 502, 502, 'api_error', 'false'],
    ['REMOTE_CERTIFICATE', 502, 502, 'api_error', 'false'],
    ['REMOTE_PROTOCOL', 502, 502, 'api_error', 'false'],
    ['MODEL_INVALID', 503, 503, 'api_error', 'false'],
    ['ENGINE_FAILED', 500, 500, 'api_error', null],
  ])('%s has its status, and says whether trying again is of use', async (code, status, ...anthropics) => {
    const answer = await failing(code).post(CHAT, HELLO);
    const { error } = (await answer.json()) as ErrorBody;
    expect([answer.status, error.type, error.message]).toEqual([status, 'server_error', 'Why. What then.']);
    const told = await failing(code).post('/v1/messages', { ...HELLO, max_tokens: 9 });
    const { type } = ((await told.json()) as { error: { type: string } }).error;
    expect([told.status, type, told.headers.get('x-should-retry')]).toEqual(anthropics);
    expect(answer.headers.get('x-should-retry')).toBe(anthropics[2]);
  });
});

describe('headers', () => {
  test('name each request, in what clients look at, in errors of Anthropic’s form and in the log', async () => {
    const beforeToken = () => Promise.reject(new Error('broken'));
    const routes = api({ beforeToken });
    const ids = new Set<string | null>();
    for (const path of ['/health', '/v1/models', '/v1/nothing', '/mcp', '/openapi.json']) {
      const { headers } = await routes.get(path);
      expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
      ids.add(headers.get('request-id'));
    }
    const failed = await routes.post('/v1/messages', { ...HELLO, max_tokens: 9 });
    const id = failed.headers.get('request-id');
    expect(await failed.json()).toMatchObject({ type: 'error', request_id: id });
    expect(routes.logged).toMatchObject([{ id }]);
    ids.add(id);
    const stream = await api().post(CHAT, { ...HELLO, stream: true });
    ids.add(stream.headers.get('x-request-id'));
    expect([...ids].filter((each) => each?.startsWith('req_'))).toHaveLength(7);
  });

  test('say when to ask again, and how to sign in', async () => {
    const beforeToken = () => Promise.reject(new KvasirError('REMOTE_BUSY', 'Full.'));
    for (const [path, status] of [
      [CHAT, 503],
      ['/v1/messages', 529],
    ] as const) {
      const busy = await api({ beforeToken }).post(path, { ...HELLO, max_tokens: 9 });
      expect([busy.status, Number(busy.headers.get('retry-after')) > 0]).toEqual([status, true]);
    }
    const stranger = await api({ keys: ['right'] }).post(CHAT, HELLO);
    expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('may be read by pages that may ask', async () => {
    const { post } = api({ origins: ['http://there.example'] });
    for (const body of [HELLO, {}]) {
      const { headers } = await post(CHAT, body, { Origin: 'http://there.example' });
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(',');
      expect(exposed).toEqual(
        expect.arrayContaining(['x-request-id', 'request-id', 'retry-after', 'mcp-session-id']),
      );
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
  });
});

test('a stream that fails before its first word has a status, later an event', async () => {
  const early = await refused(api().post(CHAT, { ...HELLO, model: 'None', stream: true }));
  expect(early[0]).toBe(404);
  const beforeToken = (index: number) =>
    index < 2 ? Promise.resolve() : Promise.reject(new Error('broken'));
  const late = await api({ beforeToken }).post(CHAT, { ...HELLO, stream: true });
  expect(late.status).toBe(200);
  const events = (await late.text()).trim().split('\n\n');
  expect(events.at(-1)).toMatch(/^data: \{"error":\{.*"code":"internal_error"/);
});

test.each([
  ['none', false],
  ['minimal', false],
  ['low', true],
  ['high', true],
])('an effort at reasoning of %s means to think: %s', async (reasoning_effort, thinks) => {
  const chatTemplate = '{{ messages[0].content }}{% if enable_thinking %}!{% endif %}';
  const { post, model } = api({ chatTemplate });
  await post(CHAT, { ...HELLO, reasoning_effort });
  expect(model.detokenize(model.sessions[0]?.tokens ?? [])).toBe(thinks ? 'Where?!' : 'Where?');
});

test('a library that is asked by a text tells what its marks name, at once and in a stream', async () => {
  const { post } = api({ says: '<think>Hm.</think>She lives in Oslo.' });
  const asked = { model: 'kvasir/Notes', prompt: 'Where does Mara live?', max_tokens: 50 };
  type CompletionReply = { choices: { text: string }[]; citations?: { index: number; document: string }[] };
  const { choices, citations } = (await (await post('/v1/completions', asked)).json()) as CompletionReply;
  expect(choices[0]?.text).toBe('She lives in Oslo [1].');
  expect(citations?.[0]).toMatchObject({ index: 1, document: 'mara.md' });
  const stream = await (await post('/v1/completions', { ...asked, stream: true })).text();
  const pieces = [...stream.matchAll(/^data: (\{.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as CompletionReply,
  );
  expect(pieces.map((piece) => piece.choices[0]?.text).join('')).toBe('She lives in Oslo [1].');
  expect(pieces.at(-1)?.citations).toEqual(citations);
});

test('text that is cut by the separator is stored in chunks', async () => {
  const { post, model } = api({ separator: '##' });
  const messages = [{ role: 'user', content: 'Read: ##One passage.##Another.##Which?' }];
  const { usage } = (await (await post(CHAT, { ...HELLO, messages })).json()) as {
    usage: { prompt_tokens_details: unknown };
  };
  const stored = model.tokenize('One passage.').length + model.tokenize('Another.').length;
  expect(usage.prompt_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: stored });
});

describe('vectors', () => {
  test('come as numbers, or in base64', async () => {
    const { post } = api();
    const ask = async (more: object) => {
      const answer = await post('/v1/embeddings', { model: 'Letters', input: ['a', 'bb'], ...more });
      return (await answer.json()) as { data: { embedding: unknown }[]; usage: unknown };
    };
    const { data, usage } = await ask({});
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    const packed = (await ask({ encoding_format: 'base64' })).data[1]?.embedding as string;
    expect([0, 4].map((at) => Buffer.from(packed, 'base64').readFloatLE(at))).toEqual([0, 1]);
  });

  test('are of the texts as they are, unless the request says what they are', async () => {
    const { post } = api();
    const tokens = async (more: object) => {
      const answer = await post('/v1/embeddings', { model: 'Letters', input: ['a', 'bb'], ...more });
      return ((await answer.json()) as { usage: { prompt_tokens: number } }).usage.prompt_tokens;
    };
    expect([await tokens({}), await tokens({ input_type: null })]).toEqual([3, 3]);
    for (const input_type of ['query', 'search_query', 'document', 'search_document', 'passage'])
      expect(await tokens({ input_type })).toBe(5);
    const other = post('/v1/embeddings', { model: 'Letters', input: 'a', input_type: 'clustering' });
    expect((await refused(other)).slice(0, 2)).toEqual([400, 'input_type']);
  });

  test('are of the beginning of a text that is too long where the request allows it', async () => {
    const input = ['b', 'aaaaab'];
    const answer = await api().post('/v1/embeddings', { model: 'Letters', input, truncate: true });
    const { truncated, usage } = (await answer.json()) as { truncated: number[]; usage: object };
    expect([truncated, usage]).toEqual([[1], { prompt_tokens: 6, total_tokens: 6 }]);
  });

  test('are of whole texts or none, by the embedding model alone', async () => {
    const { post } = api();
    expect((await refused(post('/v1/embeddings', { model: 'Letters', input: 'aaaaaa' })))[0]).toBe(400);
    expect((await refused(post('/v1/embeddings', { model: 'Fake', input: 'a' })))[0]).toBe(404);
  });

  test('rank documents', async () => {
    const { post } = api();
    const answer = await post('/v1/rerank', {
      model: 'Letters',
      query: 'a',
      documents: ['b', { text: 'a' }, 'ab'],
      top_n: 2,
      return_documents: true,
    });
    const { results } = (await answer.json()) as { results: unknown[] };
    expect(results).toEqual([
      { index: 1, relevance_score: 1, document: { text: 'a' } },
      { index: 2, relevance_score: expect.closeTo(Math.SQRT1_2) as number, document: { text: 'ab' } },
    ]);
  });
});

describe('a reranker', () => {
  const ask = (model: string) => {
    return api().post('/v1/rerank', { model, query: 'red', documents: ['a green tree', 'a red car'] });
  };

  test('scores documents from 0 to 1, whatever their length', async () => {
    expect(await (await ask('Judge')).json()).toEqual({
      model: 'Judge',
      results: [
        { index: 1, relevance_score: 0.75 },
        { index: 0, relevance_score: 0.25 },
      ],
      usage: { prompt_tokens: 27, total_tokens: 27 },
    });
  });

  test('that is not in use, or none of these models, is refused with the one that is', async () => {
    for (const model of ['Spare', 'Other']) {
      const [status, , message] = await refused(ask(model));
      expect(status).toBe(404);
      expect(message).toContain('Judge');
    }
  });
});

test('models are the ones in use, and libraries, by names with slashes', async () => {
  const { get } = api();
  const { data } = (await (await get('/v1/models')).json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(['Fake', 'kvasir/Notes', 'kvasir/Twice']);
  for (const path of ['Fake', 'kvasir/Notes', 'kvasir%2FNotes'])
    expect(await (await get(`/v1/models/${path}`)).json()).toMatchObject({ object: 'model', created: 5 });
  expect((await refused(get('/v1/models/Other')))[0]).toBe(404);
});

test('metrics count requests by route, tokens and chunks', async () => {
  const { get, post } = api();
  await post(CHAT, HELLO);
  await post(CHAT, { ...HELLO, n: 2 });
  const text = await (await get('/metrics')).text();
  expect(text).toContain(`kvasir_requests_total{route="${CHAT}",status="200"} 1`);
  expect(text).toContain(`kvasir_requests_total{route="${CHAT}",status="400"} 1`);
  expect(text).toMatch(/kvasir_tokens_total\{kind="generated"\} [1-9]/);
  expect(text).toContain('kvasir_ttft_seconds_count 1');
  expect(text).toContain('kvasir_queue_waiting 0');
});
