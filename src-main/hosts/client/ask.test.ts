import { expect, test } from 'vitest';
import { AnswerSchema, type Answer, type Notice } from '../../../src-shared/answer.ts';
import type { SettingsInput } from '../../../src-shared/settings.ts';
import { keyFor } from '../../fusion/model.ts';
import type { PassingAnswer } from '../../fusion/watching/watch-service.ts';
import type { FakeModelOptions } from '../../testing/fusion.ts';
import { ask, withAnswer } from './ask.ts';
import { chatClient } from './ask.test-support.ts';

const REQUEST = {
  question: 'Where does Mara live?',
  strategy: { name: 'deviation' as const },
  topK: 3,
  maxTokens: 50,
};

const fixture = (model: FakeModelOptions = {}, settings: Partial<SettingsInput> = {}) =>
  chatClient({ model, settings });

test('an answer with its sources, times and events', async () => {
  const { client, session, store } = await fixture({ says: ' Oslo, où 中文 👩‍👩‍👧.' });
  const notices: Notice[] = [];
  let text = '';
  const answered = await ask(client, {
    ...REQUEST,
    onNotice: (notice) => notices.push(notice),
    onText: (more) => (text += more),
  });
  const json: Answer = AnswerSchema.strip().parse(answered);
  expect(AnswerSchema.parse(JSON.parse(JSON.stringify(json)))).toEqual(json);
  expect(answered.answer).toBe('Oslo, où 中文 👩‍👩‍👧.');
  expect(answered.sources[0]).toMatchObject({ document: 'mara.md', chunk: 0, tier: 'disk' });
  expect(answered.sources.some(({ text }) => text.includes('She lives in Oslo'))).toBe(true);
  expect(answered.notices.map(({ kind }) => kind)).toEqual(['plain-prompt']);
  expect(answered.ttftMs.total).toBeGreaterThan(0);
  expect(text).toBe(answered.answer);
  expect(notices).toEqual(answered.notices);
  expect(session()).toMatchObject({
    disposed: true,
    strategy: { kind: 'deviation', checkLayers: [1], ratios: [0.15] },
  });
  expect(store.leases).toBe(0);
});

test('thoughts are separated from the answer', async () => {
  const { client } = await fixture({ says: '<think>\nIn Oslo?\n</think>\n\nOslo.' });
  const told = { thought: '', text: '' };
  const { answer, thinking } = await ask(client, {
    ...REQUEST,
    onThought: (more) => (told.thought += more),
    onText: (more) => (told.text += more),
  });
  expect([thinking, answer]).toEqual(['In Oslo?', 'Oslo.']);
  expect([told.thought.trim(), told.text]).toEqual([thinking, answer]);
});

test('the ids in the prompt are those stored, never tokenised again', async () => {
  const { client, session, chunks } = await fixture();
  await ask(client, REQUEST);
  const known = new Set(chunks.map(({ tokens }) => tokens.join()));
  const placed =
    session()?.segments.flatMap((segment) =>
      segment.kind === 'chunk' ? [segment.chunk.tokens.join()] : [],
    ) ?? [];
  expect(placed).toHaveLength(3);
  expect(placed.every((tokens) => known.has(tokens))).toBe(true);
});

test('without a match the documents are read whole where they fit', async () => {
  const { client } = await fixture();
  const { sources } = await ask(client, { ...REQUEST, question: 'xylophone?' });
  expect(new Set(sources.map(({ reason }) => reason))).toEqual(
    new Set(['its whole document is in the prompt']),
  );
});

test('what does not fit the context is left out, and named', async () => {
  const { client } = await fixture({}, { contextTokens: 64 });
  const answered = await ask(client, { ...REQUEST, maxTokens: 16 });
  const left = answered.notices.find(({ kind }) => kind === 'left-out');
  expect(left?.message).toMatch(/context of 64 tokens .*left out: .+\(chunk \d\)/);
  expect(answered.sources.length).toBeGreaterThan(0);
});

test("the model's own context limits too", async () => {
  const { client } = await fixture({ contextTrain: 32 });
  await expect(ask(client, { ...REQUEST, question: 'why not '.repeat(50) })).rejects.toMatchObject({
    code: 'QUESTION_TOO_LONG',
  });
});

test('a miss is computed, reported as such, and stored afterwards', async () => {
  const { client, chat, store, model, chunks } = await fixture();
  const lost = chunks.map((chunk) => keyFor(model, 'f16', chunk))[1] ?? '';
  store.chunks.delete(lost);
  const answered = await ask(client, REQUEST);
  expect(answered.sources.map(({ tier }) => tier).sort()).toEqual(['computed', 'disk', 'disk']);
  await chat.idle();
  expect(store.has(lost)).toBe(true);
});

test('misses are not stored when that is switched off', async () => {
  const { client, chat, store } = await fixture({}, { storeMisses: false });
  store.chunks.clear();
  await ask(client, REQUEST);
  await chat.idle();
  expect(store.chunks.size).toBe(0);
});

