import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConversationSchema, type Conversation, type Message } from '../../src-shared/contract/chat.ts';
import { events as eventSchemas, type KvasirEvent } from '../../src-shared/contract/events.ts';
import { FusionReportSchema } from '../../src-shared/fusion-report.ts';
import { PrefillEstimator } from '../fusion/estimator.ts';
import { encodeAndStore, keyFor } from '../fusion/model.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from '../fusion/test-support.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { SettingsService } from '../platform/settings-service.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { ChatService } from './chat-service.ts';
import type { ChatModel } from './answerer.ts';
import type { Passage } from './passages.ts';

const CHATML = `{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content | trim }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Documents whose passages are found by any word of theirs. */
const TEXTS = {
  'mara.md': 'Mara Lind lives in Oslo. She builds bridges.',
  'jon.md': 'Jon Berg lives in Porto. He sells tea.',
  'tea.md': 'Tea is free for everybody.',
};

interface FixtureOptions extends FakeModelOptions {
  /** Use this folder again, as after a restart. */
  dir?: string;
  settings?: Record<string, unknown>;
  clock?: Clock;
  precompute?: boolean;
}

async function fixture({
  dir: given,
  settings: overrides = {},
  precompute = true,
  clock = systemClock,
  ...modelOptions
}: FixtureOptions = {}) {
  const dir = given ?? mkdtempSync(join(tmpdir(), 'kvasir-chat-'));
  const model = new FakeModel({ chatTemplate: CHATML, says: 'She lives in Oslo.', ...modelOptions });
  const store = new FakeStore();
  const passages = Object.entries(TEXTS).map(([path, text], i): Passage => {
    const tokens = model.tokenize(`${text}\n\n`);
    return { id: i + 1, documentId: i + 10, libraryId: 1, path, ordinal: 0, start: 0, end: text.length, title: path, text, tokens }; // prettier-ignore
  });
  if (precompute) {
    for (const { tokens } of passages)
      await encodeAndStore(model, store, { tokens, dtype: 'f16', label: '' });
  }
  const gone = new Set<number>();
  const retrieval: Retrieval = {
    find: (question) => {
      const words = wordsOf(question);
      const found = passages.filter(({ text }) => words.some((word) => wordsOf(text).includes(word)));
      const chunks = found.map(({ id, documentId, ordinal }, i) => ({
        chunkId: id,
        documentId,
        ordinal,
        score: 10 - i,
        reason: 'match' as const,
        fullText: null,
        vector: null,
        highlights: [{ start: 0, end: 4 }],
      }));
      return Promise.resolve({ chunks, usedVectors: false, ms: 0 });
    },
  };
  const active: ChatModel = { name: 'Fake', model };
  const listeners: ((now: ChatModel) => void)[] = [];
  const models = {
    active,
    current: () => Promise.resolve(models.active),
    onChange: (listener: (now: ChatModel) => void) => {
      listeners.push(listener);
      return () => undefined;
    },
    change: (now: ChatModel) => {
      models.active = now;
      for (const listener of listeners) listener(now);
    },
  };
  const events: KvasirEvent[] = [];
  const bus = new EventBus();
  bus.on((event) => {
    eventSchemas[event.topic].parse(event.payload);
    events.push(event);
  });
  const chat = new ChatService({
    path: join(dir, 'conversations.sqlite'),
    models,
    retrieval,
    passages: {
      chunk: (id) => passages.find((passage) => passage.id === id),
      document: (id) => (gone.has(id) ? undefined : passages.find(({ documentId }) => documentId === id)),
      pageLabel: (id) => (id === 10 ? '7' : null),
    },
    store,
    settings: new SettingsService(join(dir, 'settings.json'), overrides),
    estimator: new PrefillEstimator(join(dir, 'prefill.json')),
    events: bus,
    gate: new Gate(),
    log: LOG,
    clock,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await chat.close();
    closed = true;
  };
  onTestFinished(async () => {
    await close();
    rmSync(dir, { recursive: true, force: true });
  });
  /** Asks and waits for the answer. */
  const ask = async (id: string, text: string): Promise<Message> => {
    const { answerId } = chat.send(id, text);
    await chat.idle();
    return messageOf(chat.get(id), answerId);
  };
  return {
    chat,
    model,
    models,
    store,
    passages,
    gone,
    events,
    dir,
    close,
    ask,
    session: () => model.sessions.at(-1),
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\w+/g) ?? [];
}

function messageOf({ messages }: Conversation, id: string): Message {
  const message = messages.find((candidate) => candidate.id === id);
  if (!message) throw new Error(`no message ${id}`);
  return message;
}

function ofTopic<T extends KvasirEvent['topic']>(events: KvasirEvent[], topic: T) {
  return events.filter((event): event is Extract<KvasirEvent, { topic: T }> => event.topic === topic);
}

const NEW = { scope: { libraryIds: [], documentIds: [] } };
const FULL = { ...NEW, strategy: { name: 'full' as const, ratio: 0.15 } };

describe('one question', () => {
  test('is answered with sources, numbers and a report, and told in events', async () => {
    const { chat, ask, events, store } = await fixture();
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Where does Mara live?');
    expect(answer).toMatchObject({ text: 'She lives in Oslo.', state: 'done', hasReport: true, notices: [] });
    expect(answer.citations.map(({ path, page, tier }) => [path, page, tier])).toEqual([
      ['mara.md', '7', 'disk'],
    ]);
    const [{ start, end } = { start: 0, end: 0 }] = answer.citations[0]?.highlights ?? [];
    expect(TEXTS['mara.md'].slice(start, end)).toBe('Mara Lind lives in Oslo.');
    expect(answer.stats).toMatchObject({
      residentTokens: 0,
      reusedTokens: answer.citations[0]?.tokens,
      chunkHits: { resident: 0, ram: 0, disk: 1, computed: 0 },
      model: 'Fake',
    });
    const conversation = chat.get(id);
    expect(ConversationSchema.parse(conversation)).toEqual(conversation);
    expect(conversation).toMatchObject({ title: 'Where does Mara live?', leafId: answer.id });
    const text = ofTopic(events, 'chat.text').map(({ payload }) => payload);
    expect(text.map((event) => event.text).join('')).toBe(answer.text);
    expect(text.every(({ offset }, i) => offset === text.slice(0, i).map((event) => event.text).join('').length)).toBe(true); // prettier-ignore
    expect(ofTopic(events, 'chat.done')[0]?.payload).toMatchObject({ state: 'done', answerId: answer.id });
    expect(store.leases).toBe(0);
  });

  test('the parts of the time to the first token sum up to it', async () => {
    let now = 0;
    const { chat, ask } = await fixture({ clock: { now: () => (now += 10), wall: () => Date.now() } });
    const { total, ...parts } = (await ask(chat.create(NEW).id, 'Mara?')).stats!.ttftMs;
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 6);
    expect(parts.other).toBeGreaterThan(0);
  });

  test('the report names parts, tokens and the passage', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Where does Mara live?');
    const report = chat.report(answer.id)!;
    expect(FusionReportSchema.parse(report)).toEqual(report);
    expect(report.parts.map(({ kind }) => kind)).toEqual(['text', 'chunk', 'text']);
    expect(report.parts[1]?.chunk).toMatchObject({ document: 'mara.md', tier: 'disk', ordinal: 0 });
    expect(report.tokens).toHaveLength(report.promptTokens);
    expect(report.tokens.join('')).toContain('Mara Lind lives in Oslo.');
  });

  test('that no document matches is answered, and said plainly', async () => {
    const { chat, ask } = await fixture();
    const answer = await ask(chat.create(NEW).id, 'xylophone?');
    expect(answer).toMatchObject({ state: 'done', citations: [], notices: [{ kind: 'no-match' }] });
    expect(answer.notices[0]?.message).toContain('none of your documents');
  });

  test('a miss is computed and stored afterwards', async () => {
    const { chat, ask, store, model, passages } = await fixture({ precompute: false });
    const answer = await ask(chat.create(NEW).id, 'Mara?');
    expect(answer.citations[0]?.tier).toBe('computed');
    expect(answer.stats).toMatchObject({ reusedTokens: 0, computedTokens: answer.stats!.promptTokens });
    expect(store.has(keyFor(model, 'f16', passages[0]!.tokens))).toBe(true);
  });

  test('a question that is too long fails with its reason, and the next one is answered', async () => {
    const { chat, ask } = await fixture({ contextTrain: 100 });
    const { id } = chat.create(NEW);
    const failed = await ask(id, 'why not '.repeat(100));
    expect(failed).toMatchObject({ state: 'failed', failure: { code: 'QUESTION_TOO_LONG' }, text: '' });
    expect(await ask(id, 'Mara?')).toMatchObject({ state: 'done' });
  });
});

describe('the next question', () => {
  test('computes only what is new, and holds what one prompt would', async () => {
    const { chat, ask, model, session } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Where does Mara live?');
    const held = [...session()!.ids];
    expect(chat.get(id).residentTokens).toBe(held.length);
    const second = await ask(id, 'And Jon, sells he tea?');
    expect(model.sessions).toHaveLength(1);
    expect(second.stats?.residentTokens).toBe(held.length);
    expect(session()!.ids.slice(0, held.length)).toEqual(held);

    // The same conversation where every prompt is made from nothing.
    const scratch = await fixture({ settings: { conversationBudgetBytes: 0 } });
    const other = scratch.chat.create(NEW).id;
    await scratch.ask(other, 'Where does Mara live?');
    await scratch.ask(other, 'And Jon, sells he tea?');
    expect(scratch.session()!.ids).toEqual(session()!.ids);
  });

  test('does not repeat a passage, and says where it stands', async () => {
    const { chat, ask, session } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const second = await ask(id, 'bridges? tea?');
    expect(second.citations.map(({ path, tier }) => [path, tier])).toEqual([
      ['mara.md', 'resident'],
      ['jon.md', 'disk'],
      ['tea.md', 'disk'],
    ]);
    expect(session()!.segments.filter(({ kind }) => kind === 'chunk')).toHaveLength(2);
    expect(second.stats?.chunkHits).toEqual({ resident: 1, ram: 0, disk: 2, computed: 0 });
  });

  test('without a match rests on earlier passages, and says so', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const second = await ask(id, 'xylophone?');
    expect(second.notices[0]).toMatchObject({ kind: 'no-match', message: expect.stringContaining('earlier questions') as string }); // prettier-ignore
  });

  test('after a restart the conversation is made again from stored passages', async () => {
    const first = await fixture();
    const { id } = first.chat.create(NEW);
    await first.ask(id, 'Where does Mara live?');
    const held = [...first.session()!.ids];
    await first.close();
    const { ask, session, chat } = await fixture({ dir: first.dir });
    expect(chat.get(id).residentTokens).toBe(0);
    const second = await ask(id, 'xylophone?');
    expect(second.stats).toMatchObject({ residentTokens: 0 });
    expect(session()!.ids.slice(0, held.length)).toEqual(held);
    expect(session()!.segments.filter(({ kind }) => kind === 'chunk')).toHaveLength(1);
    expect(chat.report(second.id)?.parts.find(({ kind }) => kind === 'chunk')?.chunk?.document).toBe(
      'mara.md',
    );
  });

  test('another model makes it again from text', async () => {
    const { chat, ask, models } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const other = new FakeModel({ fingerprint: 'e'.repeat(64), says: 'Yes.' });
    models.change({ name: 'Other', model: other });
    expect(chat.get(id).residentTokens).toBe(0);
    const second = await ask(id, 'xylophone?');
    expect(second).toMatchObject({ text: 'Yes.', stats: { model: 'Other', residentTokens: 0 } });
    expect(other.detokenize(other.sessions[0]!.ids)).toContain('She lives in Oslo.');
    expect(other.detokenize(other.sessions[0]!.ids)).toContain(TEXTS['mara.md']);
  });

  test('when the context is full the oldest turns go, with a notice, and stay away', async () => {
    const { chat, ask, session } = await fixture({ contextTrain: 220, settings: { maxTokens: 20 } });
    const { id } = chat.create(NEW);
    const answers: Message[] = [];
    for (const name of ['Mara', 'Jon', 'Tea', 'Oslo', 'Porto', 'bridges'])
      answers.push(await ask(id, `${name}? ${'well '.repeat(20)}`));
    expect(answers.every(({ state }) => state === 'done')).toBe(true);
    const noted = answers.map(({ notices }) => notices.some(({ kind }) => kind === 'turns-left-out'));
    expect(noted[0]).toBe(false);
    expect(noted.indexOf(true)).toBeGreaterThan(0);
    expect(noted.slice(noted.indexOf(true)).every(Boolean)).toBe(true);
    expect(session()!.ids.length).toBeLessThanOrEqual(220);
    // Room was made for more than one question: the one after a cut finds its prefix in memory.
    const cut = noted.indexOf(true);
    expect(answers[cut]?.stats?.residentTokens).toBeLessThan(10);
    expect(answers[cut + 1]?.stats?.residentTokens).toBeGreaterThan(50);
  });

  test('one that points back is searched with the question before it', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara Lind?');
    const second = await ask(id, 'And her house?');
    expect(second.citations.map(({ path, tier }) => [path, tier])).toEqual([['mara.md', 'resident']]);
    expect((await ask(id, 'Sells Jon?')).citations.map(({ path }) => path)).not.toContain('mara.md');
  });

  test('a conversation that outgrows its session gets one it can grow in', async () => {
    const { chat, ask, model } = await fixture({
      settings: { conversationBudgetBytes: 20_000, maxTokens: 300 },
    });
    const { id } = chat.create(NEW);
    for (const name of ['Mara', 'Jon', 'Tea', 'Oslo', 'Porto', 'bridges', 'Berg', 'Lind'])
      expect(await ask(id, `${name}? ${'well '.repeat(100)}`)).toMatchObject({ state: 'done' });
    expect(model.sessions.map(({ capacity }) => capacity)).toEqual([1000, 2000]);
  });

  test('a memory budget of nothing keeps nothing', async () => {
    const { chat, ask, model } = await fixture({ settings: { conversationBudgetBytes: 0 } });
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    expect(chat.get(id).residentTokens).toBe(0);
    expect(await ask(id, 'Jon?')).toMatchObject({ state: 'done', stats: { residentTokens: 0 } });
    expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
  });

  test('the conversation used least gives way', async () => {
    // A token takes 10 bytes here: room for two sessions of half the budget.
    const { chat, ask } = await fixture({ settings: { conversationBudgetBytes: 10_000, maxTokens: 20 } });
    const ids = [0, 1, 2].map(() => chat.create(NEW).id);
    for (const id of ids) await ask(id, 'Mara?');
    expect(ids.map((id) => chat.get(id).residentTokens > 0)).toEqual([false, true, true]);
  });
});

describe('branches', () => {
  test('asking again puts a second answer beside the first; the prompt is not computed again', async () => {
    const { chat, ask, model } = await fixture();
    const { id } = chat.create(NEW);
    const first = await ask(id, 'Mara?');
    model.says = 'In Oslo, at the harbour.';
    const { answerId, questionId } = chat.regenerate(id, first.id);
    await chat.idle();
    const second = messageOf(chat.get(id), answerId);
    expect(second).toMatchObject({ text: 'In Oslo, at the harbour.', parentId: questionId });
    expect(questionId).toBe(first.parentId);
    expect(second.stats!.residentTokens).toBe(second.stats!.promptTokens - 1);
    expect(chat.get(id).leafId).toBe(second.id);
    chat.selectLeaf(id, first.id);
    expect(chat.get(id).leafId).toBe(first.id);
  });

  test('asking again in another way computes the passages again, not the turns before', async () => {
    const { chat, ask, session } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const before = session()!.ids.length;
    const answer = await ask(id, 'Jon?');
    chat.setOptions(id, FULL);
    const { answerId } = chat.regenerate(id, answer.id);
    await chat.idle();
    const again = messageOf(chat.get(id), answerId);
    expect(again.stats).toMatchObject({ reusedTokens: 0, strategy: { name: 'full' } });
    expect(again.stats!.residentTokens).toBeGreaterThanOrEqual(before);
    expect(again.citations[0]?.tier).toBe('computed');
  });

  test('an edited question starts where both agree; either branch goes on', async () => {
    const { chat, ask, session } = await fixture();
    const { id } = chat.create(NEW);
    const first = await ask(id, 'Mara?');
    const second = await ask(id, 'Jon?');
    const { answerId } = chat.edit(id, second.parentId!, 'bridges?');
    await chat.idle();
    const edited = messageOf(chat.get(id), answerId);
    expect(edited.citations.map(({ tier }) => tier)).toEqual(['resident']);
    expect(edited.stats!.residentTokens).toBeGreaterThan(first.stats!.promptTokens);
    chat.selectLeaf(id, second.parentId!); // a question stands for the newest end behind it
    expect(chat.get(id).leafId).toBe(second.id);
    await ask(id, 'Tea?');
    expect(session()!.ids.length).toBe(chat.get(id).residentTokens);
    expect(chat.get(id).messages).toHaveLength(8);
  });

  test('ids that name nothing, or the wrong kind, are told apart', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Mara?');
    const other = chat.create(NEW).id;
    for (const bad of ['x', '999', '-1', '1e3', '']) {
      expect(() => chat.get(bad)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
      expect(() => chat.regenerate(id, bad)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    }
    expect(() => chat.regenerate(other, answer.id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(() => chat.edit(id, answer.id, 'x')).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
    expect(() => chat.send(id, 'x', answer.parentId)).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT' }),
    );
  });
});

describe('stopping', () => {
  /** A model that waits before the third token until it is told to go on. */
  function waiting() {
    const reached = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const beforeToken = async (index: number): Promise<void> => {
      if (index !== 3) return;
      reached.resolve(undefined);
      await goOn.promise;
    };
    return { reached: reached.promise, goOn: () => goOn.resolve(undefined), beforeToken };
  }

  test('keeps what was written, and the next question goes on from there', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, ask, session } = await fixture({ beforeToken });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    expect(messageOf(chat.get(id), answerId)).toMatchObject({ state: 'streaming' });
    expect(() => chat.send(id, 'Jon?')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => chat.regenerate(id, answerId)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(chat.list()[0]).toMatchObject({ busy: true });
    chat.stop(id);
    goOn();
    await chat.idle();
    const stopped = messageOf(chat.get(id), answerId);
    expect(stopped).toMatchObject({ state: 'stopped', failure: null });
    expect('She lives in Oslo.'.startsWith(stopped.text) && stopped.text.length > 3).toBe(true);
    const held = session()!.ids.length;
    expect((await ask(id, 'Jon?')).stats?.residentTokens).toBe(held);
  });

  test('one that waits for another conversation ends at once', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat } = await fixture({ beforeToken });
    const [a, b] = [chat.create(NEW).id, chat.create(NEW).id];
    chat.send(a, 'Mara?');
    await reached;
    const { answerId } = chat.send(b, 'Jon?');
    await new Promise((resolve) => setImmediate(resolve));
    expect(messageOf(chat.get(b), answerId).state).toBe('waiting');
    chat.stop(b);
    await new Promise((resolve) => setImmediate(resolve));
    expect(messageOf(chat.get(b), answerId)).toMatchObject({ state: 'stopped', text: '' });
    goOn();
    await chat.idle();
    expect(chat.get(a).messages[1]).toMatchObject({ state: 'done' });
  });

  test('closing keeps what was written; so does a crash, up to the last half second', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, close, dir } = await fixture({ beforeToken });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    const crashed = await fixture({ dir }); // opens the same file, as a start after a crash would
    const message = messageOf(crashed.chat.get(id), answerId);
    expect(message.state).toBe('stopped');
    expect(message.text.length).toBeGreaterThan(0);
    expect(message.citations).toHaveLength(1);
    const closing = close();
    goOn();
    await closing;
    expect(messageOf(crashed.chat.get(id), answerId).text).toMatch(/^She/);
  });
});

describe('the list', () => {
  test('finds words of titles and messages, in English and Chinese, and no syntax breaks it', async () => {
    const { chat, ask } = await fixture({ says: '她住在奥斯陆，靠近港口。' });
    const { id } = chat.create(NEW);
    await ask(id, 'Where does Mara live?');
    chat.create(NEW);
    const search = (words: string) => chat.list(words).map((found) => found.id);
    expect(chat.list()).toHaveLength(2);
    for (const words of ['mara', 'MAR', 'live where', '港口', '奥斯陆']) expect(search(words)).toEqual([id]);
    for (const words of ['mara zebra', '海港', '"', '*', 'NEAR(', '?!']) expect(search(words)).toEqual([]);
    expect(chat.list('港口')[0]?.snippet).toContain('港口');
    chat.rename(id, 'Bridges');
    expect(search('bridges')).toEqual([id]);
  });

  test('deleting can be undone', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const before = chat.get(id);
    chat.delete(id);
    expect(chat.list()).toEqual([]);
    expect(() => chat.get(id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(chat.restore(id)).toEqual({ ...before, residentTokens: 0 });
    expect(() => chat.restore('12345')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  test('a source whose document is gone keeps its text and links to nothing', async () => {
    const { chat, ask, gone } = await fixture();
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Mara?');
    expect(answer.citations[0]?.documentId).toBe('10');
    gone.add(10);
    expect(messageOf(chat.get(id), answer.id).citations[0]).toMatchObject({
      documentId: null,
      text: TEXTS['mara.md'],
    });
  });
});

test('exports: the shown branch with sources as Markdown, everything as JSON', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(NEW);
  const first = await ask(id, 'Where does Mara live?');
  chat.regenerate(id, first.id);
  await chat.idle();
  const markdown = chat.export(id, 'markdown');
  expect(markdown).toMatchObject({ fileName: 'Where-does-Mara-live.md', mediaType: 'text/markdown' });
  expect(markdown.content).toContain('## Where does Mara live?\n\nShe lives in Oslo.');
  expect(markdown.content).toContain('1. mara.md (`mara.md`, page 7): “Mara Lind lives in Oslo.”');
  expect(markdown.content.match(/She lives in Oslo\./g)).toHaveLength(1);
  const json = JSON.parse(chat.export(id, 'json').content) as Conversation;
  expect(ConversationSchema.parse(json)).toEqual(chat.get(id));
});

test('a full prefill is measured on the same prompt, and replaces the estimate in answer and report', async () => {
  const { chat, ask, model } = await fixture();
  const { id } = chat.create(NEW);
  await ask(id, 'Mara?');
  const answer = await ask(id, 'Jon?');
  expect(answer.stats?.fullPrefillMeasured).toBe(false);
  const prompt = model.sessions[0]!.ids.slice(0, answer.stats!.promptTokens);
  const stats = await chat.measureFullPrefill(answer.id);
  expect(stats).toMatchObject({ fullPrefillMs: 6, fullPrefillMeasured: true });
  const measured = model.sessions[1]!;
  expect([measured.ids, measured.strategy, measured.disposed]).toEqual([prompt, { kind: 'full' }, true]);
  expect(chat.report(answer.id)).toMatchObject({ fullPrefillMs: 6, fullPrefillMeasured: true });
  expect(messageOf(chat.get(id), answer.id).stats).toEqual(stats);
});
