/** The Vercel AI SDK's OpenAI provider with the real server and the demo model. */
import { APICallError, generateText, streamText } from 'ai';
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import { beforeAll, expect, test } from 'vitest';
import { all, DEMO, KEY, LIBRARY, sampleApi } from './support/api-server.ts';

const MARA = 'Mara Lind is an engineer. She works in the Oslo office.\n\n';
const prompt = `${MARA}Question: Where does Mara Lind work?`;

const api = sampleApi();
let openai: OpenAIProvider;

beforeAll(() => {
  openai = createOpenAI({ baseURL: api.server.baseURL, apiKey: KEY });
});

test('text is generated, with usage', async () => {
  const { text, usage, finishReason } = await generateText({
    model: openai.chat(DEMO),
    temperature: 0,
    instructions: 'Be brief.',
    prompt,
  });
  expect(text).toMatch(/Oslo/);
  expect(finishReason).toBe('stop');
  expect(usage.inputTokens).toBeGreaterThan(10);
  expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
});

test('a stream has the same text', async () => {
  const asked = { model: openai.chat(DEMO), temperature: 0, prompt };
  const { text } = await generateText(asked);
  const streamed = streamText(asked);
  const pieces = await all(streamed.textStream);
  expect(pieces.join('')).toBe(text);
  expect(pieces.length).toBeGreaterThan(2);
  expect(await streamed.finishReason).toBe('stop');
  expect((await streamed.usage).outputTokens).toBeGreaterThan(2);
});

test('stop texts and limits apply', async () => {
  const { text } = await generateText({ model: openai.chat(DEMO), temperature: 0, prompt });
  const stop = text.slice(4, 9);
  const stopped = await generateText({
    model: openai.chat(DEMO),
    temperature: 0,
    prompt,
    stopSequences: [stop],
  });
  expect(stopped.text).toBe(text.slice(0, text.indexOf(stop)));
  const short = await generateText({ model: openai.chat(DEMO), temperature: 0, prompt, maxOutputTokens: 2 });
  expect([short.finishReason, short.usage.outputTokens]).toEqual(['length', 2]);
});

test('a library works as a model', async () => {
  const question = 'Where does Project Polaris run?';
  const { text, finalStep } = await generateText({
    model: openai.chat(LIBRARY),
    temperature: 0,
    prompt: question,
    include: { responseBody: true },
  });
  expect(text).toMatch(/\[\d+\]/);
  const { citations, kvasir } = finalStep.response.body as { citations: object[]; kvasir: object };
  expect(citations[0]).toMatchObject({ index: 1 });
  expect(kvasir).toHaveProperty('reused_tokens');
});

test('a failure rejects the call, with its status', async () => {
  const asked = generateText({ model: openai.chat('none'), prompt, maxRetries: 0 });
  await expect(asked).rejects.toThrow(APICallError);
  await expect(asked).rejects.toMatchObject({ statusCode: 404 });
});
