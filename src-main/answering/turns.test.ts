import { describe, expect, test } from 'vitest';
import type { Message } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { FakeModel, type FakeSession } from '../testing/fusion.ts';
import { FULL, NEW, TEXTS, fixture, messageOf } from '../testing/chat.ts';

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

    // The same conversation with every prompt computed from scratch.
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
    expect(second.stats?.chunkHits).toEqual({
      resident: 1,
      device: 0,
      ram: 0,
      disk: 2,
      shared: 0,
      partial: 0,
      computed: 0,
    });
  });

  test('without a match reads everything that fits; without documents it rests on earlier passages, and says so', async () => {
    const { chat, ask, gone } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const second = await ask(id, 'xylophone?');
    expect(second.citations.map(({ path, tier }) => [path, tier])).toEqual([
      ['mara.md', 'resident'],
      ['jon.md', 'disk'],
      ['tea.md', 'disk'],
    ]);
    for (const document of [10, 11, 12]) gone.add(document);
    const third = await ask(id, 'xylophone, glockenspiel, marimba?');
    expect(third.notices[0]).toMatchObject({ kind: 'no-match', message: expect.stringContaining('earlier questions') as string }); // prettier-ignore
  });

  test('after a restart the conversation is made again from stored passages', async () => {
    const first = await fixture();
    const { id } = first.chat.create(NEW);
    await first.ask(id, 'Where does Mara live?');
    const held = [...first.session()!.ids];
    await first.close();
    const { ask, session, chat } = await fixture({ dir: first.dir });
    expect(chat.get(id).residentTokens).toBe(0);
    const second = await ask(id, 'And Mara?');
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

  test('when the context is full the oldest turns are dropped, with a notice, and stay dropped', async () => {
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
    // Room for more than one question was freed: the question after a cut finds its prefix in memory.
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

  test('a conversation grows in one session', async () => {
    const { chat, ask, model } = await fixture({
      settings: { conversationBudgetBytes: 20_000, maxTokens: 300 },
    });
    const { id } = chat.create(NEW);
    for (const name of ['Mara', 'Jon', 'Tea', 'Oslo', 'Porto', 'bridges', 'Berg', 'Lind'])
      expect(await ask(id, `${name}? ${'well '.repeat(100)}`)).toMatchObject({ state: 'done' });
    expect(model.sessions).toHaveLength(1);
  });

  test('when memory runs out, the other conversations give theirs', async () => {
    class SmallMachine extends FakeModel {
      override createSession(capacity: number): FakeSession {
        const session = super.createSession(capacity);
        session.reserve = async () => {
          await Promise.resolve();
          if (this.sessions.some((other) => other !== session && !other.disposed))
            throw new KvasirError('OUT_OF_MEMORY', 'full');
        };
        return session;
      }
    }
    const { chat, ask } = await fixture({ model: new SmallMachine() });
    const [a, b] = [chat.create(NEW).id, chat.create(NEW).id];
    await ask(a, 'Mara?');
    const answer = await ask(b, 'Jon?');
    expect(answer).toMatchObject({ state: 'done' });
    expect([chat.get(a).residentTokens, chat.get(b).residentTokens > 0]).toEqual([0, true]);
    expect(await chat.measureFullPrefill(answer.id)).toMatchObject({ fullPrefillMeasured: true });
  });

  test('a memory budget of nothing keeps nothing', async () => {
    const { chat, ask, model } = await fixture({ settings: { conversationBudgetBytes: 0 } });
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    expect(chat.get(id).residentTokens).toBe(0);
    expect(await ask(id, 'Jon?')).toMatchObject({ state: 'done', stats: { residentTokens: 0 } });
    expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
  });

  test('the least recently used conversation is dropped', async () => {
    // A token takes 10 bytes here, and memory is allocated in blocks of 64 tokens: room for two blocks.
    const { chat, ask } = await fixture({ settings: { conversationBudgetBytes: 1500, maxTokens: 20 } });
    const ids = [0, 1, 2].map(() => chat.create(NEW).id);
    for (const id of ids) await ask(id, 'Mara?');
    expect(ids.map((id) => chat.get(id).residentTokens > 0)).toEqual([false, true, true]);
  });
});

describe('branches', () => {
  test('asking again adds a second answer next to the first; the prompt is not computed again', async () => {
    const { chat, ask, model } = await fixture();
    const { id } = chat.create(NEW);
    const first = await ask(id, 'Mara?');
    model.says = 'In Oslo, at the harbour.';
    const { answerId, questionId } = chat.regenerate(id, first.id);
    await chat.idle();
    const second = messageOf(chat.get(id), answerId);
    expect(second).toMatchObject({ text: 'In Oslo, at the harbour.', parentId: questionId });
    expect(questionId).toBe(first.parentId);
    expect(second.stats!.residentTokens).toBe(second.stats!.promptTokens - 2);
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

  test('a branch that was left keeps its memory, and is taken up again', async () => {
    const { chat, ask, model } = await fixture();
    const { id } = chat.create(NEW);
    await ask(id, 'Mara?');
    const second = await ask(id, `Jon? ${'well '.repeat(80)}`);
    chat.edit(id, second.parentId!, 'bridges?');
    await chat.idle();
    expect(model.sessions.filter(({ disposed }) => !disposed)).toHaveLength(2);
    chat.selectLeaf(id, second.id);
    const third = await ask(id, 'Tea?');
    expect(third.stats!.residentTokens).toBeGreaterThan(second.stats!.promptTokens);
    expect(third.stats!.prefixTokens).toBe(0);
  });

  test('a prefix computed for another conversation is reused, and counted separately', async () => {
    const { chat, ask, model, session } = await fixture();
    const a = await ask(chat.create(NEW).id, 'Mara?');
    expect(a.stats).toMatchObject({ residentTokens: 0, prefixTokens: 0 });
    const before = [...session()!.ids];
    model.known = Int32Array.from(before); // the passage too: nothing after text may be taken over
    const b = await ask(chat.create(NEW).id, 'Mara?');
    const { prefixTokens, residentTokens, chunkHits } = b.stats!;
    expect(prefixTokens).toBeGreaterThan(0);
    expect(residentTokens).toBe(prefixTokens);
    expect(chunkHits).toEqual(a.stats!.chunkHits);
    expect(session()!.ids).toEqual(before);
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
    chat.selectLeaf(id, second.parentId!); // a question refers to the newest end after it
    expect(chat.get(id).leafId).toBe(second.id);
    await ask(id, 'Tea?');
    expect(session()!.ids.length).toBe(chat.get(id).residentTokens);
    expect(chat.get(id).messages).toHaveLength(8);
  });

  test('ids that name nothing, or the wrong kind, are distinguished', async () => {
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
  });
});
