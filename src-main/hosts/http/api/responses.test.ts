import { expect, test } from 'vitest';
import type { ResponseBody } from './responses-schemas.ts';
import { ResponseStore } from './response-store.ts';
import { api, refused } from './api.test-support.ts';

const RESPONSES = '/v1/responses';
const HELLO = { model: 'Fake', input: 'Where?' };

async function made(answer: Promise<Response>): Promise<ResponseBody> {
  const response = await answer;
  expect(response.status).toBe(200);
  return (await response.json()) as ResponseBody;
}

interface Event {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: ResponseBody;
}

async function events(answer: Promise<Response>): Promise<Event[]> {
  const text = await (await answer).text();
  return text
    .trim()
    .split('\n\n')
    .map((event) => {
      const [, name, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      const parsed = JSON.parse(data) as Event;
      expect(parsed.type).toBe(name);
      return parsed;
    });
}

test('an answer is an item of output, behind what was thought', async () => {
  const { post, model } = api({ says: '<think>Hm.</think>Oslo.' });
  const { output, status, usage } = await made(post(RESPONSES, { ...HELLO, instructions: 'Be brief.' }));
  expect(status).toBe('completed');
  expect(output).toMatchObject([
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Oslo.', annotations: [] }],
    },
  ]);
  expect(usage?.input_tokens).toBe(model.sessions[0]?.tokens.length);
  expect(model.detokenize(model.sessions[0]?.tokens ?? [])).toBe(
    'system\nBe brief.\nuser\nWhere?\nassistant\n',
  );
});

test('a stream tells the same, each event behind the one before', async () => {
  const { post } = api({ says: '<think>Hm.</think>Oslo.' });
  const whole = await made(post(RESPONSES, HELLO));
  const all = await events(post(RESPONSES, { ...HELLO, stream: true }));
  expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, i) => i));
  const kinds = all.map(({ type }) => type);
  expect(kinds.filter((type) => !type.endsWith('.delta'))).toEqual([
    'response.created',
    'response.in_progress',
    ...['response.output_item.added', 'response.content_part.added', 'response.reasoning_text.done'],
    ...['response.content_part.done', 'response.output_item.done'],
    ...['response.output_item.added', 'response.content_part.added', 'response.output_text.done'],
    ...['response.content_part.done', 'response.output_item.done'],
    'response.completed',
  ]);
  const text = all.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
  expect(text.join('')).toBe('Oslo.');
  const withoutIds = ({ output }: ResponseBody) => output.map((item) => ({ ...item, id: '' }));
  expect(withoutIds(all.at(-1)?.response as ResponseBody)).toEqual(withoutIds(whole));
});

test('an answer that was cut off is incomplete', async () => {
  const { status, incomplete_details } = await made(
    api().post(RESPONSES, { ...HELLO, max_output_tokens: 1 }),
  );
  expect([status, incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
});

test('a response is gone on from by its id, without its instructions and its thoughts', async () => {
  const { post, model } = api({ says: '<think>Hm.</think>Oslo.' });
  const first = await made(post(RESPONSES, { ...HELLO, instructions: 'Be brief.' }));
  const second = await made(post(RESPONSES, { ...HELLO, input: 'Why?', previous_response_id: first.id }));
  expect(second.previous_response_id).toBe(first.id);
  expect(model.detokenize(model.sessions[1]?.tokens ?? [])).toMatch(
    /\nuser\nWhere\?\nassistant\nOslo\.\nuser\nWhy\?\nassistant\n$/,
  );
  const answer = first.output.find(({ type }) => type === 'message');
  await made(post(RESPONSES, { ...HELLO, input: [{ role: 'user', content: 'Where?' }, ...first.output, { role: 'user', content: [{ type: 'input_text', text: 'Why?' }] }] })); // prettier-ignore
  expect(answer).toBeDefined();
  expect(model.sessions[2]?.tokens).toEqual(model.sessions[1]?.tokens);
});

test('one that was not to be stored, or is none, is refused by name', async () => {
  const { post } = api();
  const { id } = await made(post(RESPONSES, { ...HELLO, store: false }));
  for (const unknown of [id, 'resp_none']) {
    const [status, param] = await refused(post(RESPONSES, { ...HELLO, previous_response_id: unknown }));
    expect([status, param]).toEqual([400, 'previous_response_id']);
  }
});

test.each([
  ['tools.0.name', [{ type: 'function' }], 'tools'],
  ['background', true],
  ['truncation', 'auto'],
  ['include', ['x']],
  ['conversation', 'x'],
  ['input.0.content.0.type', [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }], 'input'],
  ['text.format', { format: { type: 'json_schema', name: 'x', schema: { uniqueItems: true } } }, 'text'],
])('%s is not supported', async (param, value, field: string = param) => {
  const [status, told] = await refused(api().post(RESPONSES, { ...HELLO, [field]: value }));
  expect([status, told]).toEqual([400, param]);
});

test('the store keeps the latest, as many as it has room for', () => {
  const store = new ResponseStore();
  const said = (text: string) => [{ role: 'user' as const, parts: [{ text }] }];
  for (let i = 0; i < 1001; i++) store.keep(`r${i}`, said('x'));
  expect([store.get('r0'), store.get('r1')]).toEqual([undefined, said('x')]);
  store.keep('large', said('x'.repeat(16 * 1024 * 1024)));
  expect(store.get('r1000')).toBeUndefined();
  expect(store.get('large')).toBeDefined();
});
