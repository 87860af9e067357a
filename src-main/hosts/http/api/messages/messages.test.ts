import { describe, expect, test } from 'vitest';
import { serverModel } from '../../../../testing/server-model.ts';
import { api } from '../api.test-support.ts';
import { usageOf } from './answer.ts';
import { citablesOf } from './prompt.ts';
import type { FailureBody, MessageBody, TextBlock } from './schemas.ts';

const PATH = '/v1/messages';
const HELLO = { model: 'Fake', max_tokens: 50, messages: [{ role: 'user', content: 'Where?' }] };
const MARA = 'Mara Lind builds bridges. She lives in Oslo.';

type Api = ReturnType<typeof api>;

function document(data: string, more: object = {}): object {
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data },
    citations: { enabled: true },
    ...more,
  };
}

function sentPdf(pages: readonly string[]): object {
  const data = Buffer.from(pages.join('\n')).toString('base64');
  return document('', { title: 'Notes', source: { type: 'base64', media_type: 'application/pdf', data } });
}

const user = (...content: object[]): object => ({ ...HELLO, messages: [{ role: 'user', content }] });
const text = (said: string, more: object = {}): object => ({ type: 'text', text: said, ...more });

async function asked(
  routes: Api,
  body: object,
): Promise<Omit<MessageBody, 'content'> & { content: TextBlock[] }> {
  const answer = await routes.post(PATH, body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as MessageBody & { content: TextBlock[] };
}

async function failed(answer: Promise<Response>): Promise<[status: number, type: string, message: string]> {
  const response = await answer;
  const body = (await response.json()) as FailureBody;
  expect(body.type).toBe('error');
  return [response.status, body.error.type, body.error.message];
}

/** Events of a stream, with their names. */
async function streamed(routes: Api, body: object): Promise<[string, Record<string, unknown>][]> {
  const answer = await (await routes.post(PATH, { ...body, stream: true })).text();
  return answer
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      const told = JSON.parse(data) as Record<string, unknown>;
      expect(told['type']).toBe(name);
      return [name, told];
    });
}

describe('what is not supported', () => {
  test.each([
    ['tools', [{ name: 'f' }]],
    ['tool_choice', { type: 'any' }],
    ['tool_choice', { type: 'tool' }],
    ['mcp_servers', [{}]],
    ['thread', { type: 'create' }],
    ['container', 'x'],
    ['output_config', {}],
    ['some_thing', 1],
    ['thinking', { type: 'enabled', budget_tokens: 2000 }],
    ['temperature', 1.5],
    ['max_tokens', -1],
    ['max_tokens', undefined],
  ])('%s is refused by its name', async (field, value) => {
    const [status, type, message] = await failed(api().post(PATH, { ...HELLO, [field]: value }));
    expect([status, type]).toEqual([400, 'invalid_request_error']);
    expect(message).toContain(field);
  });

  test.each([
    [text('x', { type: 'image', source: {} }), /content\.0\.type: .*no images/],
    [{ type: 'tool_result' }, /content\.0\.tool_use_id/],
    [
      document('x', { source: { type: 'base64', media_type: 'image/png', data: 'eA==' } }),
      /media_type: Only text\/plain and application\/pdf/,
    ],
    [document('x', { source: { type: 'url', url: 'http://x' } }), /source\.type: .*fetches nothing/],
    [document('x', { source: { type: 'file', file_id: 'x' } }), /source\.type/],
    [text('x', { cache_control: { type: 'forever' } }), /cache_control/],
  ])('%j of a message, too', async (block, why) => {
    const [status, type, message] = await failed(api().post(PATH, user(block)));
    expect([status, type]).toEqual([400, 'invalid_request_error']);
    expect(message).toMatch(why);
  });

  test('an answer that was begun', async () => {
    const messages = [...HELLO.messages, { role: 'assistant', content: 'In' }];
    expect((await failed(api().post(PATH, { ...HELLO, messages })))[2]).toMatch(/go on with an answer/);
  });

  test('documents for a library, which has its own', async () => {
    const body = { ...user(document('x'), text('Where?')), model: 'kvasir/Notes' };
    expect((await failed(api().post(PATH, body)))[2]).toMatch(/its own documents/);
  });
});

test('failures have their types', async () => {
  expect((await failed(api().post(PATH, { ...HELLO, model: 'none' }))).slice(0, 2)).toEqual([
    404,
    'not_found_error',
  ]);
  const routes = api({ keys: ['right'] });
  expect((await failed(routes.post(PATH, HELLO))).slice(0, 2)).toEqual([401, 'authentication_error']);
  const wrong = { 'x-api-key': 'wrong' };
  expect((await failed(routes.post(PATH, HELLO, wrong))).slice(0, 2)).toEqual([401, 'authentication_error']);
  for (const headers of [{ 'x-api-key': 'right' }, { Authorization: 'Bearer right' }])
    expect((await routes.post(PATH, HELLO, headers)).status).toBe(200);
});

