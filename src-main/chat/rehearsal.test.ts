import { expect, test, vi } from 'vitest';
import { NEW, fixture } from './test-support.ts';

test('a rehearsal leaves no trace: no conversation, no use of a chunk, no memory', async () => {
  const { chat, store, model, events, ask } = await fixture();
  const acquire = vi.spyOn(store, 'acquire');
  const [told, stored] = [events.length, store.chunks.size];
  expect(await chat.rehearse(new AbortController().signal)).toBe(true);
  expect(acquire).not.toHaveBeenCalled();
  expect(store.chunks.size).toBe(stored);
  expect(chat.list()).toEqual([]);
  expect(events.length).toBe(told);
  expect(model.sessions.map(({ disposed }) => disposed)).toEqual([true]);
  // It did what an answer does: a passage was blended between text.
  expect(model.sessions[0]?.segments.map(({ kind }) => kind)).toEqual(['compute', 'chunk', 'compute']);
  const { id } = chat.create(NEW);
  expect((await ask(id, 'Mara?')).stats?.residentTokens).toBe(0);
});

test('a rehearsal is stopped by its signal', async () => {
  const { chat, model } = await fixture();
  await expect(chat.rehearse(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
});
