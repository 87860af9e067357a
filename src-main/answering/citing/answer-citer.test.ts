import { expect, test } from 'vitest';
import { AnswerCiter } from './answer-citer.ts';

const PASSAGES = [
  'Mara Lind lives in Oslo. She builds bridges.',
  'Jon Berg lives in Porto. He sells tea.',
  '玛拉住在奥斯陆。她造桥。',
];

function marked(pieces: readonly string[], question = 'Who lives where?'): string {
  const passages = PASSAGES.map((text) => ({ text, title: '' }));
  const citer = new AnswerCiter({ passages, question, complete: true, numbered: true });
  return [...pieces.map((piece) => citer.push(piece)), citer.flush()].map(({ text }) => text).join('');
}

test('sentences name the passages that they rest on, before their full stop', () => {
  expect(marked(['Mara lives in Oslo. Jon sells tea in Porto!'])).toBe(
    'Mara lives in Oslo [1]. Jon sells tea in Porto [2]!',
  );
});

test('marks are the same however the text is cut', () => {
  const text = 'Mara builds bridges.\n\nJon has 3.5 cups of tea in Porto. ';
  const whole = marked([text]);
  expect(whole).toBe('Mara builds bridges [1].\n\nJon has 3.5 cups of tea in Porto [2]. ');
  expect(marked(Array.from(text))).toBe(whole);
});

test('text in no passage has no mark, and numbers are not split', () => {
  expect(marked(['Whales eat 3.5 tons of krill.'])).toBe('Whales eat 3.5 tons of krill.');
});

test('lines without a full stop, and the end of the text, end a sentence', () => {
  expect(marked(['- Mara: bridges\n- Jon: tea'])).toBe('- Mara: bridges [1]\n- Jon: tea [2]');
});

test('Chinese sentences have no space after them', () => {
  expect(marked(['玛拉住在奥斯陆。她造桥。'])).toBe('玛拉住在奥斯陆 [3]。她造桥 [3]。');
});

test('a sentence that is said again is marked once', () => {
  expect(marked(['Mara lives in Oslo. '.repeat(3)])).toBe(
    'Mara lives in Oslo [1]. Mara lives in Oslo. Mara lives in Oslo. ',
  );
});
