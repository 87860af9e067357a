import { expect, test, vi } from 'vitest';
import { FakeModel, type FakeSession } from '../testing/fusion.ts';
import { ConversationSessions } from './sessions.ts';

const FULL = { kind: 'full' } as const;

/** Memory for one conversation of the size that all have here. */
function sessions() {
  const model = new FakeModel({});
  const need = 512;
  const bytes = need * model.bytesPerToken() + model.bytesPerSession;
  const all = new ConversationSessions(() => bytes);
  const wanted = { model, parts: [], strategy: FULL, need, limit: 1024 };
  const open = async (id: number) => (await all.open(id, wanted)).session as FakeSession;
  return { all, model, open };
}

test('a conversation that is being answered keeps its session when another is asked and memory is short', async () => {
  const { all, open } = sessions();
  const first = await open(1);
  const second = await open(2);
  expect([first.disposed, second.disposed]).toEqual([false, false]);
  all.answered(1);
  await open(2);
  expect([first.disposed, second.disposed]).toEqual([true, false]);
});

test('a session that belongs to no conversation is made within the budget that is set', () => {
  const { all, model } = sessions();
  const set = vi.spyOn(model, 'setKvBudget');
  all.borrow(model, 64).dispose();
  expect(set).toHaveBeenCalledOnce();
});
