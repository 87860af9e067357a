import { describe, expect, test } from 'vitest';
import { NEW, fixture, messageOf, ofTopic } from '../testing/chat.ts';

const SAYS = 'She lives in Oslo.';

describe('an answer that is cut off at its limit', () => {
  const CUT = { ...NEW, maxTokens: 2 };

  test('says so, and continues in place', async () => {
    const { chat, ask, events, session } = await fixture();
    const { id } = chat.create(CUT);
    const first = await ask(id, 'Where does Mara live?');
    expect(first).toMatchObject({ state: 'done', stats: { stop: 'length', answerTokens: 2 } });
    expect(SAYS.startsWith(first.text) && first.text.length < SAYS.length).toBe(true);
    const held = session()!;
    const before = held.ids.length;
    events.length = 0;
    chat.setOptions(id, NEW);
    expect(chat.continue(id, first.id)).toEqual({
      conversationId: id,
      questionId: first.parentId,
      answerId: first.id,
    });
    expect(messageOf(chat.get(id), first.id)).toMatchObject({ state: 'waiting', text: first.text });
    await chat.idle();
    const whole = messageOf(chat.get(id), first.id);
    expect(whole).toMatchObject({ text: SAYS, state: 'done', failure: null, citations: first.citations });
    const { end, sources: [source] = [] } = whole.stats?.sentences?.[0] ?? {};
    expect([end, source?.citation]).toEqual([SAYS.length, 0]);
    expect(whole.stats).toEqual({
      ...first.stats,
      stop: 'eos',
      sentences: whole.stats?.sentences,
      answerTokens: expect.any(Number) as number,
      tokensPerSecond: expect.any(Number) as number,
    });
    expect(session()).toBe(held); // which had all but the last token
    const after = held.ids.length;
    expect(after).toBe(before + whole.stats!.answerTokens - 2);
    expect(chat.report(first.id)).not.toBeNull();
    const told = ofTopic(events, 'chat.text').map(({ payload }) => payload);
    expect(told[0]?.offset).toBe(first.text.length);
    expect(first.text + told.map(({ text }) => text).join('')).toBe(SAYS);
    // The next turn builds on all of it.
    expect((await ask(id, 'tea?')).stats?.residentTokens).toBe(after);
  });

  test('continues after a restart as well', async () => {
    const one = await fixture();
    const { id } = one.chat.create(CUT);
    const first = await one.ask(id, 'Mara?');
    await one.close();
    const { chat } = await fixture({ dir: one.dir });
    chat.continue(id, first.id);
    await chat.idle();
    expect(messageOf(chat.get(id), first.id)).toMatchObject({ state: 'done', stats: { answerTokens: 4 } });
    expect(messageOf(chat.get(id), first.id).text.startsWith(first.text)).toBe(true);
  });

  test('stays as it was when it cannot continue, and says why', async () => {
    const { chat, ask, models } = await fixture();
    const { id } = chat.create(CUT);
    const first = await ask(id, 'Mara?');
    const { model: other } = await fixture({ fingerprint: 'another' });
    models.change({ name: 'Other', model: other });
    chat.continue(id, first.id);
    await chat.idle();
    const after = messageOf(chat.get(id), first.id);
    expect(after).toEqual({ ...first, failure: expect.objectContaining({ code: 'CONFLICT' }) as unknown });
  });
});

test('an answer that was stopped continues where it was', async () => {
  let stopsAt = 3;
  const { chat, ask } = await fixture({
    beforeToken: (index) => {
      if (index === stopsAt) chat.stop(id);
      return Promise.resolve();
    },
  });
  const { id } = chat.create(NEW);
  const stopped = await ask(id, 'Mara?');
  expect(stopped).toMatchObject({ state: 'stopped', stats: { stop: 'aborted' } });
  stopsAt = Number.NaN;
  chat.continue(id, stopped.id);
  await chat.idle();
  expect(messageOf(chat.get(id), stopped.id)).toMatchObject({ state: 'done', text: SAYS });
});

test('a complete answer does not continue', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(NEW);
  const answer = await ask(id, 'Mara?');
  expect(answer.stats?.stop).toBe('eos');
  expect(() => chat.continue(id, answer.id)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
});

test('at the end of the context that is the reason, and nothing can follow', async () => {
  const { chat, ask } = await fixture({
    settings: { contextTokens: 200, maxTokens: 400 },
    says: Array.from({ length: 200 }, (_, i) => `${i}, `).join(''),
  });
  const { id } = chat.create(NEW);
  const answer = await ask(id, 'Mara?');
  expect(answer).toMatchObject({ state: 'done', stats: { stop: 'context' } });
  expect(() => chat.continue(id, answer.id)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
});
