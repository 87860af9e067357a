import { describe, expect, test } from 'vitest';
import { FakeModel } from '../testing/fusion.ts';
import { ThoughtStream } from './thoughts.ts';

const model = new FakeModel();

function written(text: string, behind = '') {
  const stream = new ThoughtStream(model, behind);
  const tokens = model.tokenize(text, { special: true });
  const pieces = [...[...tokens].map((token) => stream.push(token)), stream.flush()];
  return {
    thought: pieces.map(({ thought }) => thought).join(''),
    answer: pieces.map(({ answer }) => answer).join(''),
    rest: model.detokenize(tokens.subarray(stream.tokensBefore), { special: true }),
    pieces,
  };
}

const HARMONY = {
  analysis: '<|channel|>analysis<|message|>',
  next: '<|end|><|start|>assistant',
  final: '<|channel|>final<|message|>',
};

describe('what a model writes', () => {
  test.each([
    ['Qwen, SmolLM, GLM', '<think>\nIs it? Yes.\n</think>\n\nYes, it is.', ''],
    [
      'a template that began the thought',
      '\nIs it? Yes.\n</think>\n\nYes, it is.',
      '<|im_start|>assistant\n<think>\n',
    ],
    ['Mistral', '[THINK]Is it? Yes.[/THINK]Yes, it is.', ''],
    ['Gemma 4', '<|channel>thought\nIs it? Yes.\n<channel|>Yes, it is.', ''],
    ['Granite', '<think>Is it? Yes.</think>\n<response>Yes, it is.</response>', ''],
    ['EXAONE Deep', 'Is it? Yes.\n</thought>\n\nYes, it is.', '[|assistant|]<thought>\n'],
    ['Seed-OSS', '<seed:think>Is it? Yes.</seed:think>Yes, it is.', ''],
    [
      'Cohere',
      '<|START_THINKING|>Is it? Yes.<|END_THINKING|><|START_RESPONSE|>Yes, it is.<|END_RESPONSE|>',
      '',
    ],
    ['Apertus', '<|inner_prefix|>Is it? Yes.<|inner_suffix|>Yes, it is.', ''],
    ['Kimi-VL', '◁think▷Is it? Yes.◁/think▷Yes, it is.', ''],
    [
      'Kimi K3',
      'Is it? Yes.<|close|>think<|sep|><|open|>response<|sep|>Yes, it is.<|close|>response<|sep|><|close|>message<|sep|>',
      '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
    ],
    [
      'Apriel',
      'Is it? Yes.\n[BEGIN FINAL RESPONSE]\nYes, it is.[END FINAL RESPONSE]',
      '<|begin_assistant|>\nHere are my reasoning steps:\n',
    ],
    [
      'Solar Open',
      '<|think|>Is it? Yes.<|end|><|begin|>assistant<|content|>Yes, it is.',
      '<|begin|>assistant',
    ],
    [
      'gpt-oss',
      `${HARMONY.analysis}Is it? Yes.${HARMONY.next}${HARMONY.final}Yes, it is.`,
      '<|start|>assistant',
    ],
  ])('is split into thought and answer: %s', (_, text, behind) => {
    const { thought, answer, rest } = written(text, behind);
    expect({ thought: thought.trim(), answer }).toEqual({ thought: 'Is it? Yes.', answer: 'Yes, it is.' });
    expect(rest.startsWith('Yes, it is.')).toBe(true);
  });

  test.each([
    'Yes, it is.',
    'a < b, and so on',
    '<b>bold</b>',
    '[THIN] air',
    'Write <think> and </think> around it.',
    '中文 <think>',
    '',
  ])('%j is no thought', (text) => {
    expect(written(text)).toMatchObject({ thought: '', answer: text, rest: text });
  });

  test.each([
    ['at the beginning', '</think>\n\nYes, it is.', 'Yes, it is.'],
    ['within', 'Is it?</think>Yes, it is.', 'Is it?Yes, it is.'],
    ['behind a thought', '<think>Is it?</think>Yes,</think> it is.', 'Yes, it is.'],
    ['cut off', 'Yes, it is.</thi', 'Yes, it is.</thi'],
  ])('an end without a beginning is not shown: %s', (_, text, answer) => {
    expect(written(text).answer).toBe(answer);
  });

  test('an answer that the prompt began has its end mark cut off', () => {
    const { thought, answer } = written(
      'Yes, it is.<|close|>response<|sep|><|close|>message<|sep|>',
      '<|open|>response<|sep|>',
    );
    expect([thought, answer]).toEqual(['', 'Yes, it is.']);
  });

  test('an empty thought is none, and its marks are not shown', () => {
    expect(written('<think>\n\n</think>\n\nYes.')).toMatchObject({
      thought: '',
      answer: 'Yes.',
      rest: 'Yes.',
    });
    expect(written(`${HARMONY.final}Yes.`)).toMatchObject({ thought: '', answer: 'Yes.', rest: 'Yes.' });
  });

  test('several thoughts stand apart', () => {
    const text = `${HARMONY.analysis}One.${HARMONY.next}${HARMONY.analysis}Two.${HARMONY.next}${HARMONY.final}Yes.`;
    expect(written(text)).toMatchObject({ thought: 'One.\n\nTwo.', answer: 'Yes.', rest: 'Yes.' });
  });

  test('a thought without an end leaves no answer', () => {
    expect(written('<think>\nHm, well < this')).toMatchObject({
      thought: 'Hm, well < this',
      answer: '',
      rest: '',
    });
  });

  test('comes as it is written', () => {
    const { pieces } = written('<think>One two three</think>Four five six');
    expect(pieces.filter(({ thought }) => thought !== '').length).toBeGreaterThan(2);
    expect(pieces.filter(({ answer }) => answer !== '').length).toBeGreaterThan(2);
  });

  test('characters of several tokens come whole, in thoughts and answers', () => {
    const { thought, answer, rest, pieces } = written('<think>想 👩‍👩‍👧</think>\n🙂 好');
    expect([thought, answer, rest]).toEqual(['想 👩‍👩‍👧', '🙂 好', '🙂 好']);
    for (const piece of pieces) expect((piece.thought + piece.answer).includes('\uFFFD')).toBe(false);
  });
});
