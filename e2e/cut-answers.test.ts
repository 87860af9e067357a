/** Answers that end within a character, a stop text or a thought, through the API with a model over single bytes. */
import OpenAI from 'openai';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeDir, tempDir } from './cli-support.ts';
import { all, endApi, KEY, serveApi, useModel, type ApiServer } from './support/api-server.ts';
import { FAMILIES, vocabularyFile, type Family } from './support/vocabularies.ts';

/** Its generation prompt opens the thought, as those of DeepSeek R1 and Qwen 3 Thinking, so that only the end mark is generated. */
const THINKS_FIRST =
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n<think>\n";
const BARE = THINKS_FIRST.replace('<think>\n', '');
/** Characters of three and four bytes. */
const WRITTEN = '"😀漢字🎉"';

let dir: string;
const servers: ApiServer[] = [];
let bytes: Served;
let thinker: Served;

interface Served {
  client: OpenAI;
  model: string;
}

beforeAll(async () => {
  dir = tempDir();
  bytes = await serve('Bytes', BARE);
  thinker = await serve('Thinker', THINKS_FIRST);
});
afterAll(async () => {
  await Promise.all(servers.map(endApi));
  removeDir(dir);
});

async function serve(name: string, template: string): Promise<Served> {
  const family = FAMILIES['qwen 3'] as Family;
  const file = vocabularyFile(join(dir, `${name}.gguf`), family, { 'tokenizer.chat_template': template });
  const data = join(dir, name);
  const model = await useModel(data, file, name, { sample: false });
  const server = await serveApi(data);
  servers.push(server);
  return { model, client: new OpenAI({ baseURL: server.baseURL, apiKey: KEY, maxRetries: 0 }) };
}

/** Asks for `WRITTEN`, as the only answer that the schema allows. */
function requestOf(limits: { max_tokens?: number; stop?: string }) {
  const schema = { enum: [JSON.parse(WRITTEN) as string] };
  return {
    ...limits,
    model: bytes.model,
    messages: [{ role: 'user' as const, content: 'a' }],
    response_format: { type: 'json_schema' as const, json_schema: { name: 'text', strict: false, schema } },
  };
}

describe.each([1, 2, 3, 4, 6, 9, 14])('cut after %i tokens', (maxTokens) => {
  test('an answer has whole characters, streamed or not', async () => {
    const request = requestOf({ max_tokens: maxTokens });
    const { choices, usage } = await bytes.client.chat.completions.create(request);
    const whole = choices[0]?.message.content ?? '';
    expect(WRITTEN.startsWith(whole)).toBe(true);
    // As many characters as its tokens complete: one byte each.
    expect(whole).toBe(completed(maxTokens));
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.completion_tokens).toBe(maxTokens);
    const stream = await bytes.client.chat.completions.create({ ...request, stream: true });
    const pieces = await all(stream);
    expect(pieces.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe(whole);
    expect(pieces.every(({ choices: [choice] }) => !choice?.delta.content?.includes('\ufffd'))).toBe(true);
  });

  test('a stop text that begins in its middle of a character is none', async () => {
    const { choices } = await bytes.client.chat.completions.create(
      requestOf({ max_tokens: maxTokens, stop: '😁' }),
    );
    expect(choices[0]?.message.content ?? '').toBe(completed(maxTokens));
  });
});

test('a stop text ends the answer before it, and the rest is not sent', async () => {
  const { choices } = await bytes.client.chat.completions.create(requestOf({ stop: '字🎉' }));
  expect(choices[0]).toMatchObject({ message: { content: '"😀漢' }, finish_reason: 'stop' });
});

test('a thought that the prompt opens is never part of the answer', async () => {
  for (const [seed, maxTokens] of [
    [1, 4],
    [2, 40],
    [3, 400],
    [4, 400],
  ] as const) {
    const request = {
      model: thinker.model,
      max_tokens: maxTokens,
      seed,
      messages: [{ role: 'user' as const, content: 'a' }],
    };
    const { choices, usage } = await thinker.client.chat.completions.create(request);
    const message = choices[0]?.message as { content: string | null; reasoning_content?: string };
    expect(message.content ?? '').not.toContain('</think>');
    expect(message.reasoning_content).toBeTruthy();
    if (choices[0]?.finish_reason === 'length') expect(usage?.completion_tokens).toBe(maxTokens);
    if (maxTokens === 4) {
      expect(choices[0]?.finish_reason).toBe('length');
      expect(message.content ?? '').toBe('');
    }
    const pieces = await all(await thinker.client.chat.completions.create({ ...request, stream: true }));
    const sent = pieces.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('');
    expect(sent).toBe(message.content ?? '');
  }
});

/** The characters of the answer that its first bytes complete. */
function completed(bytes: number): string {
  return new TextDecoder('utf-8').decode(Buffer.from(WRITTEN).subarray(0, bytes)).replace(/\ufffd$/, '');
}
