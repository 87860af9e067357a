import { describe, expect, test } from 'vitest';
import type { Step } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { FakeModel } from '../testing/fusion.ts';
import { fixture } from '../testing/analysis.ts';

const TASK = { documentId: '1', instruction: 'Name the towns.', size: 4, overlap: 1 };
const spans = (steps: readonly Step[]): string[] =>
  steps.map(({ kind, from, to }) => `${kind} ${from}-${to}`);

test('a document is read window by window, and the answers are combined', async () => {
  const { service, model, finished } = fixture();
  const { id } = await service.analyse(TASK);
  const analysis = await finished(id);
  expect(analysis).toMatchObject({
    state: 'done',
    title: 'Towns',
    model: 'Fake',
    stepsDone: 4,
    failure: null,
  });
  expect(spans(analysis.steps)).toEqual(['window 0-4', 'window 3-7', 'window 6-10', 'combine 0-3']);
  expect(analysis.steps[1]?.sources.map(({ ordinal }) => ordinal)).toEqual([3, 4, 5, 6]);
  expect(analysis.steps.every(({ text }) => text === 'What was found.')).toBe(true);
  const asked = model.detokenize(model.sessions.at(-1)?.tokens ?? []);
  expect(asked).toContain('Part 3:\nWhat was found.');
  expect(asked).toContain('What was asked: Name the towns.');
  expect(analysis.steps[3]?.notices.map(({ kind }) => kind)).toEqual(['plain-prompt']); // and not 'no-match'
});

test("overlapping windows find each other's chunks in the store", async () => {
  const { service, model, store, finished } = fixture();
  const { id } = await service.analyse(TASK);
  const { steps, sharing } = await finished(id);
  expect(model.encoded).toBe(10);
  expect(steps.map(({ encoded }) => encoded?.chunks ?? 0)).toEqual([4, 3, 3, 0]);
  expect(steps[1]?.stats?.chunkHits).toEqual({
    resident: 0,
    device: 0,
    ram: 0,
    disk: 4,
    shared: 0,
    partial: 0,
    computed: 0,
  });
  expect(sharing).toMatchObject({ uses: 12, chunks: 10 });
  expect(store.leases).toBe(0);
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
});

test('one window needs no combining', async () => {
  const { service, finished } = fixture();
  const { id } = await service.analyse({ ...TASK, size: undefined, overlap: undefined });
  expect(spans((await finished(id)).steps)).toEqual(['window 0-10']);
});

test('answers that do not fit one prompt are combined in rounds', async () => {
  const { service, finished } = fixture({
    settings: { contextTokens: 320, maxTokens: 70 },
    says: 'word '.repeat(70),
  });
  const { id } = await service.analyse({ ...TASK, size: 2, overlap: 0 });
  const { steps, state } = await finished(id);
  expect(state).toBe('done');
  const combined = steps.filter(({ kind }) => kind === 'combine');
  expect(combined.length).toBeGreaterThan(1);
  const windows = steps.length - combined.length;
  // Every step but the last is read by exactly one other.
  const read = combined.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
  expect(read).toEqual(Array.from({ length: steps.length - 1 }, (_, i) => i));
  expect(windows).toBe(5);
});

test('the plan says what will be done', async () => {
  const { service } = fixture();
  expect(await service.plan(TASK)).toMatchObject({
    ...{ chunks: 10, windows: 3, size: 4, overlap: 1, storedChunks: 0, blends: true },
  });
});

test('a model set to full prefill is recognised, and nothing is stored', async () => {
  const { service, model, finished } = fixture({ settings: { strategy: { name: 'full', ratio: 0.15 } } });
  expect((await service.plan(TASK)).blends).toBe(false);
  const { id } = await service.analyse(TASK);
  const { steps } = await finished(id);
  expect(model.encoded).toBe(0);
  expect(steps[1]?.stats?.chunkHits).toEqual({
    resident: 0,
    device: 0,
    ram: 0,
    disk: 0,
    shared: 0,
    partial: 0,
    computed: 4,
  });
});

