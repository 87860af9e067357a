/** Anthropic's own client with the real server and the demo model. */
import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
} from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { encryptedPdf, pdf } from '../tools/test-documents/documents.ts';
import { all, DEMO, KEY, LIBRARY, sampleApi } from './support/api-server.ts';

/** Fixed, because the controller's own choice depends on this machine's speed. */
const BLENDED = { kvasir: { strategy: { name: 'deviation', ratio: 0.15 } } };
const MARA = 'Mara Lind is an engineer. She works in the Oslo office.';
const JON = 'Jon Berg sells tea in Porto. His favourite sport is chess.';
const QUESTION: Anthropic.TextBlockParam = { type: 'text', text: 'Question: Where does Mara Lind work?' };

const api = sampleApi();
let client: Anthropic;

beforeAll(() => {
  client = new Anthropic({ baseURL: api.server.origin, apiKey: KEY, maxRetries: 0 });
});

type Content = Anthropic.MessageParam['content'];
/** The client also sends fields that its types lack: Kvasir's extensions, and `temperature`, which newer types omit. */
type ExtendedParams = Partial<Anthropic.MessageCreateParamsNonStreaming> & Record<string, unknown>;

/** A request with a deterministic answer. */
function asking(content: Content, more: ExtendedParams = {}): Anthropic.MessageCreateParamsNonStreaming {
  const request = { model: DEMO, max_tokens: 24, temperature: 0, ...BLENDED };
  return { ...request, messages: [{ role: 'user', content }], ...more };
}

const ask = (content: Content, more?: ExtendedParams) => client.messages.create(asking(content, more));

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function document(data: string, more: object = {}): Anthropic.DocumentBlockParam {
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data },
    citations: { enabled: true },
    ...more,
  };
}

describe('a message', () => {
  test('is answered, with usage', async () => {
    const content = `${MARA}\n\n${JON}\n\nQuestion: Where does Mara Lind work?`;
    const made = await ask(content);
    expect(textOf(made)).toMatch(/Oslo/);
    expect(made).toMatchObject({ type: 'message', role: 'assistant', model: DEMO, stop_reason: 'end_turn' });
    const { messages, model } = asking(content);
    const counted = await client.messages.countTokens({ model, messages });
    const system = [{ type: 'text' as const, text: 'Answer in short.' }];
    const longer = await client.messages.countTokens({ model, messages, system });
    expect(longer.input_tokens).toBeGreaterThan(counted.input_tokens);
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = made.usage;
    expect(input_tokens + (cache_read_input_tokens ?? NaN) + (cache_creation_input_tokens ?? NaN)).toBe(
      counted.input_tokens,
    );
    expect(made.usage.output_tokens).toBeGreaterThan(1);
  });

  test('is streamed with the same content as without streaming', async () => {
    const whole = await ask([QUESTION]);
    const stream = client.messages.stream(asking([QUESTION]));
    const final = await stream.finalMessage();
    expect([textOf(final), final.stop_reason]).toEqual([textOf(whole), whole.stop_reason]);
    expect(final.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(final.usage.input_tokens).toBeGreaterThan(0);
    const events = await all(await client.messages.create({ ...asking([QUESTION]), stream: true }));
    expect(events.filter(({ type }) => type === 'content_block_delta').length).toBeGreaterThan(3);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['message_start', 'message_stop']);
  });

  test('ends at a stop sequence, and at the token limit', async () => {
    const text = textOf(await ask([QUESTION]));
    const stop = text.slice(3, 8);
    const stopped = await ask([QUESTION], { stop_sequences: [stop] });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: stop });
    expect(textOf(stopped)).toBe(text.slice(0, text.indexOf(stop)));
    const short = await ask([QUESTION], { max_tokens: 2 });
    expect([short.stop_reason, short.usage.output_tokens]).toEqual(['max_tokens', 2]);
  });

  test('with top_k 1 is greedy at any temperature', async () => {
    const greedy = textOf(await ask([QUESTION]));
    expect(textOf(await ask([QUESTION], { temperature: 1, top_k: 1 }))).toBe(greedy);
  });

  test('works with a library, too', async () => {
    const question = 'Where does Project Polaris run?';
    const made = await ask(question, { model: LIBRARY });
    const { citations } = made as unknown as { citations: { text: string; document: string }[] };
    const mark = Number(/\[(\d+)\]/.exec(textOf(made))?.[1]);
    const about = citations.find(({ text }) => text.includes('Project Polaris'));
    expect(about).toBeDefined();
    expect(citations[mark - 1]?.document).toBe(about?.document);
    const [cited] = made.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []));
    expect(cited).toMatchObject({
      type: 'search_result_location',
      search_result_index: mark - 1,
      title: about?.document,
    });
    expect(citations[mark - 1]?.text).toContain(cited?.cited_text ?? '-');
    const streamed = client.messages.stream(asking(question, { model: LIBRARY }));
    expect((await streamed.finalMessage()).content).toEqual(made.content);
  });
});

