import { expect, test } from 'vitest';
import { RecentStore } from './recent-store.ts';

test('the least recently used goes first', () => {
  const store = new RecentStore<number>(2, 100);
  store.keep('a', 1, 1);
  store.keep('b', 2, 1);
  expect(store.get('a')).toBe(1);
  store.keep('c', 3, 1);
  expect(['a', 'b', 'c'].map((key) => store.get(key))).toEqual([1, undefined, 3]);
});

test('sizes count together, and a value in place of another counts once', () => {
  const store = new RecentStore<number>(10, 10);
  store.keep('a', 1, 6);
  store.keep('a', 2, 6);
  store.keep('b', 3, 4);
  expect([store.get('a'), store.get('b')]).toEqual([2, 3]);
  store.keep('c', 4, 1);
  expect([store.get('a'), store.get('b'), store.get('c')]).toEqual([undefined, 3, 4]);
});

test('what is larger than all room is not kept', () => {
  const store = new RecentStore<number>(10, 10);
  store.keep('a', 1, 11);
  expect(store.get('a')).toBeUndefined();
});
