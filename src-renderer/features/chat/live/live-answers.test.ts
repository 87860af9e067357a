import { describe, expect, test } from 'vitest';
import type { Message } from '../../../../src-shared/contract/chat.ts';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { citeMark } from '../../../ui/markdown/tokens.ts';
import {
  current,
  isAsking,
  withEvents,
  withMessages,
  type AnswerEvent,
  type LiveAnswers,
} from './live-answers.ts';

const OF = { conversationId: 'c', answerId: 'a' };
const text = (offset: number, piece: string): AnswerEvent => ({
  topic: 'chat.text',
  payload: { ...OF, offset, text: piece },
});
const NONE: LiveAnswers = new Map();

function message(changes: Partial<Message> = {}): Message {
  return {
    id: 'a',
    parentId: 'q',
    role: 'assistant',
    text: '',
    thinking: null,
    createdMs: 0,
    state: 'waiting',
    failure: null,
    citations: [],
    notices: [],
    calls: [],
    stats: null,
    hasReport: false,
    ...changes,
  };
}

test('text is taken by offset, and none of it twice', () => {
  let answers = withEvents(NONE, [text(0, 'Hel'), text(3, 'lo ')]);
  answers = withEvents(answers, [text(3, 'lo '), text(4, 'o world'), text(0, 'Hello')]);
  expect(answers.get('a')?.text).toBe('Hello world');
  expect(answers.get('a')?.incomplete).toBe(false);
});

test('a gap is told, and filled by what the core has', () => {
  let answers = withEvents(NONE, [text(6, 'world')]);
  expect(answers.get('a')).toMatchObject({ text: '', incomplete: true });
  answers = withMessages(answers, 'c', [message({ state: 'streaming', text: 'Hello world' })]);
  answers = withEvents(answers, [text(11, '!')]);
  expect(answers.get('a')).toMatchObject({ text: 'Hello world!', incomplete: false });
});

test('a thought is taken by offset, and comes before the text', () => {
  const thought = (offset: number, piece: string, ms: number): AnswerEvent => ({
    topic: 'chat.thinking',
    payload: { ...OF, offset, text: piece, ms, tokens: ms / 10 },
  });
  let answers = withEvents(NONE, [thought(0, 'Is it', 100), thought(3, 'it? Yes.', 200)]);
  const thinking = { text: 'Is it? Yes.', ms: 200, tokens: 20 };
  expect(current(message(), answers.get('a'))).toMatchObject({ thinking, text: '', state: 'streaming' });
  answers = withEvents(answers, [thought(11, '', 300), text(0, 'Yes.')]);
  expect(current(message(), answers.get('a'))).toMatchObject({
    thinking: { ...thinking, ms: 300, tokens: 30 },
    text: 'Yes.',
  });
  expect(withEvents(NONE, [thought(3, 'it?', 100)]).get('a')?.incomplete).toBe(true);
  const kept = message({ state: 'streaming', thinking });
  expect(withMessages(NONE, 'c', [kept]).get('a')).toMatchObject({ thinking, incomplete: false });
});

test('the blocks hold the whole text', () => {
  const answers = withEvents(NONE, [text(0, 'One.\n\nTwo'), text(9, ' and more.\n\nThree')]);
  const split = answers.get('a')?.split;
  const raws = [...(split?.finished ?? []), ...(split?.open ?? [])].map(({ raw }) => raw);
  expect(raws.join('')).toBe('One.\n\nTwo and more.\n\nThree');
});

test("a sentence's mark comes into the blocks at its end, once, and not into finished ones", () => {
  const sentence = (start: number, end: number): AnswerEvent => ({
    topic: 'chat.sentence',
    payload: { ...OF, sentence: { start, end, sources: [] } },
  });
  const shown = (answers: LiveAnswers): string => {
    const split = answers.get('a')?.split;
    return [...(split?.finished ?? []), ...(split?.open ?? [])].map(({ raw }) => raw).join('');
  };
  let answers = withEvents(NONE, [text(0, 'One. Tw'), sentence(0, 4)]);
  expect(shown(answers)).toBe(`One.${citeMark(0)} Tw`);
  answers = withEvents(answers, [text(7, 'o. Three'), sentence(5, 9), sentence(0, 4)]);
  expect(shown(answers)).toBe(`One.${citeMark(0)} Two.${citeMark(1)} Three`);
  answers = withEvents(answers, [text(15, '\n\nFour\nand five')]);
  answers = withEvents(answers, [sentence(10, 15)]);
  expect(answers.get('a')?.sentences).toHaveLength(3);
  expect(shown(answers)).toBe(`One.${citeMark(0)} Two.${citeMark(1)} Three\n\nFour\nand five`);
});

