import { expect, test } from 'vitest';
import { randomFrom } from '../testing/random.ts';
import { orderBatch, sharedChunks, type PlacedChunk } from './batch-order.ts';

const prompt = (...ids: number[]): PlacedChunk[] => ids.map((id) => ({ id, bytes: 100 }));

test('questions about the same chunks follow one another', () => {
  const prompts = [prompt(1, 2), prompt(8, 9), prompt(2, 3), prompt(9, 7)];
  expect(orderBatch(prompts)).toEqual([0, 2, 1, 3]);
});

test('of those that share, the one whose prompt begins alike is next: its KV can stay', () => {
  const prompts = [prompt(1, 2, 3), prompt(3, 2, 1), prompt(1, 2, 4)];
  expect(orderBatch(prompts)).toEqual([0, 2, 1]);
});

test('large chunks pull more than small ones', () => {
  const prompts = [
    [{ id: 1, bytes: 10 }, { id: 2, bytes: 1000 }],
    [{ id: 5, bytes: 10 }, { id: 1, bytes: 10 }],
    [{ id: 6, bytes: 10 }, { id: 2, bytes: 1000 }],
  ]; // prettier-ignore
  expect(orderBatch(prompts)).toEqual([0, 2, 1]);
});

test('without anything shared the order stays', () => {
  expect(orderBatch([prompt(1), prompt(2), prompt(), prompt(3)])).toEqual([0, 1, 2, 3]);
  expect(orderBatch([])).toEqual([]);
});

test('every question comes once, whatever the chunks', () => {
  const random = randomFrom(3);
  for (let round = 0; round < 100; round++) {
    const count = 1 + Math.floor(random() * 30);
    const prompts = Array.from({ length: count }, () =>
      prompt(...new Set(Array.from({ length: 3 }, () => Math.floor(random() * 10)))),
    );
    const order = orderBatch(prompts);
    expect(order.toSorted((a, b) => a - b)).toEqual([...prompts.keys()]);
  }
});

test('shared chunks are those of two prompts or more', () => {
  expect([...sharedChunks([prompt(1, 2, 2), prompt(2, 3), prompt(4)])]).toEqual([2]);
});
