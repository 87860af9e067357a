/** `/v1/responses` with OpenAI's own client and the AI SDK, and answers that match a schema. */
import { generateText, Output, streamText } from 'ai';
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import OpenAI, { BadRequestError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { all, DEMO, KEY, LIBRARY, sampleApi } from './support/api-server.ts';

const MARA = 'Mara Lind is an engineer. She works in the Oslo office.\n\n';
const ASKED = `${MARA}Question: Where does Mara Lind work?`;
const greedy = { model: DEMO, temperature: 0, max_output_tokens: 24 };
const PLACE = z.object({ place: z.string().max(20), floor: z.number().nullable() });

const api = sampleApi();
let client: OpenAI;
let openai: OpenAIProvider;

beforeAll(() => {
  client = new OpenAI({ baseURL: api.server.baseURL, apiKey: KEY, maxRetries: 0 });
  openai = createOpenAI({ baseURL: api.server.baseURL, apiKey: KEY });
});

describe('responses', () => {
  test('answer, with usage', async () => {
    const { output_text, status, usage } = await client.responses.create({ ...greedy, input: ASKED });
    expect(output_text).toMatch(/Oslo/);
    expect(status).toBe('completed');
    expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  });

  test('stream the same answer as without streaming', async () => {
    const whole = await client.responses.create({ ...greedy, input: ASKED });
    const stream = client.responses.stream({ ...greedy, input: ASKED });
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const made = await stream.finalResponse();
    expect([made.output_text, deltas.join('')]).toEqual([whole.output_text, whole.output_text]);
    expect(made.usage?.output_tokens).toBe(whole.usage?.output_tokens);
  });

  test('continue an earlier one by its id, as if everything had been sent again', async () => {
    const first = await client.responses.create({ ...greedy, input: ASKED });
    const next = 'Question: Who works in Oslo?';
    const second = await client.responses.create({ ...greedy, input: next, previous_response_id: first.id });
    const whole = await client.responses.create({
      ...greedy,
      input: [
        { role: 'user', content: ASKED },
        { role: 'assistant', content: first.output_text },
        { role: 'user', content: next },
      ],
    });
    expect(second.usage?.input_tokens).toBe(whole.usage?.input_tokens);
    expect(second.output_text).toBe(whole.output_text);
    const unknown = client.responses.create({ ...greedy, input: next, previous_response_id: 'resp_none' });
    await expect(unknown).rejects.toThrow(BadRequestError);
  });

  test('of a library cite its documents', async () => {
    const made = await client.responses.create({
      ...greedy,
      model: LIBRARY,
      input: 'Where does Project Polaris run?',
    });
    expect(made.output_text).toMatch(/\[\d+\]/);
    expect(made).toMatchObject({
      citations: expect.arrayContaining([expect.objectContaining({ index: 1 })]) as unknown,
    });
  });

  test('work with the AI SDK', async () => {
    const asked = { model: openai(DEMO), temperature: 0, prompt: ASKED };
    const { text, usage } = await generateText(asked);
    expect(text).toMatch(/Oslo/);
    expect(usage.inputTokens).toBeGreaterThan(10);
    const streamed = streamText(asked);
    expect((await all(streamed.textStream)).join('')).toBe(text);
    expect(await streamed.finishReason).toBe('stop');
  });
});

describe('answers match a schema', () => {
  test("with OpenAI's client, which parses the answer", async () => {
    const made = await client.chat.completions.parse({
      model: DEMO,
      temperature: 0,
      messages: [{ role: 'user', content: ASKED }],
      response_format: zodResponseFormat(PLACE, 'place'),
    });
    expect(PLACE.safeParse(made.choices[0]?.message.parsed).success).toBe(true);
  });

  test('with the AI SDK, in chat and in responses', async () => {
    for (const model of [openai.chat(DEMO), openai(DEMO)]) {
      const { output } = await generateText({
        model,
        temperature: 0,
        prompt: ASKED,
        output: Output.object({ schema: PLACE }),
      });
      expect(PLACE.safeParse(output).success).toBe(true);
    }
  });

  test('or the schema is refused if it is unsupported', async () => {
    const schema = { type: 'object', properties: { at: { type: 'string', format: 'iri' } } };
    const asked = client.responses.create({
      ...greedy,
      input: ASKED,
      text: { format: { type: 'json_schema', name: 'time', schema } },
    });
    await expect(asked).rejects.toMatchObject({ param: 'text.format', message: expect.stringContaining('#/properties/at/format') as unknown }); // prettier-ignore
  });
});
