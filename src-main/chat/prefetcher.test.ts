import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../src-shared/contract/chat.ts';
import { keyFor } from '../fusion/model.ts';
import { FakeModel } from '../testing/fusion.ts';
import type { ChunkEntry, StoreStats } from '../kvstore/store.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { Prefetcher } from './prefetcher.ts';
import type { Passage } from '../answering/passages.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const OPTIONS = { scope: { libraryIds: [], documentIds: [] } };

/** Passages 1 to 9 of one document, each stored in 10 bytes; a search finds those whose number stands in the question. */
function fixture({ ramBudgetBytes = 400, prefetch = true } = {}) {
  const model = new FakeModel();
  const tokensOf = (id: number): Int32Array => Int32Array.of(id, id);
  const ids = new Map(
    Array.from({ length: 9 }, (_, i) => [keyFor(model, 'f16', { tokens: tokensOf(i + 1) }), i + 1] as const),
  );
  const inRam: number[] = [];
  const searched: string[] = [];
  const gate = new Gate();
  const events = new EventBus();
  const settings = { current: { prefetch, dtype: 'f16', topK: 2 } };
  const conversation: Conversation = {
    ...{ id: '1', title: '', createdMs: 0, updatedMs: 0, options: OPTIONS, leafId: 'a', residentTokens: 0 },
    messages: [
      { id: 'q', parentId: null, role: 'user', text: 'Where is 4?' },
      { id: 'a', parentId: 'q', role: 'assistant', text: 'There.' },
    ] as Conversation['messages'],
  };
  const prefetcher = new Prefetcher({
    models: { active: { model } },
    conversation: () => conversation,
    retrieval: {
      usualTopK: 6,
      find: (question, { topK }) => {
        searched.push(question);
        const found = (question.match(/\d/g) ?? []).map(Number);
        const chunks = found.slice(0, topK).map((chunkId, i) => ({ chunkId, score: 9 - i }) as never);
        return Promise.resolve({ chunks, usedVectors: false, ms: 0 });
      },
    },
    passages: {
      chunk: (id) => ({ tokens: tokensOf(id) }) as Passage,
      neighbours: (id) => [id - 1, id + 1],
    },
    store: {
      entry: (key) => ({ key, bytes: 10, inRam: inRam.includes(ids.get(key) ?? 0) }) as ChunkEntry,
      prefetch: (key, _, room) => {
        expect(room).toBe('made');
        inRam.push(ids.get(key) ?? 0);
        return Promise.resolve('in-memory');
      },
      stats: () => ({ ram: { budgetBytes: ramBudgetBytes } }) as StoreStats,
    },
    settings: settings as unknown as ConstructorParameters<typeof Prefetcher>[0]['settings'],
    ...{ events, gate, log: LOG },
  });
  onTestFinished(() => prefetcher.close());
  const type = (text: string, conversationId: string | null = null): void =>
    prefetcher.draft({ conversationId, options: OPTIONS, text });
  return { prefetcher, type, inRam, searched, gate, events };
}

test('what a question finds is in memory before it is asked', async () => {
  const { prefetcher, type, inRam } = fixture();
  type('What do 3 and 7 say?');
  await prefetcher.idle();
  expect(inRam).toEqual([3, 7]);
});

test('the next keystroke ends the guess before, and a short text is none', async () => {
  const { prefetcher, type, inRam, searched } = fixture();
  type('What does 3');
  type('What does 5');
  type('5?');
  await prefetcher.idle();
  expect([searched, inRam]).toEqual([[], []]);
  type('What is 5?');
  await prefetcher.idle();
  expect(inRam).toEqual([5]);
});

test('waits for answers that are being made', async () => {
  const { prefetcher, type, gate, searched } = fixture();
  const answer = Promise.withResolvers<undefined>();
  const asked = gate.foreground(() => answer.promise);
  type('What is 5?');
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(searched).toEqual([]);
  answer.resolve(undefined);
  await asked;
  await prefetcher.idle();
  expect(searched).toEqual(['What is 5?']);
});

test('a follow-up that points back is searched with the question before', async () => {
  const { prefetcher, type, searched } = fixture();
  type('And is it 6?', '1');
  await prefetcher.idle();
  expect(searched).toEqual(['Where is 4?\nAnd is it 6?']);
});

test('takes no more of the memory than its share', async () => {
  const { prefetcher, type, inRam } = fixture({ ramBudgetBytes: 40 });
  type('What of 3 and 7?');
  await prefetcher.idle();
  expect(inRam).toEqual([3]);
});

test('after an answer: the neighbours of what it found, and what it just did not find', async () => {
  const { prefetcher, events, inRam } = fixture();
  const done = { conversationId: '1', answerId: 'a', state: 'done', failure: null, stats: null } as const;
  events.emit('chat.done', done);
  await prefetcher.idle();
  expect(inRam).toEqual([3, 5]);
  events.emit('chat.done', { ...done, state: 'stopped' });
  await prefetcher.idle();
  expect(inRam).toEqual([3, 5]);
});

test('does nothing when it is turned off', async () => {
  const { prefetcher, type, searched } = fixture({ prefetch: false });
  type('What is 5?');
  await prefetcher.idle();
  expect(searched).toEqual([]);
});
