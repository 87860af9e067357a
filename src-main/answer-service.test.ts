import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AnswerSchema, type Answer } from '../src-shared/answer.ts';
import type { Strategy } from './engine/engine.ts';
import { FakeModel, type FakeModelOptions } from './testing/fusion.ts';
import { LibraryFakeStore, openFolder } from './testing/library.ts';
import { CostModel } from './fusion/planning/cost-model.ts';
import { StoredPrefixes } from './fusion/stored-prefixes.ts';
import { Gate } from './platform/gate.ts';
import { Planner } from './fusion/planning/planner.ts';
import { keyFor } from './fusion/model.ts';
import { Catalogue } from './catalogue/catalogue.ts';
import { SearchIndex } from './retrieval/search-index.ts';
import { AnswerService, type AnswerEvent, type AnswerServiceOptions } from './answering/answer-service.ts';

const DEVIATION: Strategy = { kind: 'deviation', checkLayers: [1], ratios: [0.15] };
const REQUEST = { question: 'Where does Mara live?', strategy: DEVIATION, topK: 3, maxTokens: 50 };

/** A library of two documents, precomputed, and the service that answers from it. */
async function fixture(modelOptions: FakeModelOptions = {}, options: Partial<AnswerServiceOptions> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-chat-'));
  mkdirSync(join(dir, 'docs'));
  writeFileSync(
    join(dir, 'docs', 'mara.md'),
    '# Mara Lind\n\nMara Lind builds bridges.\n\nShe lives in Oslo, at the harbour.\n',
  );
  writeFileSync(join(dir, 'docs', 'tea.txt'), 'Tea is free for all who live here.');
  const catalogue = Catalogue.open(join(dir, 'catalogue.sqlite'));
  onTestFinished(() => {
    catalogue.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const model = new FakeModel(modelOptions);
  const store = new LibraryFakeStore();
  const shared = { catalogue, store, model, dtype: 'f16' } as const;
  const library = await openFolder(join(dir, 'docs'), { ...shared, chunkTokens: 16 });
  const index = new SearchIndex(catalogue.database, library.chunkSetId);
  await library.drain();
  const costs = new CostModel(join(dir, 'costs.json'));
  const planner = new Planner({ costs, store, calibration: () => undefined });
  const prefixes = new StoredPrefixes({ store, gate: new Gate() });
  const service = new AnswerService({ ...shared, index, planner, prefixes, contextTokens: 4096, ...options });
  return { model, store, library, service, session: () => model.sessions.at(-1) };
}

test('an answer with its sources, times and events', async () => {
  const { service, session, store } = await fixture({ says: ' Oslo, où 中文 👩‍👩‍👧.' });
  const events: AnswerEvent[] = [];
  const answered = await service.answer(REQUEST, { onEvent: (event) => events.push(event) });
  const json: Answer = AnswerSchema.strip().parse(answered);
  expect(AnswerSchema.parse(JSON.parse(JSON.stringify(json)))).toEqual(json);
  expect(answered.answer).toBe('Oslo, où 中文 👩‍👩‍👧.');
  expect(answered.sources[0]).toMatchObject({ document: 'mara.md', chunk: 0, tier: 'disk' });
  expect(answered.sources.some(({ text }) => text.includes('She lives in Oslo'))).toBe(true);
  expect(answered.notices.map(({ kind }) => kind)).toEqual(['plain-prompt']);
  expect(answered.ttftMs.total).toBeGreaterThan(0);
  expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')).toBe(
    answered.answer,
  );
  expect(events.some(({ type }) => type === 'sources')).toBe(true);
  expect(session()).toMatchObject({ disposed: true, strategy: DEVIATION });
  expect(store.leases).toBe(0);
});

test('the ids in the prompt are those stored, never tokenised again', async () => {
  const { service, session, library } = await fixture();
  await service.answer(REQUEST);
  const known = new Set([...library.chunks()].map(({ tokens }) => tokens.join()));
  const placed =
    session()?.segments.flatMap((segment) =>
      segment.kind === 'chunk' ? [segment.chunk.tokens.join()] : [],
    ) ?? [];
  expect(placed).toHaveLength(3);
  expect(placed.every((tokens) => known.has(tokens))).toBe(true);
});

test('without a match it answers from no document, and says so', async () => {
  const { service } = await fixture();
  const answered = await service.answer({ ...REQUEST, question: 'xylophone?' });
  expect(answered.sources).toEqual([]);
  expect(answered.notices).toContainEqual({
    kind: 'no-match',
    message: expect.stringContaining('none of your documents') as string,
  });
});

test('what does not fit the context is left out, and named', async () => {
  const { service } = await fixture({}, { contextTokens: 52 });
  const answered = await service.answer({ ...REQUEST, maxTokens: 10 });
  const left = answered.notices.find(({ kind }) => kind === 'left-out');
  expect(left?.message).toMatch(/context of 52 tokens .*left out: .+\(part \d\)/);
  expect(answered.sources.length).toBeGreaterThan(0);
});

test("the model's own context limits too", async () => {
  const { service } = await fixture({ contextTrain: 32 });
  await expect(service.answer({ ...REQUEST, question: 'why not '.repeat(50) })).rejects.toMatchObject({
    code: 'QUESTION_TOO_LONG',
  });
});

test('a miss is computed, told as such, and stored afterwards', async () => {
  const { service, store, model, library } = await fixture();
  const lost = [...library.chunks()].map(({ tokens }) => keyFor(model, 'f16', tokens))[1] ?? '';
  store.chunks.delete(lost);
  const answered = await service.answer(REQUEST);
  expect(answered.sources.map(({ tier }) => tier).sort()).toEqual(['computed', 'disk', 'disk']);
  await service.idle();
  expect(store.has(lost)).toBe(true);
});

test('misses are not stored when that is switched off', async () => {
  const { service, store } = await fixture({}, { storeMisses: false });
  store.chunks.clear();
  await service.answer(REQUEST);
  await service.idle();
  expect(store.chunks.size).toBe(0);
});

test('a damaged chunk is computed instead, and told', async () => {
  const { service, store, session } = await fixture();
  const before = await service.answer(REQUEST);
  const prompt = session()?.tokens;
  for (const key of store.chunks.keys()) store.damage(key);
  const answered = await service.answer(REQUEST);
  expect(answered.notices.map(({ kind }) => kind)).toContain('quarantined');
  expect(answered.answer).toBe(before.answer);
  expect(session()?.tokens).toEqual(prompt);
});

test('a full prefill reads nothing from the store and stores nothing', async () => {
  const { service, store, model } = await fixture();
  const encoded = model.encoded;
  const answered = await service.answer({ ...REQUEST, strategy: { kind: 'full' } });
  await service.idle();
  expect(answered.sources.every(({ tier }) => tier === 'computed')).toBe(true);
  expect([model.encoded, store.quarantined.length]).toEqual([encoded, 0]);
});

test('one prompt made in several ways, which leaves nothing behind', async () => {
  const { service, store, model } = await fixture();
  const strategies = [{ name: 'union' as const, ratio: 0.3 }];
  const request = { question: 'Where does Mara live?', topK: 2, answerTokens: 8, strategies, deep: true };
  const chunks = store.chunks.size;
  const { methods, deep } = await service.compare(request);
  expect(methods.map(({ kind, answered }) => [kind, answered])).toEqual([
    ['full', false],
    ['prefix', false],
    ['reuse', false],
    ['blend', false],
  ]);
  expect(deep?.sweep.strategy).toBe('union');
  expect(store.chunks.size).toBe(chunks);
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
});

test('an aborted answer throws ABORTED and frees its session', async () => {
  const { service, model, store } = await fixture();
  await expect(service.answer(REQUEST, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
  expect(store.leases).toBe(0);
});