test('stopped after a window, it continues with the next one, also after a restart', async () => {
  const first = fixture({
    beforeToken: (index) => {
      const { steps } = first.service.get(id);
      if (index === 0 && steps[1]?.state === 'running') first.service.stop(id);
      return Promise.resolve();
    },
  });
  const { id } = await first.service.analyse(TASK);
  const stopped = await first.finished(id);
  expect(stopped.state).toBe('stopped');
  expect(stopped.steps.map(({ state }) => state)).toEqual(['done', 'waiting', 'waiting']);
  await first.close();

  const second = fixture({ dir: first.dir });
  second.service.resume(id);
  const done = await second.finished(id);
  expect(done.state).toBe('done');
  expect(done.steps[0]).toEqual(stopped.steps[0]);
  expect(second.model.sessions.length).toBeLessThan(4);
});

test('what was running when the process ended is stopped at the next start', async () => {
  const never = Promise.withResolvers<undefined>();
  const first = fixture({ beforeToken: () => never.promise });
  const { id } = await first.service.analyse(TASK);
  const second = fixture({ dir: first.dir });
  expect(second.service.get(id).state).toBe('stopped');
  await second.close();
  never.resolve(undefined);
});

test('a question of a conversation goes first; the window then starts over', async () => {
  const order: string[] = [];
  let asked: Promise<unknown> | undefined;
  const { service, gate, events, finished } = fixture({
    beforeToken: async (index) => {
      order.push(`token ${index}`);
      if (index === 2) asked ??= gate.foreground(() => Promise.resolve(order.push('question')));
      await new Promise((resolve) => setTimeout(resolve, 60)); // longer than the text that is held back
    },
  });
  const { id } = await service.analyse({ ...TASK, size: undefined, overlap: undefined });
  const { steps } = await finished(id);
  await asked;
  expect(order.slice(0, 5)).toEqual(['token 0', 'token 1', 'token 2', 'question', 'token 0']);
  expect(steps[0]?.text).toBe('What was found.');
  const texts = events.flatMap((event) => (event.topic === 'analysis.text' ? [event.payload] : []));
  expect(texts.filter(({ offset }) => offset === 0)).toHaveLength(2);
  // The text that a window assembles from the events is the answer.
  const text = texts.reduce((before, piece) => before.slice(0, piece.offset) + piece.text, '');
  expect(text).toBe('What was found.');
});

test('the prompt of an interrupted window is still in the session', async () => {
  let interrupted = false;
  const { service, gate, finished } = fixture({
    beforeToken: async (index) => {
      if (index === 1 && !interrupted) {
        interrupted = true;
        await gate.foreground(() => Promise.resolve());
      }
    },
  });
  const { id } = await service.analyse({ ...TASK, size: undefined, overlap: undefined });
  const { steps } = await finished(id);
  const stats = steps[0]?.stats;
  expect(stats?.residentTokens).toBe((stats?.promptTokens ?? 0) - 2);
});

test('a document that changed meanwhile is not mixed with what was read before', async () => {
  const { service, state, finished } = fixture();
  const { id } = await service.analyse(TASK);
  await finished(id);
  state.version = 'v2';
  service.resume(id, service.get(id).steps[1]?.id);
  const again = await finished(id);
  expect(again).toMatchObject({ state: 'failed', failure: { code: 'CONFLICT' } });
  expect(again.steps.map(({ state: step }) => step)).toEqual(['done', 'waiting', 'done']);
});