test('a damaged chunk is computed instead, and reported', async () => {
  const { client, store, session } = await fixture();
  const before = await ask(client, REQUEST);
  const prompt = session()?.tokens;
  for (const key of store.chunks.keys()) store.damage(key);
  const answered = await ask(client, REQUEST);
  expect(answered.notices.map(({ kind }) => kind)).toContain('quarantined');
  expect(answered.answer).toBe(before.answer);
  expect(session()?.tokens).toEqual(prompt);
});

test('a full prefill reads nothing from the store and stores nothing', async () => {
  const { client, chat, store, model } = await fixture();
  const encoded = model.encoded;
  const answered = await ask(client, { ...REQUEST, strategy: { name: 'full' } });
  await chat.idle();
  expect(answered.sources.every(({ tier }) => tier === 'computed')).toBe(true);
  expect([model.encoded, store.quarantined.length]).toEqual([encoded, 0]);
});

test('one prompt made in several ways, which leaves nothing behind', async () => {
  const { client, store, model } = await fixture();
  const strategies = [{ name: 'query' as const, ratio: 0.3 }];
  const request = { answerTokens: 8, strategies, deep: true };
  const chunks = store.chunks.size;
  const { methods, deep } = await withAnswer(
    client,
    { ...REQUEST, topK: 2, strategy: { name: 'full' } },
    ({ id: answerId }) => client.call('chat.compare', { answerId, ...request }),
  );
  expect(methods.map(({ kind, answered }) => [kind, answered])).toEqual([
    ['full', true],
    ['prefix', false],
    ['reuse', false],
    ['blend', false],
  ]);
  expect(deep?.sweep.strategy).toBe('query');
  expect(store.chunks.size).toBe(chunks);
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
});

test('an aborted answer throws ABORTED and frees its session', async () => {
  const { client, model, store } = await fixture();
  await expect(ask(client, { ...REQUEST, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
  expect(store.leases).toBe(0);
});

test('an answer that repeats itself is stopped, and says why', async () => {
  const says = 'Mara lives in Oslo, where she builds bridges. '.repeat(40);
  const beforeToken = () => new Promise<void>((resolve) => setImmediate(resolve));
  const { client } = await fixture({ says, beforeToken });
  const { stop, answer, notices } = await ask(client, { ...REQUEST, maxTokens: 4000 });
  expect(stop).toBe('repetition');
  expect(answer.length).toBeLessThan(says.length / 4);
  expect(notices.map(({ kind }) => kind)).toContain('repeats');
});

test('names and numbers in an answer that no passage contains are reported', async () => {
  const { client } = await fixture({ says: 'Mara Lind moved to Bergen in 1987.' });
  const { notices } = await ask(client, REQUEST);
  const told = notices.find(({ kind }) => kind === 'unsupported');
  expect(told?.message).toMatch(/^Not in the passages: “Bergen”, “1987”\./);
  const asked = await ask(client, { ...REQUEST, question: 'Did Mara live in Bergen in 1987?' });
  expect(asked.notices.map(({ kind }) => kind)).not.toContain('unsupported');
});

test('the log gets a line about how an answer was made, with nothing that was asked or said', async () => {
  const lines: [string, Record<string, unknown>][] = [];
  const log = { debug: (event: string, fields = {}) => void lines.push([event, fields]) };
  const { client } = await chatClient({ log });
  await ask(client, REQUEST);
  expect(lines).toEqual([
    [
      'answer',
      expect.objectContaining({
        strategy: 'deviation',
        requestClass: 'question',
        stop: 'eos',
        tiers: { disk: 3 },
      }),
    ],
  ]);
  expect(Object.keys(lines[0]?.[1] ?? {})).toEqual(
    expect.arrayContaining(['reusedTokens', 'recomputedTokens', 'computedTokens', 'promptMs', 'ttftMs']),
  );
  expect(JSON.stringify(lines)).not.toMatch(/Mara|Oslo|answer\b.*An/);
});

test('watching gets what it needs to recompute an answer that the controller blended', async () => {
  const told: (PassingAnswer | undefined)[] = [];
  const { client, chat, events, model } = await chatClient({});
  events.on(({ topic, payload }) => {
    if (topic === 'chat.done') told.push(chat.remade.passing(payload.answerId));
  });
  await ask(client, REQUEST);
  expect(told).toEqual([undefined]); // people chose the strategy
  await ask(client, { ...REQUEST, strategy: { name: 'auto' } });
  const { fingerprint } = model.info;
  expect(told[1]).toMatchObject({
    fingerprint,
    libraryIds: ['1'],
    prompt: { strategy: { name: 'query' } },
  });
  expect(told[1]?.prompt.parts.some(({ kind }) => kind === 'chunk')).toBe(true);
});
