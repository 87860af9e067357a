import { expect, test, vi } from 'vitest';
import { warmMemory } from './warm-up.ts';
import { NEW, fixture } from '../testing/chat.ts';

test('a rehearsal leaves no trace: no conversation, no use of a chunk, no memory', async () => {
  const { chat, store, model, events, ask } = await fixture();
  const acquire = vi.spyOn(store, 'acquire');
  const [told, stored] = [events.length, store.chunks.size];
  expect(await chat.warmUp(new AbortController().signal)).toBe(true);
  expect(acquire).not.toHaveBeenCalled();
  expect(store.chunks.size).toBe(stored);
  expect(chat.list()).toEqual([]);
  expect(events.length).toBe(told);
  expect(model.sessions.map(({ disposed }) => disposed)).toEqual([true]);
  // It did what an answer does: it blended a passage between text.
  expect(model.sessions[0]?.segments.map(({ kind }) => kind)).toEqual(['compute', 'chunk', 'compute']);
  const { id } = chat.create(NEW);
  expect((await ask(id, 'Mara?')).stats?.residentTokens).toBe(0);
});

test('a rehearsal is stopped by its signal', async () => {
  const { chat, model } = await fixture();
  await expect(chat.warmUp(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
  expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
});

test('memory is warmed piece by piece, up to the last token, and no further once it is stopped', async () => {
  const stop = new AbortController();
  const pieces: number[][] = [];
  const session = {
    reserve: vi.fn(() => Promise.resolve()),
    warm: (begin: number, end: number): Promise<void> => {
      pieces.push([begin, end]);
      return Promise.resolve();
    },
  };
  await warmMemory(session, 600, stop.signal);
  expect(session.reserve).toHaveBeenCalledWith(600);
  expect(pieces[0]?.[0]).toBe(0);
  expect(pieces.at(-1)?.[1]).toBe(600);
  for (const [i, [begin]] of pieces.entries()) if (i > 0) expect(begin).toBe(pieces[i - 1]?.[1]);

  const most = pieces.length;
  session.warm = (begin, end) => {
    stop.abort();
    pieces.push([begin, end]);
    return Promise.resolve();
  };
  await expect(warmMemory(session, 600, stop.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(pieces).toHaveLength(most + 1);
});
