/** OpenAI's own client with the real server and the demo model. */
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { all, DEMO, KEY, LIBRARY, sampleApi } from './support/api-server.ts';

/** Kvasir's extensions of an answer. */
interface KvasirAnswer {
  kvasir: {
    strategy: { name: string; ratio: number };
    reused_tokens: number;
    recomputed_tokens: number;
    computed_tokens: number;
    stored_tokens: number;
    chunks: Record<string, number>;
    ttft_ms: Record<string, number>;
  };
  citations?: { index: number; document: string; text: string; start: number }[];
}

/** An annotation, with Kvasir's extension. */
interface CitedUrl extends OpenAI.ChatCompletionMessage.Annotation.URLCitation {
  cited_text: string;
}

/** Fixed, because the controller's own choice depends on this machine's speed. */
const BLENDED = { kvasir: { strategy: { name: 'deviation', ratio: 0.15 } } };
const MARA = 'Mara Lind is an engineer. She works in the Oslo office.\n\n';
const JON = 'Jon Berg sells tea in Porto. His favourite sport is chess.\n\n';
const ASKED = { role: 'user', content: 'Question: Where does Mara Lind work?' } as const;

const api = sampleApi();
let client: OpenAI;

beforeAll(() => {
  client = new OpenAI({ baseURL: api.server.baseURL, apiKey: KEY, maxRetries: 0 });
});

/** Settings with a deterministic answer. */
const greedy = { model: DEMO, temperature: 0, max_tokens: 24 };

async function chat(
  messages: OpenAI.ChatCompletionMessageParam[],
  more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> & object = {},
): Promise<OpenAI.ChatCompletion & KvasirAnswer> {
  const made = await client.chat.completions.create({ ...greedy, messages, ...more });
  return made as OpenAI.ChatCompletion & KvasirAnswer;
}

const textOf = ({ choices }: OpenAI.ChatCompletion): string => choices[0]?.message.content ?? '';

describe('models', () => {
  test('are listed and retrieved', async () => {
    const listed = await all(client.models.list());
    const ids = listed.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([DEMO, LIBRARY]));
    for (const id of [DEMO, LIBRARY])
      expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model' });
  });
});

