import { expect, test } from 'vitest';
import { CHAT_TEMPLATES } from '../testing/chat-templates.ts';
import { FakeModel } from '../testing/fusion.ts';
import { textMarksOf } from './text-marks.ts';

/** The fake vocabulary has tokens for <s>, </s>, <|im_start|> and <|im_end|>. */
const marksOf = (chatTemplate: string): string[] => textMarksOf(new FakeModel({ chatTemplate }));

const turns = (begin: string, end: string): string =>
  `{% for m in messages %}${begin}{{ m['content'] }}${end}\n{% endfor %}${begin}`;

test('marks that the vocabulary lacks are named where one of them ends an answer', () => {
  expect(marksOf(CHAT_TEMPLATES.gemma3)).toEqual(['<end_of_turn>', '<start_of_turn>']);
  expect(marksOf(turns('<|im_start|>', '<|stop|>'))).toEqual(['<|stop|>']);
});

test.each([
  ['tokens of the vocabulary', CHAT_TEMPLATES.qwen2],
  ['brackets, which older models of Mistral read as text', CHAT_TEMPLATES.mistralBefore],
  ['the name of a turn, which Zephyr was trained with as text', turns('<|user|>\n', '{{ eos_token }}')],
  ['words', turns('### Turn:\n', '')],
])('nothing is named of a template with %s', (_, template) => {
  expect(marksOf(template)).toEqual([]);
});

test('nothing is named where the template cannot be used or is missing', () => {
  expect(marksOf('{% for %}<end_of_turn>')).toEqual([]);
  expect(marksOf('')).toEqual([]);
});
