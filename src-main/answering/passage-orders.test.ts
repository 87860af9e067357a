import { expect, test } from 'vitest';
import { PassageOrders } from './passage-orders.ts';
import type { PromptChunk } from './passages.ts';

const MODEL = {};

/** A passage named by its document and position, as in 'a1'. */
function passage(name: string): PromptChunk {
  const [document = '', ordinal = ''] = name;
  return {
    tokens: Int32Array.from({ length: 100 }, (_, i) => name.charCodeAt(i % 2)),
    text: name,
    label: document,
    score: 0,
    source: { document, documentId: document, libraryId: '1', title: document, ordinal: Number(ordinal) },
  };
}

function arranged(given: string, ...known: string[]): string {
  const orders = new PassageOrders();
  const all = (names: string): PromptChunk[] => names.split(' ').map(passage);
  for (const order of known) orders.add(MODEL, all(order));
  return orders
    .arrange(MODEL, all(given))
    .map(({ text }) => text)
    .join(' ');
}

test.each([
  ['nothing is known', 'b1 a1', [], 'b1 a1'],
  ['the same documents, found in another order', 'b1 c1 a1 a2', ['a1 a2 b1 c1'], 'a1 a2 b1 c1'],
  ['some of them', 'b1 a1', ['a1 b1 c1'], 'a1 b1'],
  ['others as well, in the order found', 'd1 b1 c1 a1', ['a1 b1'], 'a1 b1 d1 c1'],
  ['a document that goes on differently ends what is known', 'b1 a1 a3 c1', ['a1 a2 b1 c1'], 'a1 a3 b1 c1'],
  ['a document without its first passage', 'b1 a2', ['a1 a2 b1'], 'b1 a2'],
  ['the order that most of it continues', 'c1 b1 a1', ['a1', 'b1 c1 a1', 'c1'], 'b1 c1 a1'],
])('%s', (_, given, known, expected) => {
  expect(arranged(given, ...known)).toBe(expected);
});

test('each model has its own orders', () => {
  const orders = new PassageOrders();
  const [a, b] = [passage('a1'), passage('b1')];
  orders.add(MODEL, [a, b]);
  expect(orders.arrange({}, [b, a])).toEqual([b, a]);
  expect(orders.arrange(MODEL, [b, a])).toEqual([a, b]);
});
