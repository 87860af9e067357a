import { expect, onTestFinished, test } from 'vitest';
import type { Conversation, ConversationOptions } from '../../src-shared/contract/chat.ts';
import { keyFor } from '../fusion/model.ts';
import { FakeModel } from '../testing/fusion.ts';
import type { ChunkEntry, StoreStats } from '../kvstore/store.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { Prefetcher } from './prefetcher.ts';
import type { Passage } from '../answering/passages.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const OPTIONS = { scope: { libraryIds: [], documentIds: [] } };

interface Fixture {
  ramBudgetBytes?: number;
  prefetch?: boolean;
  /** Passages that only another machine has; each arrives once the test releases it. */
  elsewhere?: readonly number[];
  diskBudgetBytes?: number;
  model?: FakeModel;
}

/** Passages 1 to 9 of one document, each stored in 10 bytes; a search finds those whose number occurs in the question. */
function fixture({
  ramBudgetBytes = 400,
  prefetch = true,
  elsewhere = [],
  diskBudgetBytes = 1e6,
  model = new FakeModel(),
}: Fixture = {}) {
  const away = new Set(elsewhere);
  const asked: number[][] = [];
  const coming: { id: number; arrive: () => void }[] = [];
  const tokensOf = (id: number): Int32Array => Int32Array.of(id, id);
  const ids = new Map(
    Array.from({ length: 9 }, (_, i) => [keyFor(model, 'f16', { tokens: tokensOf(i + 1) }), i + 1] as const),
  );
  const idOf = (key: string): number => ids.get(key) ?? 0;
  const inRam: number[] = [];
  const searched: string[] = [];
  const gate = new Gate();
  const events = new EventBus();
  const settings = { current: { prefetch, dtype: 'f16', topK: 2, contextTokens: 100 } };
  const conversation: Conversation = {
    ...{
      id: '1',
      title: '',
      createdMs: 0,
      updatedMs: 0,
      options: OPTIONS,
      leafId: 'a',
      pinned: false,
      projectId: null,
      residentTokens: 0,
    },
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
        return Promise.resolve({ chunks, usedVectors: false, newest: null, ms: 0 });
      },
    },
    passages: {
      chunk: (id) => ({ tokens: tokensOf(id) }) as Passage,
      neighbours: (id) => [id - 1, id + 1],
      readable: () => ({
        documents: [{ id: 1, path: 'a.md', tokens: 2 }],
        count: 1,
        tokens: 2,
        isComplete: true,
      }),
      passagesOf: () => [7, 8].map((id) => ({ id, title: '', tokens: 1 })),
    },
    store: {
      entry: (key) =>
        away.has(idOf(key))
          ? undefined
          : ({ key, bytes: 10, inRam: inRam.includes(idOf(key)) } as ChunkEntry),
      prefetch: (key, _, room) => {
        expect(room).toBe('made');
        inRam.push(idOf(key));
        return Promise.resolve('in-memory');
      },
      stats: () => ({ ram: { budgetBytes: ramBudgetBytes }, bytes: 0, diskBudgetBytes }) as StoreStats,
      shared: {
        locate: (keys) => {
          asked.push(keys.map(idOf));
          return Promise.resolve(new Set(keys.filter((key) => away.has(idOf(key)))));
        },
        ahead: (key) =>
          new Promise((resolve) => {
            const id = idOf(key);
            coming.push({ id, arrive: () => resolve(away.delete(id)) });
          }),
      },
    },
    settings: settings as unknown as ConstructorParameters<typeof Prefetcher>[0]['settings'],
    ...{ events, gate, log: LOG },
  });
  onTestFinished(() => prefetcher.close());
  const type = (
    text: string,
    conversationId: string | null = null,
    options: ConversationOptions = OPTIONS,
  ): void => prefetcher.draft({ conversationId, options, text });
  return { prefetcher, type, inRam, searched, asked, coming, gate, events };
}

test('what a question finds is in memory before it is asked', async () => {
  const { prefetcher, type, inRam } = fixture();
  type('What do 3 and 7 say?');
  await prefetcher.idle();
  expect(inRam).toEqual([3, 7]);
});

test('a document that goes in whole is in memory, whatever is asked', async () => {
  const { prefetcher, type, inRam, searched } = fixture();
  type('What is this about?', null, { scope: { libraryIds: [], documentIds: ['4'] } });
  await prefetcher.idle();
  expect([inRam, searched]).toEqual([[7, 8], []]);
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
  const ids = { conversationId: '1', answerId: 'a' };
  const done = { ...ids, state: 'done', failure: null, stats: null, hasReport: false } as const;
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

test('chunks of another machine are fetched ahead, too: requested together, transferred one at a time', async () => {
  const { prefetcher, type, inRam, asked, coming } = fixture({ elsewhere: [3, 7] });
  type('What do 3 and 7 say?');
  await expect.poll(() => coming.map(({ id }) => id)).toEqual([3]);
  expect(asked).toEqual([[3, 7]]);
  coming[0]?.arrive();
  await expect.poll(() => coming.map(({ id }) => id)).toEqual([3, 7]);
  coming[1]?.arrive();
  await prefetcher.idle();
  expect(inRam).toEqual([3, 7]);
});

test('a question does not wait for what is on its way, nor does the next guess begin another beside it', async () => {
  const { prefetcher, type, inRam, coming, gate } = fixture({ elsewhere: [3, 7] });
  type('What of 3?');
  await expect.poll(() => coming.length).toBe(1);
  expect(await gate.foreground(() => Promise.resolve('answered'))).toBe('answered');
  type('What of 7?');
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(coming.map(({ id }) => id)).toEqual([3]);
  coming[0]?.arrive();
  await expect.poll(() => coming.map(({ id }) => id)).toEqual([3, 7]);
  coming[1]?.arrive();
  await prefetcher.idle();
  expect(inRam).toEqual([7]);
});

test('closing waits for nothing that another machine sends', async () => {
  const { prefetcher, type, coming } = fixture({ elsewhere: [3] });
  type('What of 3?');
  await expect.poll(() => coming.length).toBe(1);
  await prefetcher.close();
});

test('nothing is loaded that would evict others from disk, nor more than its share of the memory', async () => {
  const full = fixture({ elsewhere: [3], diskBudgetBytes: 1 });
  full.type('What of 3 and 7?');
  await full.prefetcher.idle();
  expect(full.coming).toEqual([]);
  expect(full.inRam).toEqual([7]);
  const small = fixture({ elsewhere: [3], ramBudgetBytes: 4 });
  small.type('What of 3?');
  await small.prefetcher.idle();
  expect(small.coming).toEqual([]);
});

test('nothing is asked for a model whose chunks are not kept', async () => {
  const model = new FakeModel();
  model.info.engine = 'llama';
  const { prefetcher, type, asked } = fixture({ model, elsewhere: [3] });
  type('What of 3?');
  await prefetcher.idle();
  expect(asked).toEqual([]);
});