describe('documents', () => {
  test('are cited exactly', async () => {
    const texts = [JON, MARA];
    const made = await ask([document(JON, { title: 'Jon' }), document(MARA, { title: 'Mara' }), QUESTION]);
    expect(textOf(made)).toMatch(/Oslo/);
    const citations = made.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []));
    expect(citations.length).toBeGreaterThan(0);
    for (const citation of citations) {
      if (citation.type !== 'char_location') throw new Error(`a ${citation.type}`);
      const { document_index, document_title, cited_text, start_char_index, end_char_index } = citation;
      expect([document_index, document_title]).toEqual([1, 'Mara']);
      expect(texts[document_index]?.slice(start_char_index, end_char_index)).toBe(cited_text);
    }
    expect(citations[0]?.cited_text).toBe('She works in the Oslo office.');
  });

  test('are cited in a stream as without one, by blocks if sent as blocks', async () => {
    const source = {
      type: 'content' as const,
      content: [JON, MARA].map((text) => ({ type: 'text' as const, text })),
    };
    const content = [document('', { source }), QUESTION];
    const whole = await ask(content);
    const final = await client.messages.stream(asking(content)).finalMessage();
    expect(final.content).toEqual(whole.content);
    expect(whole.content[0]).toMatchObject({
      citations: [
        {
          type: 'content_block_location',
          cited_text: MARA,
          document_index: 0,
          start_block_index: 1,
          end_block_index: 2,
        },
      ],
    });
  });

  test('and marked blocks are computed once: in another order they are read from the cache', async () => {
    const [ada, pia] = [
      document('Ada Holm paints ships in Bergen. She has a parrot called Admiral.'),
      document('Pia Moe repairs clocks in Tromsø. Her dog is called Minute.', { title: 'Pia' }),
    ];
    const marked: Anthropic.TextBlockParam = {
      type: 'text',
      text: 'Ola Vik bakes bread in Molde. He sings while he does.\n\n',
      cache_control: { type: 'ephemeral' },
    };
    const asked: Anthropic.TextBlockParam = {
      type: 'text',
      text: 'Question: Where does Pia Moe repair clocks?',
    };
    const first = await ask([ada, marked, pia, asked]);
    expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(30);
    expect(first.usage.cache_read_input_tokens).toBe(0);
    const second = await ask([pia, ada, marked, asked]);
    expect(second.usage.cache_creation_input_tokens).toBe(0);
    expect(second.usage.cache_read_input_tokens).toBeGreaterThan(0);
    expect(second.usage.cache_read_input_tokens).toBeLessThanOrEqual(
      first.usage.cache_creation_input_tokens ?? 0,
    );
    const sum = ({ usage }: Anthropic.Message): number =>
      usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
    expect(sum(second)).toBe(sum(first));
  });
});

describe('the cache', () => {
  test('is filled by a request for no tokens, and a stream starts with the number of cached tokens', async () => {
    const content = [document('Eva Dahl builds kites in Arendal. Her sister is a pilot.'), QUESTION];
    const filled = await ask(content, { max_tokens: 0 });
    expect([filled.content, filled.stop_reason, filled.usage.output_tokens]).toEqual([[], 'max_tokens', 0]);
    expect(filled.usage.cache_creation_input_tokens).toBeGreaterThan(10);
    const mark = { cache_control: { type: 'ephemeral' as const } };
    const events = await all(await client.messages.create({ ...asking(content, mark), stream: true }));
    const begun = events.flatMap((event) => (event.type === 'message_start' ? [event.message.usage] : []));
    expect(begun).toMatchObject([{ cache_creation_input_tokens: 0, output_tokens: 0 }]);
    expect(begun[0]?.cache_read_input_tokens).toBeGreaterThan(10);
    const ended = events.flatMap((event) => (event.type === 'message_delta' ? [event.usage] : []));
    const { input_tokens, cache_read_input_tokens } = begun[0]!;
    expect(ended).toMatchObject([{ input_tokens, cache_read_input_tokens }]);
  });
});

function sentPdf(bytes: Buffer, title = 'Staff'): Anthropic.DocumentBlockParam {
  const data = bytes.toString('base64');
  return document('', { title, source: { type: 'base64', media_type: 'application/pdf', data } });
}

