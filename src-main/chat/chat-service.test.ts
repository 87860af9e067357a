import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConversationSchema, type Conversation } from '../../src-shared/contract/chat.ts';
import { FusionReportSchema } from '../../src-shared/fusion-report.ts';
import { keyFor } from '../fusion/model.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import { FULL, NEW, TEXTS, fixture, messageOf, ofTopic } from '../testing/chat.ts';

describe('one question', () => {
  test('is answered with sources, numbers and a report, and emits events', async () => {
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
      chunkHits: { resident: 0, ram: 0, disk: 1, partial: 0, computed: 0 },
      model: 'Fake',
    });
    const conversation = chat.get(id);
    expect(ConversationSchema.parse(conversation)).toEqual(conversation);
    expect(conversation).toMatchObject({ title: 'Where does Mara live?', leafId: answer.id });
    const text = ofTopic(events, 'chat.text').map(({ payload }) => payload);
    expect(text.map((event) => event.text).join('')).toBe(answer.text);
    expect(text.every(({ offset }, i) => offset === text.slice(0, i).map((event) => event.text).join('').length)).toBe(true); // prettier-ignore
    const [done] = ofTopic(events, 'chat.done');
    expect(done?.payload).toMatchObject({ state: 'done', answerId: answer.id, hasReport: true });
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

  test('without documents nothing is sent to the model, unless it may guess', async () => {
    const { chat, ask, session, gone } = await fixture();
    for (const document of [10, 11, 12]) gone.add(document);
    const { id } = chat.create(NEW);
    const refused = await ask(id, 'xylophone?');
    expect(refused).toMatchObject({ state: 'failed', text: '', failure: { code: 'NO_MATCH' }, notices: [] });
    expect(session()).toBeUndefined();
    const { answerId } = chat.regenerate(id, refused.id, { mayGuess: true });
    await chat.idle();
    const guessed = messageOf(chat.get(id), answerId);
    expect(guessed).toMatchObject({ state: 'done', citations: [], notices: [{ kind: 'no-match' }] });
    expect(guessed.text).not.toBe('');
    expect(guessed.notices[0]?.message).toContain('none of your documents');
  });

  test.each([
    [
      { reading: 3, uncut: 0, paused: false },
      'still-reading',
      /3 documents have not been read yet.*when they are/,
    ],
    [
      { reading: 0, uncut: 1, paused: false },
      'unprepared',
      /1 document is waiting to be prepared for this model/,
    ],
    [
      { reading: 0, uncut: 130, paused: true },
      'queue-paused',
      /130 documents.*The queue is paused: resume it/,
    ],
  ])('documents that cannot be found yet are reported: %j', async (unready, kind, message) => {
    const { chat, ask } = await fixture({ unready });
    const { notices } = await ask(chat.create(NEW).id, 'Mara?');
    expect(notices).toEqual([{ kind, message: expect.stringMatching(message) as string }]);
  });

  test('one that the question names is reported by name, and nothing is answered without it unless requested', async () => {
    const matching = [{ path: 'zebra.md', words: ['zebra'] }];
    const { chat, ask } = await fixture({ unready: { reading: 3, uncut: 0, paused: false, matching } });
    const refused = await ask(chat.create(NEW).id, 'Mara has a zebra?');
    expect(refused).toMatchObject({ state: 'failed', text: '', failure: { code: 'DOCUMENT_WAITING' } });
    expect(refused.failure?.message).toContain('“zebra.md”');
    const known = [{ path: 'mara.md', words: ['mara'] }];
    const second = await fixture({ unready: { reading: 3, uncut: 0, paused: false, matching: known } });
    const { state, notices } = await second.ask(second.chat.create(NEW).id, 'Mara?');
    expect(state).toBe('done');
    expect(notices).toEqual([
      {
        kind: 'still-reading',
        message: '“mara.md” is still being read, and so are 2 other documents. Ask again in a moment.',
      },
    ]);
  });

  test('where documents are not ready, the question is not blamed', async () => {
    const { chat, ask, gone } = await fixture({ unready: { reading: 0, uncut: 2, paused: true } });
    for (const document of [10, 11, 12]) gone.add(document);
    const { notices, failure } = await ask(chat.create(NEW).id, 'xylophone?');
    expect(notices.map(({ kind }) => kind)).toEqual(['queue-paused']);
    expect(failure?.message).toContain('documents that are ready');
  });

  test('that waits has its words searched in its scope, unless everything is computed', async () => {
    const searched: unknown[] = [];
    const ended: unknown[] = [];
    const { chat, gate } = await fixture({
      waiting: {
        add: (find) => {
          void find({} as Parameters<typeof find>[0]);
          return { atHand: () => 0, end: () => ended.push(find) };
        },
        search: async (question, { scope, topK }) => {
          searched.push({ question, scope, topK });
          return [];
        },
      },
    });
    const held = Promise.withResolvers<undefined>();
    const holding = gate.foreground(() => held.promise);
    const scope = { libraryIds: [], documentIds: ['10'] };
    chat.send(chat.create({ scope, topK: 3 }).id, 'Where does Mara live?');
    chat.send(chat.create(FULL).id, 'Where does Jon live?');
    await expect.poll(() => searched).toEqual([{ question: 'Where does Mara live?', scope, topK: 3 }]);
    expect(ended).toEqual([]);
    held.resolve(undefined);
    await holding;
    await chat.idle();
    expect(new Set(ended).size).toBe(2);
  });

  test('a miss is computed and stored afterwards', async () => {
    const { chat, ask, store, model, passages } = await fixture({ precompute: false });
    const answer = await ask(chat.create(NEW).id, 'Mara?');
    expect(answer.citations[0]?.tier).toBe('computed');
    expect(answer.stats).toMatchObject({ reusedTokens: 0, computedTokens: answer.stats!.promptTokens });
    expect(store.has(keyFor(model, 'f16', passages[0]!))).toBe(true);
  });

  test('a damaged file is set aside, reported, and its passage computed', async () => {
    const { chat, ask, store, model, passages } = await fixture();
    store.damage(keyFor(model, 'f16', passages[0]!));
    const answer = await ask(chat.create(NEW).id, 'Mara?');
    expect(answer.citations[0]?.tier).toBe('computed');
    expect(answer.notices).toMatchObject([{ kind: 'quarantined' }]);
    expect(store.quarantined).toHaveLength(1);
  });

  test('progress tells how far the prompt is', async () => {
    const { chat, ask, events } = await fixture();
    const answer = await ask(chat.create(NEW).id, 'Mara?');
    const progress = ofTopic(events, 'chat.progress').map(({ payload }) => payload);
    // Its turn comes first; then the prompt is processed.
    expect(progress[0]).toMatchObject({ answerId: answer.id, total: 0, secondsLeft: null });
    expect(progress[1]).toMatchObject({ answerId: answer.id, done: 1, total: 2, secondsLeft: null });
  });

  test('a question that is too long fails with its reason, and the next one is answered', async () => {
    const { chat, ask } = await fixture({ contextTrain: 100 });
    const { id } = chat.create(NEW);
    const failed = await ask(id, 'why not '.repeat(100));
    expect(failed).toMatchObject({ state: 'failed', failure: { code: 'QUESTION_TOO_LONG' }, text: '' });
    expect(await ask(id, 'Mara?')).toMatchObject({ state: 'done' });
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

test('an unreadable database is kept, reported, and replaced by an empty one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-chat-'));
  writeFileSync(join(dir, 'conversations.sqlite'), 'this is no database '.repeat(100));
  const setAside: QuarantinedDatabase[] = [];
  const { chat, ask } = await fixture({ dir, onSetAside: (what) => setAside.push(what) });
  expect(chat.list()).toEqual([]);
  expect(setAside).toMatchObject([{ path: join(dir, 'conversations.sqlite') }]);
  expect(await ask(chat.create(NEW).id, 'Mara?')).toMatchObject({ state: 'done' });
  const kept = readdirSync(dir).find((name) => name.startsWith('conversations.sqlite.corrupt-'));
  expect(readFileSync(join(dir, kept ?? ''), 'utf8')).toContain('this is no database');
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