test('what changes nothing may be sent, and answers as they came', async () => {
  const harmless = {
    cache_control: { type: 'ephemeral', ttl: '1h' },
    metadata: { user_id: 'me' },
    service_tier: 'auto',
    thinking: { type: 'disabled' },
    system: null,
    messages: [
      ...HELLO.messages,
      { role: 'assistant', content: [text('In Oslo.', { citations: [{ type: 'char_location' }] })] },
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'And now?' },
    ],
  };
  expect((await api().post(PATH, { ...HELLO, ...harmless })).status).toBe(200);
});

test('an answer says why it ended', async () => {
  const ended = async (more: object) => {
    const { stop_reason, stop_sequence, content } = await asked(api(), { ...HELLO, ...more });
    return [stop_reason, stop_sequence, content.map((block) => block.text).join('')];
  };
  expect(await ended({})).toEqual(['end_turn', null, 'She lives in Oslo.']);
  expect(await ended({ stop_sequences: ['x', ' in'] })).toEqual(['stop_sequence', ' in', 'She lives']);
  expect((await ended({ max_tokens: 3 }))[0]).toBe('max_tokens');
});

test('a stream has the events of the form, and says what is said at once', async () => {
  const whole = await asked(api(), HELLO);
  const events = await streamed(api(), HELLO);
  const names = events.map(([name]) => name);
  expect(names.slice(0, 3)).toEqual(['message_start', 'ping', 'content_block_start']);
  expect(names.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  const deltas = events.flatMap(([, { delta }]) => (delta as { text?: string } | undefined)?.text ?? []);
  expect(deltas.join('')).toBe('She lives in Oslo.');
  expect(events.at(-2)?.[1]).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: whole.usage });
});

test('a stream begins with what the prompt took; of a model on a server that is told at its end', async () => {
  const begunWith = async (routes: Api, body: object): Promise<[object, object]> => {
    const events = await streamed(routes, body);
    const { message } = events[0]![1] as { message: MessageBody };
    return [message.usage, events.at(-2)?.[1]['usage'] as MessageBody['usage']];
  };
  const routes = api();
  const body = { ...user(document(MARA), text('Where?')), kvasir: { strategy: { name: 'none' } } };
  for (const stored of [true, false]) {
    const [begun, ended] = await begunWith(routes, body);
    expect(begun).toEqual({ ...ended, output_tokens: 0 });
    const { cache_creation_input_tokens, cache_read_input_tokens } = begun as MessageBody['usage'];
    expect([cache_creation_input_tokens > 0, cache_read_input_tokens > 0]).toEqual([stored, !stored]);
  }
  const [begun, ended] = await begunWith(api({ server: serverModel() }), HELLO);
  expect(Object.values(begun)).toEqual([0, 0, 0, 0]);
  expect(ended).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 30, output_tokens: 5 });
});

