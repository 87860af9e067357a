import { expect, test } from 'vitest';
import { factsOf, missingFacts } from './facts.ts';

function missing(text: string, ...texts: string[]): string[] {
  return missingFacts(text, texts).map((fact) => fact.text);
}

test.each([
  ['How much did Tesla earn in 2031?', ['Tesla', '2031']],
  ['Where does Ada Dahl live?', ['Ada', 'Dahl']],
  ['Ada Dahl was born on 1 May 2031 at 14:30.', ['Ada', 'Dahl', '1 May 2031', '14:30']],
  ['What does the “red ferry” cost?', ['red ferry']],
  ['Is the SN-4711 older than the A380?', ['SN-4711', 'A380']],
  ['Does iPhone support NASA’s radio?', ['iPhone', 'NASA']],
  ['特斯拉在2031年的营收是多少？', ['特斯拉', '2031']],
  ['Tesla在2031年5月1日卖了多少？', ['Tesla', '2031年5月1日']],
  ['Ist Maria Gruber für die Scheune zuständig?', ['Maria', 'Gruber']],
])('finds the names, numbers and dates of "%s"', (text, expected) => {
  const facts = factsOf(text);
  expect(facts.map((fact) => fact.text)).toEqual(expected);
  for (const { text: written, start, end } of facts) expect(text.slice(start, end)).toBe(written);
});

test.each([
  'Who pays for the barn?',
  'Summarise the lease.',
  'What Is The Rent For The Barn?',
  'WHAT IS THE RENT FOR THE BARN?',
  'Is it open on Mondays, Dr. or Mr.?',
  'Was kostet die Zebrascheune im Jahr?',
  '斑马谷仓每年多少钱？',
  '1. First\n2) Second [3] [4, 5]',
])('finds none in "%s"', (text) => {
  expect(factsOf(text)).toEqual([]);
});

test.each([
  ['1,000', '1000'],
  ['1.000', '1,000'],
  ['1 000', "1'000"],
  ['4.5 million', '4,500,000'],
  ['4,5 Millionen', '4.5m'],
  ['450万', '4.5 million'],
  ['12', 'twelve'],
  ['9', 'neun'],
  ['25', '二十五'],
  ['5 km', '5km'],
  ['2031-05-01', 'on 1 May 2031'],
  ['May 1st, 2031', 'am 1. Mai 2031'],
  ['1 May 2031', '1.5.2031'],
  ['1 May 2031', '2031年5月1日'],
  ['1 May 2031', 'since 1 May (year: 2031)'],
  ['May 2031', '2031-05-17'],
  ['2031', '17/05/2031'],
  ['2:30 pm', '14:30'],
  ['version 1.2.3', 'v 1.2.3'],
])('recognises %s written as %s', (text, other) => {
  expect(factsOf(text)).toHaveLength(1);
  expect(missing(text, other)).toEqual([]);
});

test.each([
  ['1,500', '1,000', '1,500'],
  ['4.5 million', '4.5 percent', '4.5 million'],
  ['2 May 2031', '1 May 2031', '2 May 2031'],
  ['1 May 2032', '1 May 2031', '1 May 2032'],
  ['15:30', '2:30 pm', '15:30'],
  ['223.39', '$223 and 39 cents', '223.39'],
])('tells %s from %s', (text, other, expected) => {
  expect(missing(text, other)).toEqual([expected]);
});

test.each([
  ['What do the Müllers pay?', 'Mueller pays 5 euros.'],
  ['Is José there?', 'JOSE is here.'],
  ['Was sagt Maria Gruber?', 'Grubers Tochter Maria sagt nichts.'],
  ['Where is the EU?', 'The European Union sits in Brussels.'],
  ['Who leads the USA?', 'The United States of America have a president.'],
  ['Which Norwegian ship?', 'Ships of Norway'],
  ['Is KvasirDB fast?', 'Kvasir DB is fast.'],
  ['Who sold the SN 4711?', 'sn-4711 was sold'],
  ['Who is "Red Ferry"?', 'The red-ferry line'],
  ['特斯拉是谁？', '特斯拉是一家公司。'],
])('holds the names of "%s" in "%s"', (text, other) => {
  expect(missing(text, other)).toEqual([]);
});

test('reports what no text contains', () => {
  const texts = ['Zebra barn: 4,250 euros a year, from 1 May 2024.', 'Ada Berg and Erik Dahl own the barn.'];
  expect(missing('How much did Tesla earn in 2031?', ...texts)).toEqual(['Tesla', '2031']);
  expect(missing('Does Ada Lind pay 4.250 Euro?', ...texts)).toEqual(['Lind']);
  expect(missing('特斯拉付多少？', ...texts)).toEqual(['特斯拉']);
});

test('does not take the capitals of German nouns for names, but says so where one may be a name', () => {
  const facts = factsOf('Wie hoch war der Umsatz von Tesla in der Fabrik?');
  expect(facts.map(({ text, sure }) => [text, sure])).toEqual([['Tesla', false]]);
});