describe('calls of tools', () => {
  const call = (id: string, offset: number, state: ToolCall['state']): ToolCall => {
    const fields = { name: 'date', title: 'Date', server: null, arguments: '{}', result: null, ms: null };
    return { id, offset, state, ...fields };
  };
  const told = (of: ToolCall): AnswerEvent => ({ topic: 'chat.call', payload: { ...OF, call: of } });

  test('begin new blocks at their place; sentences before it get no mark in them', () => {
    let answers = withEvents(NONE, [text(0, '- One'), told(call('x', 5, 'running'))]);
    expect(answers.get('a')).toMatchObject({ text: '- One', from: 5, split: { tail: '' } });
    const sentence = { start: 0, end: 5, sources: [] };
    answers = withEvents(answers, [text(5, 'Two'), { topic: 'chat.sentence', payload: { ...OF, sentence } }]);
    expect(answers.get('a')?.split).toMatchObject({ tail: 'Two', open: [{ type: 'paragraph' }] });
    expect(answers.get('a')?.sentences).toEqual([sentence]);
  });

  test('are each shown in their latest state, whichever way it came', () => {
    const states = (answers: LiveAnswers, stored: ToolCall[]) =>
      current(message({ state: 'streaming', calls: stored }), answers.get('a')).calls.map(
        ({ state }) => state,
      );
    let answers = withEvents(NONE, [told(call('x', 0, 'asking'))]);
    expect(states(answers, [])).toEqual(['asking']);
    answers = withMessages(answers, 'c', [message({ state: 'streaming', calls: [call('x', 0, 'running')] })]);
    expect(states(answers, [])).toEqual(['running']);
    answers = withEvents(answers, [told(call('x', 0, 'asking')), told(call('y', 0, 'asking'))]);
    expect(states(answers, [call('x', 0, 'done')])).toEqual(['done', 'asking']);
    const [answer] = answers.values();
    expect(answer && isAsking(answer)).toBe(true);
  });

  test('are taken from the core after a reload, with the text behind them in blocks', () => {
    const stored = message({ state: 'streaming', text: 'One.Two', calls: [call('x', 4, 'done')] });
    expect(withMessages(NONE, 'c', [stored]).get('a')).toMatchObject({ from: 4, split: { tail: 'Two' } });
  });
});

test('the shown message goes through its phases', () => {
  const states: string[] = [];
  let answers = NONE;
  const see = (event: AnswerEvent): void => {
    answers = withEvents(answers, [event]);
    states.push(current(message(), answers.get('a')).state);
  };
  states.push(current(message(), undefined).state);
  see({ topic: 'chat.citations', payload: { ...OF, citations: [] } });
  see({ topic: 'chat.progress', payload: { ...OF, done: 1, total: 4, secondsLeft: 2 } });
  see(text(0, 'Hi'));
  see({
    topic: 'chat.done',
    payload: { ...OF, state: 'stopped', failure: null, stats: null, hasReport: false },
  });
  expect(states).toEqual(['waiting', 'waiting', 'prefilling', 'streaming', 'stopped']);
});

test('what the core keeps wins once it is finished, and the live answer is forgotten', () => {
  let answers = withEvents(NONE, [
    text(0, 'Hi'),
    { topic: 'chat.done', payload: { ...OF, state: 'done', failure: null, stats: null, hasReport: true } },
  ]);
  expect(current(message(), answers.get('a')).hasReport).toBe(true);
  const kept = message({ state: 'done', text: 'Hi there' });
  expect(current(kept, answers.get('a')).text).toBe('Hi there');
  answers = withMessages(answers, 'c', [kept]);
  expect(answers.has('a')).toBe(false);
});

test('nothing new leaves the answers as they are', () => {
  const answers = withEvents(NONE, [text(0, 'Hi')]);
  expect(withMessages(answers, 'c', [message({ text: 'H' })])).toBe(answers);
});
