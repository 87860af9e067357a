import { expect, test } from 'vitest';
import { fixture } from '../testing/chat.ts';

const scoped = (...documentIds: string[]) => ({ scope: { libraryIds: [], documentIds } });

test('chosen documents are estimated before anything is typed, a search only with a question', async () => {
  const { chat } = await fixture();
  const chosen = await chat.estimate({ conversationId: null, options: scoped('10', '12'), text: '' });
  expect(chosen).toMatchObject({ kind: 'everything', ttftMs: null });
  expect(chosen?.documents.map(({ path }) => path)).toEqual(['mara.md', 'tea.md']);
  const read = chosen!.documents.reduce((sum, { readTokens }) => sum + readTokens, 0);
  expect(chosen?.cachedTokens).toBe(read);
  expect(await chat.estimate({ conversationId: null, options: scoped(), text: ' ' })).toBeNull();
  const found = await chat.estimate({
    conversationId: null,
    options: scoped(),
    text: 'Where does Mara live?',
  });
  expect(found).toMatchObject({ kind: 'passages', documents: [{ path: 'mara.md' }] });
});

test('what the conversation has in memory counts as cached', async () => {
  const { chat, ask } = await fixture();
  const { id } = chat.create(scoped('10'));
  const { stats } = await ask(id, 'Who?');
  const next = await chat.estimate({ conversationId: id, options: scoped('10'), text: 'And where?' });
  expect(next!.promptTokens).toBeGreaterThan(stats!.promptTokens);
  expect(next!.cachedTokens).toBeGreaterThanOrEqual(stats!.promptTokens);
});

test('each estimate cancels the one before', async () => {
  const { chat } = await fixture();
  const draft = { conversationId: null, options: scoped('10') };
  const [first, second] = [chat.estimate({ ...draft, text: 'M' }), chat.estimate({ ...draft, text: 'Mara' })];
  await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await second).toMatchObject({ kind: 'everything' });
});
