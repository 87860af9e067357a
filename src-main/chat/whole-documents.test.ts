import { expect, test } from 'vitest';
import { fixture, messageOf } from '../testing/chat.ts';

/** Document ids of the fixture: 10 mara.md, 11 jon.md, 12 tea.md. */
const about = (...documentIds: string[]) => ({ scope: { libraryIds: [], documentIds } });
const GENERAL = 'What is this about?';

test('a question about one short document gets all of it, though no word matches', async () => {
  const { chat, ask } = await fixture();
  const answer = await ask(chat.create(about('11')).id, GENERAL);
  expect(answer).toMatchObject({ state: 'done', failure: null, notices: [] });
  expect(answer.citations.map(({ path, reason }) => [path, reason])).toEqual([['jon.md', 'whole-document']]);
  expect(answer.stats?.reusedTokens).toBe(answer.citations[0]?.tokens);
});

test('several documents go in whole, in the order of the scope; a removed one is passed over', async () => {
  const { chat, ask, gone } = await fixture();
  const { id } = chat.create(about('12', '10'));
  expect((await ask(id, GENERAL)).citations.map(({ path }) => path)).toEqual(['tea.md', 'mara.md']);
  gone.add(12);
  expect((await ask(id, GENERAL)).citations.map(({ path }) => path)).toEqual(['mara.md']);
});

test('a follow-up finds the document in the context', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(about('11'));
  await ask(id, GENERAL);
  const { citations } = await ask(id, 'And what else?');
  expect(citations.map(({ path, tier }) => [path, tier])).toEqual([['jon.md', 'resident']]);
});

test('a library is searched; where nothing answers by its words, all of it goes in', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(about());
  const { citations } = await ask(id, 'Where does Mara live?');
  expect(citations.map(({ reason }) => reason)).toEqual(['match']);
  const all = await ask(id, 'Summarise?');
  expect(all).toMatchObject({ state: 'done', notices: [] });
  expect(all.citations.map(({ path }) => path)).toEqual(['mara.md', 'jon.md', 'tea.md']);
  const inGerman = await ask(id, 'Fasse zusammen.');
  expect(inGerman.citations.map(({ tier }) => tier)).toEqual(['resident', 'resident', 'resident']);
});

test('what does not fit with question and answer is searched, and so is more than the passages asked for', async () => {
  const { chat, ask } = await fixture({ contextTrain: 100 });
  const { id } = chat.create(about('10', '11', '12'));
  const found = await ask(id, `Where does Mara live, ${'please, '.repeat(10)}?`);
  expect(found.citations.map(({ reason }) => reason)).toEqual(['match']);

  const { chat: other, ask: askOther } = await fixture();
  const one = { ...about('10', '11'), topK: 1 };
  expect((await askOther(other.create(one).id, 'Where does Mara live?')).citations).toHaveLength(1);
  const opening = await askOther(other.create(one).id, 'Summarise?');
  expect(opening.citations.map(({ path, reason }) => [path, reason])).toEqual([['mara.md', 'opening']]);
  expect(opening.notices.map(({ kind }) => kind)).toEqual(['openings']);
});

test('answering again keeps to the document', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(about('12'));
  const first = await ask(id, GENERAL);
  const { answerId } = chat.regenerate(id, first.id);
  await chat.idle();
  expect(messageOf(chat.get(id), answerId).citations.map(({ path }) => path)).toEqual(['tea.md']);
});
