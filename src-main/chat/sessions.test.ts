import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import type { FusionSession } from '../fusion/model.ts';
import { FakeModel, type FakeSession } from '../testing/fusion.ts';
import { ConversationSessions } from './sessions.ts';

const FULL = { kind: 'full' } as const;

/** Memory for one conversation of the size used by all tests here. */
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

test('conversations that nobody asks make room for a session of none, up to half of the budget', async () => {
  const { all, model, open } = sessions();
  const first = await open(1);
  all.answered(1);
  const borrowed = all.borrow(model, 64);
  expect(first.disposed).toBe(true);
  borrowed.dispose();
  const second = await open(2);
  all.answered(2);
  all.trim();
  all.borrow(model, 100_000);
  expect(second.disposed).toBe(false);
});

test('sessions of none are not kept once they are disposed, though no conversation is open', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const all = new ConversationSessions(() => 1);
  const made: WeakRef<FusionSession>[] = [];
  const createSession = (): FusionSession => {
    const session = { disposed: false, dispose: () => Object.assign(session, { disposed: true }) };
    made.push(new WeakRef(session as unknown as FusionSession));
    return session as unknown as FusionSession;
  };
  const { info } = new FakeModel({});
  const model = { info, bytesPerToken: () => 1, setKvBudget: () => undefined, createSession };
  for (let i = 0; i < 1000; i++) all.borrow(model as unknown as FakeModel, 64).dispose();
  return vi.waitFor(() => {
    collect();
    expect(made.filter((session) => session.deref()).length).toBeLessThan(10);
    all.borrow(model as unknown as FakeModel, 64); // it is still in use
  });
});

test('a branch is not dropped while another one branches off it', async () => {
  const { all, model, open } = sessions();
  const first = await open(1);
  const tokens = Int32Array.from({ length: 300 }, (_, i) => i + 1);
  const parts = [{ kind: 'text' as const, tokens, turn: 0 }];
  const held = await all.open(1, { model, parts, strategy: FULL, need: 512, limit: 1024 });
  held.appended(parts, FULL);
  all.answered(1);
  const forked = Promise.withResolvers<undefined>();
  const fork = first.fork.bind(first);
  vi.spyOn(first, 'fork').mockImplementation(async (length) => {
    await forked.promise;
    return fork(length);
  });
  const other = [{ kind: 'text' as const, tokens: tokens.with(150, 0), turn: 0 }];
  const branching = all.open(1, { model, parts: other, strategy: FULL, need: 512, limit: 1024 });
  await open(2);
  expect(first.disposed).toBe(false);
  forked.resolve(undefined);
  await branching;
});
