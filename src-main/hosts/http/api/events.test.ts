import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { api } from './api.test-support.ts';
import { eventStream, type EventSender } from './events.ts';

const KEEP_ALIVE = ': keepalive\n\n';
const MESSAGES = [{ role: 'user' as const, content: 'Where?' }];
const PATHS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: MESSAGES },
  '/v1/completions': { prompt: 'Once' },
  '/v1/responses': { input: 'Where?' },
  '/v1/messages': { messages: MESSAGES, max_tokens: 9 },
};

/** A stream whose first token waits for `held`, read up to its first piece. */
async function waiting(path: string, held: Promise<void>) {
  held.catch(() => undefined); // may be rejected before the answer waits for it
  const { post } = api({ keepAliveMs: 1, beforeToken: () => held });
  const answer = await post(path, { model: 'Fake', stream: true, ...PATHS[path] });
  const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = (await pieces?.read())?.value;
  const rest = async (): Promise<string> => {
    let text = '';
    for (let next = await pieces?.read(); next?.done === false; next = await pieces?.read())
      text += next.value;
    return text;
  };
  return { answer, first, rest };
}

test.each(Object.keys(PATHS))('%s says that it is at work, before its first token', async (path) => {
  const held = Promise.withResolvers<undefined>();
  const { answer, first, rest } = await waiting(path, held.promise);
  expect([answer.status, first]).toEqual([200, KEEP_ALIVE]);
  held.resolve(undefined);
  expect((await rest()).replaceAll(KEEP_ALIVE, '')).toMatch(/^(event: .*\n)?data: \{/);
});

test.each(Object.keys(PATHS))('%s tells as an event what fails after that', async (path) => {
  const held = Promise.withResolvers<undefined>();
  const { rest } = await waiting(path, held.promise);
  held.reject(new KvasirError('REMOTE_SLOW', 'Nothing came.'));
  const events = (await rest()).replaceAll(KEEP_ALIVE, '').trim().split('\n\n');
  expect(events).toHaveLength(1);
  expect(events[0]).toContain('Nothing came.');
});

/** Options of a client whose stream begins with that. */
function keptAlive() {
  const held = Promise.withResolvers<undefined>();
  const { routes } = api({ keepAliveMs: 1, beforeToken: () => held.promise });
  return {
    apiKey: 'none',
    maxRetries: 0,
    fetch: async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const answer = await routes.request(new Request(url, init));
      held.resolve(undefined); // once that was sent: otherwise there would be no response
      return answer;
    },
  };
}

test('the official clients leave that out', async () => {
  const asked = { model: 'Fake', messages: MESSAGES };
  const openai = new OpenAI({ ...keptAlive(), baseURL: 'http://localhost/v1' });
  let text = '';
  for await (const { choices } of await openai.chat.completions.create({ ...asked, stream: true }))
    text += choices[0]?.delta.content ?? '';
  const anthropic = new Anthropic({ ...keptAlive(), baseURL: 'http://localhost' });
  const { content } = await anthropic.messages.stream({ ...asked, max_tokens: 50 }).finalMessage();
  expect([text, content]).toMatchObject(['She lives in Oslo.', [{ text: 'She lives in Oslo.' }]]);
});

/** A stream whose work ends when the test allows it. */
function held() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const work = Promise.withResolvers<undefined>();
  let send: EventSender | undefined;
  const onLeft = vi.fn();
  const stream = eventStream({
    work: (to, signal) => {
      send = to;
      signal.addEventListener('abort', onLeft);
      return work.promise;
    },
    failed: (error, to) => to(String(error)),
    signal: new AbortController().signal,
    keepAliveMs: 1000,
  });
  return { stream, onLeft, send: (data: unknown) => send?.(data), ...work };
}

test('a stream is kept alive as long as nothing is sent, from one event to the next', async () => {
  const { stream, send, resolve } = held();
  vi.advanceTimersByTime(1000);
  const answer = await stream;
  vi.advanceTimersByTime(999);
  send('a');
  vi.advanceTimersByTime(999);
  send('b');
  vi.advanceTimersByTime(2000);
  resolve(undefined);
  expect(await answer.text()).toBe(`${KEEP_ALIVE}data: "a"\n\ndata: "b"\n\n${KEEP_ALIVE}${KEEP_ALIVE}`);
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream that fails before anything was sent has no answer, and no timer any more', async () => {
  const { stream, reject } = held();
  reject(new Error('broken'));
  await expect(stream).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream that is left is not kept alive', async () => {
  const { stream, send, onLeft } = held();
  send('a');
  await (await stream).body?.cancel();
  expect([onLeft.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
});