test('a deleted document is reported, and its result stays, with sources that link to nothing', async () => {
  const { service, state, finished } = fixture();
  const { id } = await service.analyse(TASK);
  await finished(id);
  state.gone = true;
  await expect(service.analyse(TASK)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const analysis = service.get(id);
  expect(analysis.steps[0]?.text).toBe('What was found.');
  expect(analysis.steps[0]?.sources.every(({ documentId }) => documentId === null)).toBe(true);
});

test('another model in between ends it with a reason', async () => {
  const { service, models, finished } = fixture({
    beforeToken: () => {
      models.active = { ...models.active, model: new FakeModel() };
      return Promise.resolve();
    },
  });
  const { id } = await service.analyse(TASK);
  expect(await finished(id)).toMatchObject({ state: 'failed', failure: { code: 'CONFLICT' }, stepsDone: 1 });
});

test('a window taken again takes the combined answer with it', async () => {
  const { service, model, finished } = fixture();
  const { id } = await service.analyse(TASK);
  const before = await finished(id);
  model.says = 'Another answer.';
  service.resume(id, before.steps[1]?.id);
  const after = await finished(id);
  expect(after.state).toBe('done');
  expect(after.steps.map(({ text }) => text)).toEqual([
    ...['What was found.', 'Another answer.', 'What was found.', 'Another answer.'],
  ]);
});

test('a full disk does not prevent an analysis', async () => {
  const { service, store, finished } = fixture();
  store.putFails = new KvasirError('DISK_FULL', 'full');
  const { id } = await service.analyse(TASK);
  expect((await finished(id)).state).toBe('done');
});

test('one waits for the other, and can be stopped before its turn or deleted', async () => {
  const { service, finished } = fixture();
  const [one, two, three] = [
    await service.analyse(TASK),
    await service.analyse(TASK),
    await service.analyse(TASK),
  ];
  service.stop(two.id);
  expect(service.get(two.id).state).toBe('stopped');
  service.delete(three.id);
  expect((await finished(one.id)).state).toBe('done');
  expect(service.get(two.id).steps.every(({ state }) => state === 'waiting')).toBe(true);
  expect(service.list().map(({ id, state }) => [id, state])).toEqual([
    [two.id, 'stopped'],
    [one.id, 'done'],
  ]);
  expect(() => service.get(three.id)).toThrow(/does not exist/);
});

describe('an answer that is cut off', () => {
  const SAYS = 'each of these towns lies by the sea, and has a harbour.';

  test('says so, and the combining says which parts were', async () => {
    const { service, finished } = fixture({ says: SAYS, settings: { maxTokens: 4 } });
    const { id } = await service.analyse(TASK);
    const { steps } = await finished(id);
    expect(steps.map(({ notices }) => notices.map(({ kind }) => kind))).toEqual([
      ['plain-prompt', 'cut-off'],
      ['plain-prompt', 'cut-off'],
      ['plain-prompt', 'cut-off'],
      ['plain-prompt', 'cut-off', 'cut-parts'],
    ]);
    expect(steps[3]?.notices.at(-1)?.message).toMatch(/^Parts 1, 2, 3 were cut off before their end/);
  });

  test('continues where it stopped, and is combined again', async () => {
    const first = fixture({ says: SAYS, settings: { maxTokens: 4 } });
    const { id } = await first.service.analyse(TASK);
    const cut = await first.finished(id);
    await first.close();
    const { service, finished } = fixture({ dir: first.dir, says: SAYS });
    service.resume(id, cut.steps[1]?.id, true);
    const { steps, state } = await finished(id);
    expect(state).toBe('done');
    expect(cut.steps[1]?.text).not.toBe(SAYS);
    expect(steps.map(({ text }) => text)).toEqual([cut.steps[0]?.text, SAYS, cut.steps[2]?.text, SAYS]);
    expect(steps[1]?.notices.map(({ kind }) => kind)).toEqual(['plain-prompt']);
    expect(steps[3]?.notices.at(-1)?.message).toMatch(/^Parts 1, 3 were cut off/);
    expect(steps[3]?.id).not.toBe(cut.steps[3]?.id);
    expect(() => service.resume(id, steps[1]?.id, true)).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }),
    );
  });
});
