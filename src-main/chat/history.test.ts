import { expect, test } from 'vitest';
import { FakeModel } from '../testing/fusion.ts';
import { historyBefore } from './history.ts';
import type { MessageStore } from './messages.ts';
import type { MessageRecord, TurnContext } from './records.ts';

/** A conversation of `turns`, in whose last turn the first `left` were no longer in the context. */
function conversation(turns: number, left: number, fingerprint: string) {
  const asked: number[] = [];
  const branch = Array.from({ length: turns * 2 }, (_, id) => {
    const role = id % 2 === 0 ? 'user' : 'assistant';
    return { id, role, text: `${role} ${id}`, citations: [], calls: [] } as unknown as MessageRecord;
  });
  const context = (id: number): TurnContext => {
    asked.push(id);
    return {
      fingerprint,
      turnsLeftOut: id === turns * 2 - 1 ? left : 0,
      chunks: [],
      answer: [0, id],
      tokensBefore: 1,
    };
  };
  const messages = { branch: () => branch, context } as unknown as MessageStore;
  const question = { parentId: turns * 2 - 1 } as MessageRecord;
  return { asked, messages, question };
}

test('what turns brought that were left out before is not read', () => {
  const model = new FakeModel();
  const { asked, messages, question } = conversation(10, 7, model.info.fingerprint);
  const { turns, turnsLeftOut } = historyBefore(question, messages, model);
  expect(turnsLeftOut).toBe(7);
  expect(turns.map(({ question: text, answer }) => [text, ...answer])).toEqual([
    ['user 14', 15],
    ['user 16', 17],
    ['user 18', 19],
  ]);
  expect(asked).toEqual([19, 17, 15]);
});

test('all turns stand where none was left out', () => {
  const model = new FakeModel();
  const { messages, question } = conversation(3, 0, model.info.fingerprint);
  expect(historyBefore(question, messages, model).turns.map(({ answer }) => [...answer])).toEqual([
    [1],
    [3],
    [5],
  ]);
});
