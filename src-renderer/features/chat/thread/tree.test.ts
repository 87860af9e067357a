import { expect, test } from 'vitest';
import type { Message } from '../../../../src-shared/contract/chat.ts';
import { branchOf, leafBelow } from './tree.ts';

function message(id: string, parentId: string | null): Message {
  return {
    id,
    parentId,
    role: id.startsWith('q') ? 'user' : 'assistant',
    text: id,
    thinking: null,
    createdMs: 0,
    state: 'done',
    failure: null,
    citations: [],
    notices: [],
    calls: [],
    stats: null,
    hasReport: false,
  };
}

const MESSAGES = [
  message('q1', null),
  message('a1', 'q1'),
  message('q2', 'a1'),
  message('a2', 'q2'),
  message('a3', 'q2'), // regenerated
  message('q4', 'a1'), // edited
  message('a4', 'q4'),
];

test('the branch runs from the first message to the leaf', () => {
  expect(branchOf(MESSAGES, 'a2').map(({ message: { id } }) => id)).toEqual(['q1', 'a1', 'q2', 'a2']);
  expect(branchOf(MESSAGES, 'a4').map(({ message: { id } }) => id)).toEqual(['q1', 'a1', 'q4', 'a4']);
  expect(branchOf(MESSAGES, null)).toEqual([]);
});

test('siblings are the messages with the same parent', () => {
  const [, , question, answer] = branchOf(MESSAGES, 'a3');
  expect(question?.siblings.map(({ id }) => id)).toEqual(['q2', 'q4']);
  expect(answer?.siblings.map(({ id }) => id)).toEqual(['a2', 'a3']);
});

test('a chosen branch goes on at its newest end', () => {
  expect(leafBelow(MESSAGES, 'q2')).toBe('a3');
  expect(leafBelow(MESSAGES, 'q1')).toBe('a4');
  expect(leafBelow(MESSAGES, 'a2')).toBe('a2');
});
