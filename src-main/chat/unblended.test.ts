/** A model whose passages cannot be blended, in the services: they answer as with any other, and precompute nothing. */
import { expect, test } from 'vitest';
import { CompareRequestSchema } from '../../src-shared/contract/chat.ts';
import { FusionReportSchema } from '../../src-shared/fusion-report.ts';
import { NEW, fixture } from '../testing/chat.ts';

const UNBLENDED = { obstacle: 'running-state', precompute: false } as const;
const QUERY = { ...NEW, strategy: { name: 'query' as const, ratio: 0.15 } };

test('a question is answered with sources, all of it computed, and the report says why', async () => {
  const { chat, ask, store } = await fixture(UNBLENDED);
  const answer = await ask(chat.create(QUERY).id, 'Where does Mara live?');
  expect(answer).toMatchObject({ text: 'She lives in Oslo.', state: 'done', notices: [] });
  expect(answer.citations.map(({ path, tier }) => [path, tier])).toEqual([['mara.md', 'computed']]);
  expect(answer.stats).toMatchObject({ reusedTokens: 0, strategy: { name: 'full', ratio: 1 } });
  const report = FusionReportSchema.parse(chat.report(answer.id));
  expect(report.plan).toMatchObject({ reason: 'not-blended', obstacle: 'running-state', fellBack: false });
  await chat.idle();
  expect(store.chunks.size).toBe(0);
});

test('a second question computes what is new', async () => {
  const { chat, ask } = await fixture(UNBLENDED);
  const { id } = chat.create(NEW);
  await ask(id, 'Where does Mara live?');
  const { stats } = await ask(id, 'And where does Jon live?');
  expect(stats?.residentTokens).toBeGreaterThan(0);
  expect(stats?.computedTokens).toBe((stats?.promptTokens ?? 0) - (stats?.residentTokens ?? 0));
});

test('a start is rehearsed without a chunk', async () => {
  const { chat, model } = await fixture(UNBLENDED);
  expect(await chat.warmUp(new AbortController().signal)).toBe(true);
  expect(model.sessions[0]?.segments.map(({ kind }) => kind)).toEqual(['compute', 'compute', 'compute']);
});

test('ways of blending are not compared, and why is said', async () => {
  const { chat, ask } = await fixture(UNBLENDED);
  const answer = await ask(chat.create(NEW).id, 'Where does Mara live?');
  const comparing = chat.comparisons.run(CompareRequestSchema.parse({ answerId: answer.id }));
  await expect(comparing).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
  await expect(comparing).rejects.toThrow(
    'Fake keeps a running state instead of KV; its passages cannot be blended yet.',
  );
});

test('a running state counts as memory of a conversation', async () => {
  const { chat, ask, model } = await fixture({ ...UNBLENDED, settings: { conversationBudgetBytes: 1e6 } });
  const resident = async (): Promise<number | undefined> => {
    const [one, other] = [chat.create(NEW).id, chat.create(NEW).id];
    for (const id of [one, other]) await ask(id, 'Where does Mara live?');
    return (await ask(one, 'And where does Jon live?')).stats?.residentTokens;
  };
  expect(await resident()).toBeGreaterThan(0);
  model.bytesPerSession = 6e5;
  expect(await resident()).toBe(0);
});
