/** Validates the real server's answers against the API's OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, expect, test } from 'vitest';
import { pdf } from '../tools/test-documents/documents.ts';
import { DEMO, KEY, LIBRARY, sampleApi } from './support/api-server.ts';

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

const api = sampleApi();
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  document = (await (await fetch(`${api.server.origin}/openapi.json`)).json()) as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, 'api');
});

async function ask(path: string, body?: unknown): Promise<{ status: number; json: unknown }> {
  const answer = await fetch(api.server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}

/** Validation errors of an answer against the document. */
function mistakes(path: string, method: string, response: string, json: unknown): unknown {
  const steps = ['paths', path, method, 'responses', response, 'content', 'application/json', 'schema'];
  const pointer = steps
    .map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'))
    .map(encodeURIComponent);
  const fits = ajv.compile({ $ref: `api#/${pointer.join('/')}` });
  return fits(json) ? [] : fits.errors;
}

const USER = [{ role: 'user', content: 'Question: Where does Mara Lind work?' }];
const ASKED_OF_LIBRARY = [{ role: 'user', content: 'Where does Project Polaris run?' }];
const DOCUMENTS = [
  {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'Mara Lind works in the Oslo office.' },
    citations: { enabled: true },
  },
  { type: 'text', text: 'Question: Where does Mara Lind work?' },
];
const SCHEMA = {
  type: 'object',
  properties: { place: { type: 'string', maxLength: 20 } },
  required: ['place'],
};

test.each([
  ['/v1/models', undefined],
  ['/v1/chat/completions', { model: DEMO, messages: USER, logprobs: true, top_logprobs: 2 }],
  [
    '/v1/chat/completions',
    { model: LIBRARY, messages: [{ role: 'user', content: 'Where does Project Polaris run?' }] },
  ],
  [
    '/v1/chat/completions',
    { model: DEMO, messages: USER, response_format: { type: 'json_object' }, max_tokens: 8 },
  ],
  ['/v1/completions', { model: DEMO, prompt: 'Once', logprobs: 1 }],
  ['/v1/responses', { model: DEMO, input: 'Question: Where does Mara Lind work?' }],
  ['/v1/responses', { model: LIBRARY, input: 'Where does Project Polaris run?', max_output_tokens: 3 }],
  ['/v1/messages', { model: DEMO, max_tokens: 9, messages: [{ role: 'user', content: DOCUMENTS }] }],
  ['/v1/messages', { model: LIBRARY, max_tokens: 9, messages: ASKED_OF_LIBRARY }],
  ['/v1/messages/count_tokens', { model: DEMO, messages: USER }],
  ['/v1/tokenize', { model: DEMO, prompt: 'Once' }],
  ['/v1/tokenize', { model: DEMO, messages: USER }],
  ['/api/chat', { model: DEMO, messages: USER, stream: false, logprobs: true }],
  ['/api/chat', { model: LIBRARY, messages: ASKED_OF_LIBRARY, stream: false }],
  ['/api/chat', { model: DEMO }],
  ['/api/generate', { model: DEMO, prompt: 'Once', stream: false, options: { num_predict: 4 } }],
  ['/api/tags', undefined],
  ['/api/ps', undefined],
  ['/api/show', { model: DEMO }],
  ['/api/version', undefined],
  ['/health', undefined],
])('%s answers as documented: %j', async (path, body) => {
  const { status, json } = await ask(path, body);
  expect(status).toBe(200);
  expect(mistakes(path, body ? 'post' : 'get', '200', json)).toEqual([]);
});

test('a message with a PDF is answered as documented', async () => {
  const data = (await pdf([['Mara Lind works in the Oslo office.']])).toString('base64');
  const source = { type: 'base64', media_type: 'application/pdf', data };
  const content = [{ ...DOCUMENTS[0], source }, DOCUMENTS[1]];
  const body = { model: DEMO, max_tokens: 20, messages: [{ role: 'user', content }] };
  const { json } = await ask('/v1/messages', body);
  expect(JSON.stringify(json)).toContain('page_location');
  expect(mistakes('/v1/messages', 'post', '200', json)).toEqual([]);
});

test.each([
  ['/v1/chat/completions', { model: DEMO, messages: USER, tools: [{}] }],
  ['/v1/embeddings', { model: DEMO, input: 'x' }],
  ['/v1/rerank', { model: DEMO, query: 'x', documents: ['y'] }],
  ['/v1/responses', { model: 'none', input: 'x' }],
  ['/v1/messages', { model: DEMO, max_tokens: 9, messages: USER, tools: [{}] }],
  ['/v1/messages', { model: 'none', max_tokens: 9, messages: USER }],
  ['/api/chat', { model: 'none', messages: USER }],
  ['/api/embed', { model: DEMO, input: 'x' }],
])('%s fails as documented: %j', async (path, body) => {
  const { status, json } = await ask(path, body);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(mistakes(path, 'post', 'default', json)).toEqual([]);
});

test('an answer that differs from the document is detected', async () => {
  const { json } = await ask('/v1/tokenize', { model: DEMO, prompt: 'Once' });
  expect(mistakes('/v1/tokenize', 'post', '200', { ...(json as object), count: 'many' })).not.toEqual([]);
});

test('the document has every endpoint and every referenced schema', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths).sort()).toEqual([
    '/api/chat',
    '/api/embed',
    '/api/embeddings',
    '/api/generate',
    '/api/ps',
    '/api/show',
    '/api/tags',
    '/api/version',
    '/health',
    '/metrics',
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/embeddings',
    '/v1/messages',
    '/v1/messages/count_tokens',
    '/v1/models',
    '/v1/models/{model}',
    '/v1/rerank',
    '/v1/responses',
    '/v1/tokenize',
  ]);
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
    expect(() => ajv.compile({ $ref: `api${reference ?? ''}` })).not.toThrow();
});

test('an answer matches a JSON schema', async () => {
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'place', schema: SCHEMA, strict: true },
  };
  const { json } = await ask('/v1/chat/completions', { model: DEMO, messages: USER, response_format });
  const { choices } = json as { choices: { message: { content: string }; finish_reason: string }[] };
  expect(choices[0]?.finish_reason).toBe('stop');
  const fits = new Ajv2020().compile(SCHEMA);
  expect(fits(JSON.parse(choices[0]?.message.content ?? ''))).toBe(true);
});