describe('documents', () => {
  test('are cited by characters, exactly', async () => {
    const content = [
      document('Nothing is here.'),
      document(MARA, { title: 'Notes' }),
      text('Where is Mara?'),
    ];
    const { content: blocks } = await asked(api(), user(...content));
    const start = MARA.indexOf('She');
    expect(blocks).toEqual([
      {
        type: 'text',
        text: 'She lives in Oslo.',
        citations: [
          {
            type: 'char_location',
            cited_text: 'She lives in Oslo.',
            document_index: 1,
            document_title: 'Notes',
            start_char_index: start,
            end_char_index: MARA.length,
            file_id: null,
          },
        ],
      },
    ]);
  });

  test('in blocks are cited by them; in base64 as the text they are', async () => {
    const source = { type: 'content', content: [text('Mara builds bridges.'), text('Mara lives in Oslo.')] };
    const blocks = (await asked(api(), user(document('', { source }), text('Where?')))).content;
    expect(blocks[0]?.citations).toMatchObject([
      {
        type: 'content_block_location',
        cited_text: 'Mara lives in Oslo.',
        start_block_index: 1,
        end_block_index: 2,
      },
    ]);
    const data = Buffer.from(MARA).toString('base64');
    const packed = document('', { source: { type: 'base64', media_type: 'text/plain', data } });
    const cited = (await asked(api(), user(packed, text('Where?')))).content;
    expect(cited[0]?.citations?.[0]?.cited_text).toBe('She lives in Oslo.');
  });

  test('that are PDFs are cited by their pages, the end excluded', async () => {
    const pages = ['Mara builds bridges.', '', 'She lives', 'in Oslo. Jon sells tea.'];
    const blocks = (await asked(api(), user(document('Tea.'), sentPdf(pages), text('Where?')))).content;
    expect(blocks[0]?.citations).toEqual([
      {
        type: 'page_location',
        cited_text: 'She lives\nin Oslo.',
        document_index: 1,
        document_title: 'Notes',
        start_page_number: 2,
        end_page_number: 4,
        file_id: null,
      },
    ]);
  });

  test('that are PDFs are chunks like any text, and count as such', async () => {
    const routes = api();
    const kvasir = { strategy: { name: 'deviation', ratio: 0.15 } };
    const pdf = sentPdf(['Mara lives in Oslo.', 'Jon lives in Porto.']);
    const first = (await asked(routes, { ...user(pdf, text('Where?')), kvasir })).usage;
    const second = (await asked(routes, { ...user(text('So: '), pdf, text('Where?')), kvasir })).usage;
    expect(first.cache_creation_input_tokens).toBeGreaterThan(10);
    expect(second.cache_creation_input_tokens).toBe(0);
    const { messages } = user(pdf, text('Where?')) as typeof HELLO;
    const counted = await routes.post(`${PATH}/count_tokens`, { model: 'Fake', messages });
    expect(await counted.json()).toEqual({
      input_tokens: first.input_tokens + first.cache_creation_input_tokens,
    });
  });

  test('that are PDFs nobody can read fail the request, a stream of it too', async () => {
    for (const stream of [false, true])
      expect(await failed(api().post(PATH, { ...user(sentPdf([]), text('Where?')), stream }))).toEqual([
        400,
        'invalid_request_error',
        'It is empty.',
      ]);
  });

  test('that nobody wants cited, or that support nothing, are not', async () => {
    for (const content of [
      [document(MARA, { citations: null })],
      [document(MARA, { citations: { enabled: false } })],
      [document('Tea is free.')],
    ]) {
      const { content: blocks } = await asked(api(), user(...content, text('Where?')));
      expect(blocks).toEqual([{ type: 'text', text: 'She lives in Oslo.', citations: null }]);
    }
  });

  test('are cited in a stream as at once', async () => {
    const body = user(document(MARA), text('Where?'));
    const events = await streamed(api(), body);
    const [block] = (await asked(api(), body)).content;
    expect(events.find(([name]) => name === 'content_block_start')?.[1]).toMatchObject({
      index: 0,
      content_block: { type: 'text', text: '', citations: [] },
    });
    const deltas = events.flatMap(
      ([, { delta }]) => (delta as { citation?: object } | undefined)?.citation ?? [],
    );
    expect(deltas).toEqual(block?.citations);
  });

  test('and what is marked are encoded once, and read wherever they stand', async () => {
    const routes = api();
    const [mara, jon] = [
      document(MARA),
      text('Jon Berg sells tea in Porto.\n\n', { cache_control: { type: 'ephemeral' } }),
    ];
    const kvasir = { strategy: { name: 'none' } };
    const first = (await asked(routes, { ...user(mara, jon, text('Where?')), kvasir })).usage;
    const second = (await asked(routes, { ...user(text('So: '), jon, mara, text('Where?')), kvasir })).usage;
    expect(first.cache_read_input_tokens).toBe(0);
    expect(first.cache_creation_input_tokens).toBeGreaterThan(10);
    expect(second.cache_creation_input_tokens).toBe(0);
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    const { input_tokens } = (await (
      await routes.post(`${PATH}/count_tokens`, {
        model: 'Fake',
        messages: [{ role: 'user', content: [mara, jon, text('Where?')] }],
      })
    ).json()) as { input_tokens: number };
    expect(input_tokens).toBe(first.input_tokens + first.cache_creation_input_tokens);
  });
});

describe('no tokens at all', () => {
  const body = { ...user(document(MARA), text('Where?')), kvasir: { strategy: { name: 'none' } } };
  const nothing = { ...body, max_tokens: 0 };

  test('fill the cache, and are told as an answer without a word', async () => {
    const routes = api();
    const { content, stop_reason, usage } = await asked(routes, nothing);
    expect([content, stop_reason, usage.output_tokens]).toEqual([[], 'max_tokens', 0]);
    const { cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage;
    expect([created > 10, read]).toEqual([true, 0]);
    expect(routes.model.sessions.map(({ disposed }) => disposed)).toEqual([true]);
    const after = (await asked(routes, body)).usage;
    expect([after.cache_creation_input_tokens, after.cache_read_input_tokens]).toEqual([0, created]);
  });

  test('are streamed as well', async () => {
    const names = (await streamed(api(), nothing)).map(([name]) => name);
    expect(names).toEqual(['message_start', 'ping', 'message_delta', 'message_stop']);
  });

  test('are refused of a model on a server, which has no cache here', async () => {
    const [status, type, message] = await failed(
      api({ server: serverModel() }).post(PATH, { ...HELLO, max_tokens: 0 }),
    );
    expect([status, type]).toEqual([400, 'invalid_request_error']);
    expect(message).toMatch(/no cache to fill/);
  });
});

test('characters are counted, not their halves', () => {
  const [, second] = citablesOf([{ title: null, cited: true, content: 'A 🐟 swims. It is red.' }]);
  expect(second?.location).toMatchObject({
    cited_text: 'It is red.',
    start_char_index: 11,
    end_char_index: 21,
  });
});

test('every token of a prompt is told once', () => {
  const of = (promptTokens: number, cachedTokens: number, storedTokens: number) => {
    const usage = { promptTokens, cachedTokens, storedTokens, completionTokens: 5 };
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usageOf(usage);
    return [input_tokens, cache_read_input_tokens, cache_creation_input_tokens];
  };
  expect(of(100, 30, 50)).toEqual([20, 30, 50]);
  // An evicted chunk in a prefix that is still held: it was stored, but read.
  expect(of(100, 70, 50)).toEqual([0, 70, 30]);
});