describe('a PDF', () => {
  /** One page without text, and a sentence that continues on the next line. */
  const PAGES = [['Tea is free.'], [], ['Mara Lind is an engineer. Mara Lind works', 'in the Oslo office.']];

  test('is cited by its pages, with and without streaming', async () => {
    const content = [document(JON, { title: 'Jon' }), sentPdf(await pdf(PAGES)), QUESTION];
    const made = await ask(content);
    expect(textOf(made)).toMatch(/Oslo/);
    const citations = made.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []));
    expect(citations).toContainEqual({
      type: 'page_location',
      cited_text: 'Mara Lind works\nin the Oslo office.',
      document_index: 1,
      document_title: 'Staff',
      start_page_number: 3,
      end_page_number: 4,
      file_id: null,
    });
    const final = await client.messages.stream(asking(content)).finalMessage();
    expect(final.content).toEqual(made.content);
  });

  test('is computed once: the next question reads it from the cache, at any position', async () => {
    const pages = Array.from({ length: 12 }, (_, i) => [
      `Ship ${i} is called Vega ${i}. It carries ${i} tons of fish from Bergen to Tromsø every month.`,
      `Its captain is ${i + 30} years old, and plays the accordion when the sea is calm.`,
    ]);
    const bytes = await pdf(pages);
    const asked: Anthropic.TextBlockParam = { type: 'text', text: 'Question: How old is the captain?' };
    const first = await ask([sentPdf(bytes), asked]);
    expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(200);
    expect(first.usage.cache_read_input_tokens).toBe(0);
    const before: Anthropic.TextBlockParam = { type: 'text', text: 'Read this with care.\n\n' };
    const second = await ask([before, sentPdf(bytes, 'By another name'), asked]);
    expect(second.usage.cache_creation_input_tokens).toBe(0);
    expect(second.usage.cache_read_input_tokens).toBeGreaterThan(100);
    const { messages, model } = asking([sentPdf(bytes), asked]);
    const { input_tokens } = await client.messages.countTokens({ model, messages });
    const { usage } = first;
    expect(input_tokens).toBe(usage.input_tokens + (usage.cache_creation_input_tokens ?? NaN));
  });

  test.each([
    [
      'damaged',
      400,
      'invalid_request_error',
      () => Buffer.from('%PDF-1.7 and nothing of the kind'),
      /damaged/,
    ],
    ['damaged and large', 400, 'invalid_request_error', () => Buffer.alloc(11_000_000, 'a'), /damaged/],
    ['empty', 400, 'invalid_request_error', () => Buffer.alloc(0), /no text in it/],
    ['blank', 400, 'invalid_request_error', () => pdf([[], []]), /no text in it/],
    ['encrypted', 400, 'invalid_request_error', () => encryptedPdf(), /password/],
    ['too large', 413, 'request_too_large', () => Buffer.alloc(13_000_000), /bytes at most/],
  ])('that is %s is refused with a reason', async (_, status, type, make, why) => {
    const content = [sentPdf(await make()), QUESTION];
    const streamed = () => client.messages.stream(asking(content)).finalMessage();
    for (const asked of [() => ask(content), streamed]) {
      const failure = await asked().catch((error: unknown) => error);
      if (!(failure instanceof APIError)) throw new Error('the request was answered');
      expect([failure.status, failure.type]).toEqual([status, type]);
      expect(failure.message).toMatch(why);
    }
  });
});

describe('failures', () => {
  test("are instances of the client's error classes, with a reason", async () => {
    const tools = [{ name: 'f', input_schema: { type: 'object' as const } }];
    await expect(ask([QUESTION], { tools })).rejects.toThrow(BadRequestError);
    await expect(ask([QUESTION], { tools })).rejects.toMatchObject({ type: 'invalid_request_error' });
    await expect(ask([QUESTION], { tools })).rejects.toThrow(/Tools are not supported by .* of Kvasir demo/);
    const thinking = { type: 'enabled' as const, budget_tokens: 2000 };
    await expect(ask([QUESTION], { thinking })).rejects.toThrow(/thinking/);
    const image = { type: 'image' as const, source: { type: 'url' as const, url: 'http://x/y.png' } };
    await expect(ask([image, QUESTION])).rejects.toThrow(/no images/);
    await expect(ask([QUESTION], { model: 'none' })).rejects.toThrow(NotFoundError);
    await expect(ask('word '.repeat(3000))).rejects.toThrow(/tokens, but the context holds/);
    const stream = client.messages.stream(asking([QUESTION], { model: 'none' }));
    await expect(stream.finalMessage()).rejects.toThrow(NotFoundError);
  });

  test('a wrong key is refused, and the right one is also accepted as a bearer token', async () => {
    const wrong = new Anthropic({ baseURL: api.server.origin, apiKey: 'wrong', maxRetries: 0 });
    await expect(wrong.messages.create(asking([QUESTION]))).rejects.toThrow(AuthenticationError);
    await expect(wrong.messages.create(asking([QUESTION]))).rejects.toMatchObject({
      type: 'authentication_error',
    });
    const bearer = new Anthropic({ baseURL: api.server.origin, apiKey: null, authToken: KEY, maxRetries: 0 });
    expect(textOf(await bearer.messages.create(asking([QUESTION])))).not.toBe('');
  });

  test('an abandoned stream ends, and the next message is answered', async () => {
    const stream = client.messages.stream(asking([QUESTION]));
    stream.on('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(APIUserAbortError);
    expect(textOf(await ask([QUESTION]))).not.toBe('');
  });
});