describe('chat', () => {
  test('answers, with usage', async () => {
    const made = await chat([{ role: 'user', content: `${MARA}${JON}Question: Where does Mara Lind work?` }]);
    expect(textOf(made)).toMatch(/Oslo/);
    const { prompt_tokens, completion_tokens, total_tokens } = made.usage ?? { prompt_tokens: NaN };
    expect(total_tokens).toBe(prompt_tokens + (completion_tokens ?? NaN));
    expect(made.choices[0]?.finish_reason).toBe('stop');
    const { data } = await client
      .post<{ count: number }>('/tokenize', {
        body: {
          model: DEMO,
          messages: [{ role: 'user', content: `${MARA}${JON}Question: Where does Mara Lind work?` }],
        },
      })
      .withResponse();
    expect(data.count).toBe(prompt_tokens);
  });

  test('streams the same answer as without streaming', async () => {
    const whole = await chat([ASKED]);
    const stream = await client.chat.completions.create({
      ...greedy,
      messages: [ASKED],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await all(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(textOf(whole));
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: whole.usage?.completion_tokens, prompt_tokens: whole.usage?.prompt_tokens },
    });
  });

  test("the client's helper collects the stream into an answer", async () => {
    const stream = client.chat.completions.stream({ ...greedy, messages: [ASKED] });
    expect(await stream.finalContent()).toBe(textOf(await chat([ASKED])));
  });

  test('ends at a stop text, with and without streaming', async () => {
    const text = textOf(await chat([ASKED]));
    const stop = text.slice(3, 8);
    const stopped = await chat([ASKED], { stop });
    expect([textOf(stopped), stopped.choices[0]?.finish_reason]).toEqual([
      text.slice(0, text.indexOf(stop)),
      'stop',
    ]);
    const stream = client.chat.completions.stream({ ...greedy, messages: [ASKED], stop: [stop] });
    expect(await stream.finalContent()).toBe(textOf(stopped));
  });

  test('ends at the token limit, under either name', async () => {
    for (const limit of [{ max_tokens: 3 }, { max_tokens: 9, max_completion_tokens: 3 }]) {
      const { choices, usage } = await chat([ASKED], limit);
      expect([choices[0]?.finish_reason, usage?.completion_tokens]).toEqual(['length', 3]);
    }
  });

  test('returns log probabilities of its tokens, most likely first', async () => {
    const made = await chat([ASKED], { logprobs: true, top_logprobs: 3 });
    const content = made.choices[0]?.logprobs?.content ?? [];
    expect(content).toHaveLength(made.usage?.completion_tokens ?? NaN);
    expect(
      content
        .map(({ token }) => token)
        .join('')
        .trim(),
    ).toBe(textOf(made));
    for (const { token, logprob, bytes, top_logprobs } of content) {
      expect(top_logprobs[0]).toMatchObject({ token, logprob, bytes }); // greedy
      expect(top_logprobs).toHaveLength(3);
      expect(logprob).toBeLessThanOrEqual(0);
      expect(Buffer.from(bytes ?? []).toString()).toBe(token);
      const sum = top_logprobs.reduce((total, each) => total + Math.exp(each.logprob), 0);
      expect(sum).toBeLessThanOrEqual(1 + 1e-6);
    }
  });

  test('concurrent requests get the same answers as alone', async () => {
    const questions = [
      'Where does Mara Lind work?',
      'What does Jon Berg sell?',
      'Where does Jon Berg live?',
    ].map((text): OpenAI.ChatCompletionMessageParam => ({
      role: 'user',
      content: `${MARA}${JON}Question: ${text}`,
    }));
    const alone: string[] = [];
    for (const asked of questions) alone.push(textOf(await chat([asked])));
    const together = await Promise.all([...questions, ...questions].map((asked) => chat([asked])));
    expect(together.map(textOf)).toEqual([...alone, ...alone]);
  });

  test('a seed makes sampling repeatable', async () => {
    const asked = (seed: number) =>
      // eslint-disable-next-line typescript/no-deprecated -- clients send it
      chat([{ role: 'user', content: 'Once' }], { temperature: 1.8, seed, top_p: 1 });
    const [first, again, other] = [await asked(7), await asked(7), await asked(8)].map(textOf);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('a prefix that was computed before is reported as cached', async () => {
    const long = `${`${MARA}${JON}`.repeat(8)}Question: Where does Mara Lind work?`;
    const first = await chat([{ role: 'user', content: long }]);
    const again = await chat([{ role: 'user', content: long }]);
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    const cached = again.usage?.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThan(64);
    expect(cached).toBeLessThan(again.usage?.prompt_tokens ?? 0);
    expect(textOf(again)).toBe(textOf(first));
  });
});

describe('text marked by a client', () => {
  const part = (text: string) => ({ type: 'text' as const, text, cache: true });
  const question = { type: 'text' as const, text: 'Question: Where does Mara Lind work?' };

  test('is encoded once, and reused at another position by the next request', async () => {
    const first = await chat([{ role: 'user', content: [part(MARA), part(JON), question] }], BLENDED);
    const { stored_tokens } = first.kvasir;
    expect(stored_tokens).toBeGreaterThan(20);
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);

    const between = { type: 'text' as const, text: 'And what else is known? ' };
    const second = await chat(
      [{ role: 'user', content: [part(JON), between, part(MARA), question] }],
      BLENDED,
    );
    const { reused_tokens, recomputed_tokens, computed_tokens, strategy, ttft_ms } = second.kvasir;
    expect([second.kvasir.stored_tokens, reused_tokens]).toEqual([0, stored_tokens]);
    expect(recomputed_tokens).toBeGreaterThan(0);
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBe(reused_tokens - recomputed_tokens);
    expect(computed_tokens + reused_tokens).toBe(second.usage?.prompt_tokens);
    expect(strategy).toEqual({ name: 'deviation', ratio: 0.15 });
    expect(ttft_ms['total']).toBeGreaterThan(0);
    expect(textOf(second)).toMatch(/Oslo/);
  });
});

test('two concurrent requests with the same text share its cache', async () => {
  const text = 'Ada Holm paints ships in Bergen, and has a parrot called Admiral.\n\n';
  const content = [
    { type: 'text' as const, text, cache: true },
    { type: 'text' as const, text: 'Question: What does Ada Holm paint?' },
  ];
  const asked = () => chat([{ role: 'user', content }], BLENDED);
  const [one, other] = await Promise.all([asked(), asked()]);
  expect(textOf(other)).toBe(textOf(one));
  const { stored_tokens, reused_tokens } = (await asked()).kvasir;
  expect([stored_tokens, reused_tokens]).toEqual([0, one.kvasir.reused_tokens]);
});

describe('a library', () => {
  const question = { role: 'user', content: 'Where does Project Polaris run?' } as const;

  test('answers from its documents, and cites them', async () => {
    const made = await chat([question], { model: LIBRARY, ...BLENDED });
    const cited = made.citations ?? [];
    const about = cited.find(({ text }) => text.includes('Project Polaris'))?.document;
    expect(about).toBeDefined();
    const marks = [...textOf(made).matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
    expect(marks.length).toBeGreaterThan(0);
    for (const mark of marks) expect(cited[mark - 1]?.document).toBe(about);
    expect(made.kvasir.reused_tokens).toBeGreaterThan(made.kvasir.computed_tokens);
    expect(made.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0);
  });

  test('streams the same, with citations at the end', async () => {
    const whole = await chat([question], { model: LIBRARY, ...BLENDED });
    const stream = await client.chat.completions.create({
      ...greedy,
      ...BLENDED,
      model: LIBRARY,
      messages: [question],
      stream: true,
    });
    const chunks = await all(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(textOf(whole));
    expect((chunks.at(-1) as unknown as KvasirAnswer).citations).toEqual(whole.citations);
  });

  test("has OpenAI's annotations for the sentences that carry a fact, in a stream, too", async () => {
    const whole = await chat([question], { model: LIBRARY, ...BLENDED });
    const { content, annotations = [] } = whole.choices[0]?.message ?? {};
    expect(annotations).toHaveLength(1);
    const { url_citation: cited } = annotations[0] as unknown as { url_citation: CitedUrl };
    const passages = whole.citations ?? [];
    const passage = passages.find(({ text }) => text.includes(cited.cited_text));
    expect(cited.title).toBe(passage?.document);
    const [, start = '', end = ''] = /^kvasir:document\/\d+\?start=(\d+)&end=(\d+)$/.exec(cited.url) ?? [];
    const at = passage?.start ?? 0;
    expect(passage?.text.slice(Number(start) - at, Number(end) - at)).toBe(cited.cited_text);
    const sentence = content?.slice(cited.start_index, cited.end_index) ?? '';
    expect(sentence).toMatch(/^Project Polaris .*\.$/);
    const [, city = '-'] = /in (\p{Lu}\p{Ll}+)/u.exec(sentence) ?? [];
    expect(cited.cited_text).toContain(city);

    const asked = { ...greedy, ...BLENDED, model: LIBRARY, stream: true } as const;
    const chunks = await all(await client.chat.completions.create({ ...asked, messages: [question] }));
    const streamed = chunks.flatMap(
      ({ choices }) => (choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? [],
    );
    expect(streamed).toEqual(annotations);

    const { output } = await client.responses.create({
      ...{ model: LIBRARY, input: question.content, temperature: 0, max_output_tokens: 24 },
      ...BLENDED,
    });
    expect(output.at(-1)).toMatchObject({
      content: [{ annotations: [{ type: 'url_citation', ...cited }] }],
    });
  });

  test('reads what it has where nothing matches', async () => {
    const nothing = { role: 'user', content: 'Xyzzy plugh?' } as const;
    const { citations = [] } = (await chat([nothing], { model: LIBRARY })) as { citations?: object[] };
    expect(citations.length).toBeGreaterThan(0);
  });
});

test('text is continued, and streamed', async () => {
  const asked = {
    model: DEMO,
    prompt: `${MARA}Question: Where does Mara Lind work?\nAnswer:`,
    temperature: 0,
  };
  const whole = await client.completions.create({ ...asked, logprobs: 2 });
  expect(whole.choices[0]?.text).toMatch(/^ .*Oslo/);
  expect(whole.choices[0]?.logprobs?.tokens?.join('')).toBe(whole.choices[0]?.text);
  const stream = await client.completions.create({ ...asked, stream: true });
  const chunks = await all(stream);
  expect(chunks.map(({ choices }) => choices[0]?.text).join('')).toBe(whole.choices[0]?.text);
});

describe('failures', () => {
  test("are instances of the client's error classes", async () => {
    const tools = { tools: [{ type: 'function', function: { name: 'f' } }] } as const;
    await expect(chat([ASKED], tools as never)).rejects.toThrow(
      /Tools are not supported by .* of Kvasir demo/,
    );
    await expect(chat([ASKED], { n: 2 })).rejects.toThrow(BadRequestError);
    await expect(chat([ASKED], { model: 'none' })).rejects.toThrow(NotFoundError);
    const long = 'word '.repeat(3000);
    await expect(chat([{ role: 'user', content: long }])).rejects.toMatchObject({
      code: 'context_length_exceeded',
    });
    const stranger = new OpenAI({ baseURL: api.server.baseURL, apiKey: 'wrong', maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toThrow(AuthenticationError);
    await expect(client.embeddings.create({ model: DEMO, input: 'x' })).rejects.toThrow(NotFoundError);
  });
});
