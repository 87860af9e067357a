import { describe, expect, test } from 'vitest';
import type { Conversation } from '../../src-shared/contract/chat.ts';
import { CHAT_TEMPLATES } from '../testing/chat-templates.ts';
import { NEW, fixture, messageOf, ofTopic } from '../testing/chat.ts';
import { FakeModel } from '../testing/fusion.ts';

const THOUGHT = 'Mara lives in Oslo. That is the city.';
const ANSWER = 'In Oslo.';
const THINKS = { chatTemplate: CHAT_TEMPLATES.qwen3, says: `<think>\n${THOUGHT}\n</think>\n\n${ANSWER}` };
const HARMONY = {
  chatTemplate: CHAT_TEMPLATES.gptOss,
  says: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>${ANSWER}`,
};

const fixtureThat = ({ chatTemplate, says }: typeof THINKS, settings: Record<string, unknown> = {}) =>
  fixture({ model: new FakeModel({ chatTemplate, says }), settings: { think: true, ...settings } });

describe.each([
  ['marks that are text', THINKS],
  ['marks that are control tokens', HARMONY],
])('an answer that was thought about: %s', (_, model) => {
  test('is kept separate from the thought, which windows get first', async () => {
    const { chat, ask, events } = await fixtureThat(model);
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Where does Mara live?');
    expect(answer).toMatchObject({ text: ANSWER, thinking: { text: THOUGHT }, state: 'done' });
    expect(answer.thinking?.tokens).toBeGreaterThan(5);
    expect(answer.stats?.answerTokens).toBeGreaterThan(answer.thinking?.tokens ?? 0);
    const told = ofTopic(events, 'chat.thinking').map(({ payload }) => payload);
    expect(
      told
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    ).toBe(THOUGHT);
    expect(
      ofTopic(events, 'chat.text')
        .map(({ payload }) => payload.text)
        .join(''),
    ).toBe(ANSWER);
    const topics = events.map(({ topic }) => topic);
    expect(topics.lastIndexOf('chat.thinking')).toBeLessThan(topics.indexOf('chat.text'));
  });

  test('marks nothing in sources for the thought', async () => {
    const { chat, ask, model: fake } = await fixtureThat(model);
    fake.says = fake.says.replace(ANSWER, 'Bridges.');
    const { citations } = await ask(chat.create(NEW).id, 'Mara?');
    const { text, highlights } = citations[0]!;
    expect(highlights.map(({ start, end }) => text.slice(start, end))).toEqual(['She builds bridges.']);
  });

  test('is in later turns without the thought, as the template has it', async () => {
    const { chat, ask, session, model: fake } = await fixtureThat(model);
    const { id } = chat.create(NEW);
    await ask(id, 'Where does Mara live?');
    await ask(id, 'And Jon?');
    const held = fake.detokenize(session()!.ids, { special: true });
    const between = model === THINKS ? '' : '<|channel|>final<|message|>';
    expect(held).toContain(`assistant${model === THINKS ? '\n' : ''}${between}${ANSWER}<|`);
    expect(held).not.toContain('That is the city');
    expect(fake.sessions).toHaveLength(1);
  });

  test('is kept by its text alone for another model', async () => {
    const { chat, ask, models } = await fixtureThat(model);
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const other = new FakeModel({ fingerprint: 'e'.repeat(64) });
    models.change({ name: 'Other', model: other });
    await ask(id, 'Jon?');
    expect(other.detokenize(other.sessions[0]!.ids)).not.toContain('That is the city');
  });

  test('has its thought in exports only when that is asked for', async () => {
    const { chat, ask } = await fixtureThat(model);
    const { id } = chat.create(NEW);
    expect(chat.list()).toMatchObject([{ thoughts: false }]);
    await ask(id, 'Mara?');
    expect(chat.list()).toMatchObject([{ thoughts: true }]);
    for (const format of ['markdown', 'json'] as const) {
      expect(chat.export(id, format).content).not.toContain('That is the city');
      expect(chat.export(id, format, { thinking: true }).content).toContain('That is the city');
    }
    expect(chat.list('city')).toEqual([]);
  });

  test('whose thought takes the whole limit can be continued, after a restart too', async () => {
    const one = await fixtureThat(model);
    const { id } = one.chat.create({ ...NEW, maxTokens: 12 });
    const cut = await one.ask(id, 'Mara?');
    expect(cut).toMatchObject({ text: '', state: 'done', stats: { stop: 'length', answerTokens: 12 } });
    expect(THOUGHT.startsWith(cut.thinking!.text) && cut.thinking!.text !== '').toBe(true);
    await one.close();
    const { chat, events } = await fixture({ dir: one.dir, model: one.model, settings: { think: true } });
    chat.setOptions(id, NEW);
    chat.continue(id, cut.id);
    await chat.idle();
    const whole = messageOf(chat.get(id), cut.id);
    expect(whole).toMatchObject({ text: ANSWER, thinking: { text: THOUGHT }, stats: { stop: 'eos' } });
    expect(whole.thinking!.tokens).toBeGreaterThan(cut.thinking!.tokens);
    expect(ofTopic(events, 'chat.thinking')[0]?.payload.offset).toBe(cut.thinking!.text.length);
  });
});

test('without a thought there is none, and nothing is computed again', async () => {
  const { chat, ask } = await fixture({ chatTemplate: CHAT_TEMPLATES.qwen3 });
  const { id } = chat.create(NEW);
  const first = await ask(id, 'Mara?');
  expect(first.thinking).toBeNull();
  const second = await ask(id, 'tea?');
  expect(second.stats!.residentTokens).toBeGreaterThanOrEqual(
    first.stats!.promptTokens + first.stats!.answerTokens - 1,
  );
});

test.each([
  ['the setting', { settings: { think: false } }, {}, false],
  ['the setting', { settings: { think: true } }, {}, true],
  ['a conversation that chooses for itself', { settings: { think: false } }, { think: true }, true],
  ['a conversation that chooses for itself', { settings: { think: true } }, { think: false }, false],
])('%s tells the template whether to think', async (_, options, own, thinks) => {
  const model = new FakeModel({ chatTemplate: CHAT_TEMPLATES.qwen3 });
  const { chat, ask, session } = await fixture({ model, ...options });
  await ask(chat.create({ ...NEW, ...own }).id, 'Mara?');
  expect(model.detokenize(session()!.ids).includes('<think>\n\n</think>')).toBe(!thinks);
});

test('a thought in progress is shown in its current state', async () => {
  const seen: (Conversation['messages'][number] | undefined)[] = [];
  const { chat, ask } = await fixture({
    ...THINKS,
    beforeToken: (index) => {
      if (index === 12) seen.push(chat.get(id).messages.at(-1));
      return Promise.resolve();
    },
  });
  const { id } = chat.create(NEW);
  await ask(id, 'Mara?');
  expect(seen[0]).toMatchObject({ state: 'streaming', text: '' });
  expect(THOUGHT.startsWith(seen[0]!.thinking!.text)).toBe(true);
});
