import { expect, test } from 'vitest';
import { added, exact, f1, holds, holdsAll, rougeL } from './scores.ts';

test.each([
  ['Riga', ['Riga'], 1, 1],
  ['the city of Riga.', ['Riga'], 0.5, 0],
  ['It runs in Riga', ['Oslo', 'in Riga'], 2 / 3, 0],
  ['', ['Riga'], 0, 0],
  ['The!', ['an'], 1, 1],
  ['Riga', [], 0, 0],
  ['rain rain', ['rain'], 2 / 3, 0],
  ['在里加', ['里加'], 0.8, 0],
])('%s against %j', (answer, references, expectedF1, expectedExact) => {
  expect(f1(answer, references)).toBeCloseTo(expectedF1, 12);
  expect(exact(answer, references)).toBe(expectedExact);
});

test('words of the question do not count', () => {
  const question = 'Where was Elsa Wexler born?';
  const right = ['Elsa Wexler was born in Krakow.'];
  expect(added('Elsa Wexler was born in Krakow.', right, question)).toBe(1);
  expect(added('Elsa Wexler was born in Oslo.', right, question)).toBe(0.5);
  expect(f1('Elsa Wexler was born in Oslo.', right)).toBeCloseTo(5 / 6, 12);
  expect(added('Elsa Wexler was born.', right, question)).toBe(0);
});

test('an answer contains a reference as whole words', () => {
  expect(holds('It is built in Riga.', ['riga'])).toBe(1);
  expect(holds('It has 101 rooms.', ['10', 'ten'])).toBe(0);
});

test('an answer contains some of several references', () => {
  expect(holdsAll('They are 101, 202 and ABC-1.', ['101', '303', 'abc-1', '202'])).toBe(0.75);
  expect(holdsAll('', [])).toBe(0);
});

test('ROUGE-L counts words in order', () => {
  expect(rougeL('police kill the gunman', ['police killed the gunman'])).toBeCloseTo(0.75, 12);
  expect(rougeL('the gunman kill police', ['police killed the gunman'])).toBeCloseTo(0.5, 12);
  expect(rougeL('a b c', ['c b a', 'a x c'])).toBeCloseTo(2 / 3, 12);
});
