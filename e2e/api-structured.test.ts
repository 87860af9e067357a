/** Answers that match a schema, with the clients' own helpers, which also parse the answer. */
import { generateText, Output } from 'ai';
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DEMO, KEY, sampleApi } from './support/api-server.ts';

const ASKED =
  'Mara Lind is an engineer. She works in the Oslo office.\n\nQuestion: Where does Mara Lind work?';
const SHORT = z.string().max(12);
const KINDS = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('office'), floor: z.int().min(-2).max(40) }),
  z.object({ kind: z.literal('remote'), country: z.enum(['NO', 'DE']) }),
]);
const PERSON = z.object({
  id: z.uuid(),
  since: z.iso.date(),
  seen: z.iso.datetime(),
  mail: z.string().regex(/^[a-z]{2,8}@example\.com$/),
  share: z.number().min(0).max(1).nullable(),
  place: KINDS,
  tags: z.array(SHORT).max(2),
});
/** What OpenAI's strict schemas do not know, but the API does. */
const OPEN = PERSON.extend({
  point: z.tuple([z.int(), SHORT]),
  counts: z.partialRecord(z.enum(['a', 'b']), z.int().max(9)),
});

const api = sampleApi();

test("zod's types with OpenAI's client", async () => {
  const client = new OpenAI({ baseURL: api.server.baseURL, apiKey: KEY, maxRetries: 0 });
  const made = await client.chat.completions.parse({
    model: DEMO,
    temperature: 0,
    messages: [{ role: 'user', content: ASKED }],
    response_format: zodResponseFormat(PERSON, 'person'),
  });
  const [choice] = made.choices;
  expect(choice?.finish_reason).toBe('stop');
  expect(PERSON.safeParse(choice?.message.parsed).error).toBeUndefined();
  expect(choice?.message.content).toBe(JSON.stringify(JSON.parse(choice?.message.content ?? '')));
});

test("zod's types with the AI SDK, in chat and in responses", async () => {
  const openai = createOpenAI({ baseURL: api.server.baseURL, apiKey: KEY });
  for (const model of [openai.chat(DEMO), openai(DEMO)]) {
    const { output } = await generateText({
      model,
      temperature: 0,
      prompt: ASKED,
      output: Output.object({ schema: OPEN }),
      providerOptions: { openai: { strictJsonSchema: false } },
    });
    expect(OPEN.safeParse(output).error).toBeUndefined();
  }
});

test.each([
  [{ type: 'array', minItems: 5, maxItems: 2 }, '#'],
  [{ type: 'string', pattern: '(?:a|b)*a(?:a|b){20}' }, '#/pattern'],
  [
    { type: 'object', properties: { tags: { type: 'array', uniqueItems: true } } },
    '#/properties/tags/uniqueItems',
  ],
])('%j is refused by its path, and the server goes on', async (schema, path) => {
  const client = new OpenAI({ baseURL: api.server.baseURL, apiKey: KEY, maxRetries: 0 });
  const asked = client.chat.completions.create({
    model: DEMO,
    messages: [{ role: 'user', content: ASKED }],
    response_format: { type: 'json_schema', json_schema: { name: 'refused', schema } },
  });
  await expect(asked).rejects.toMatchObject({
    status: 400,
    param: 'response_format',
    code: 'unsupported_schema',
    message: expect.stringContaining(`${path} `) as unknown,
  });
});
