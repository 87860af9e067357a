import { describe, expect, test } from 'vitest';
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

test('a table’s row has its mark before its last bar', () => {
  const rows = '| who | where |\n| --- | --- |\n| Mara | Oslo |\n| Jon | Porto | \n| Jon | tea |';
  const whole =
    '| who | where |\n| --- | --- |\n| Mara | Oslo [1] |\n| Jon | Porto [2] | \n| Jon | tea [2] |';
  expect(marked([rows])).toBe(whole);
  for (let at = 0; at <= rows.length; at++) expect(marked([rows.slice(0, at), rows.slice(at)])).toBe(whole);
  expect(marked(Array.from(rows))).toBe(whole);
});

test('Chinese sentences have no space after them', () => {
  expect(marked(['玛拉住在奥斯陆。她造桥。'])).toBe('玛拉住在奥斯陆 [3]。她造桥 [3]。');
});

test('a sentence that is said again is marked once', () => {
  expect(marked(['Mara lives in Oslo. '.repeat(3)])).toBe(
    'Mara lives in Oslo [1]. Mara lives in Oslo. Mara lives in Oslo. ',
  );
});

/** The sentences of an answer, each with its source sentences; none: the model's own. */
function cited(
  answer: string,
  passages: readonly { title?: string; text: string }[],
  { question = '', complete = true } = {},
): [string, string[]][] {
  const titled = passages.map(({ title = '', text }) => ({ title, text }));
  const citer = new AnswerCiter({ passages: titled, question, complete });
  for (const character of answer) citer.push(character);
  citer.flush();
  return citer.sentences.map(({ start, end, sources }) => [
    answer.slice(start, end),
    sources.map((source) => titled[source.citation]?.text.slice(source.start, source.end) ?? ''),
  ]);
}

describe('a sentence is tied to the sentences that carry its facts', () => {
  const OBERON = {
    title: 'The Oberon',
    text: '# The Oberon\n\nThe Oberon is sold in Delhi. It weighs 1,250 grams. Its price is 380 euros.',
  };
  const SONATA = {
    title: 'The Sonata',
    text: '# The Sonata\n\nIts price is 380 euros. It has been sold since 1 May 2016.',
  };

  test.each([
    ['the subject decides', 'The Sonata costs 380 euros.', [['Its price is 380 euros.']]],
    ['numbers in any notation', 'The Oberon weighs 1250 g.', [['It weighs 1,250 grams.']]],
    ['a date by its year', 'The Sonata came in 2016.', [['It has been sold since 1 May 2016.']]],
    [
      'two facts',
      'The Oberon weighs 1250 g and the Sonata is sold since 2016.',
      [['It has been sold since 1 May 2016.', 'It weighs 1,250 grams.']],
    ],
  ])('%s', (_, answer, sources) => {
    const found = cited(answer, [OBERON, SONATA], { question: 'Tell me about them.' });
    expect(found.map(([, texts]) => texts.toSorted())).toEqual(sources);
  });

  test.each([
    [
      'German',
      'Die Gebühr beträgt 45 Euro im Monat.',
      'Der Vertrag gilt ein Jahr. Die monatliche Gebühr von 45 Euro ist im Voraus fällig. Er endet im März.',
      'Die monatliche Gebühr von 45 Euro ist im Voraus fällig.',
    ],
    [
      'French',
      'Le train part de Lyon à 8:40.',
      'La réunion est reportée. Le train de 8:40 quitte Lyon. Le repas est offert.',
      'Le train de 8:40 quitte Lyon.',
    ],
    [
      'Russian',
      'Столица расположена на реке Волга.',
      'Город основан давно. Столица стоит на реке Волга. Население растёт.',
      'Столица стоит на реке Волга.',
    ],
    [
      'Chinese',
      '合同的租金是每月三千元。',
      '合同期限为两年。每月租金为3000元。押金可以退还。',
      '每月租金为3000元。',
    ],
    [
      'Japanese',
      '本社は大阪にあります。',
      '会社は1990年に設立された。本社は大阪市にある。社員は多い。',
      '本社は大阪市にある。',
    ],
  ])('in %s', (_, answer, text, source) => {
    expect(cited(answer, [{ text }])).toEqual([[answer, [source]]]);
  });

  test('"Dr. Brook" is no end of a sentence, neither in the answer nor in a passage', () => {
    const text = 'The clinic is closed. Dr. Brook works in Oslo. Nobody else does.';
    expect(cited('It is Dr. Brook who works in Oslo. Whales sing.', [{ text }])).toEqual([
      ['It is Dr. Brook who works in Oslo.', ['Dr. Brook works in Oslo.']],
      ['Whales sing.', []],
    ]);
  });
});

describe("the model's own sentences", () => {
  const TEXT = [{ text: 'Mara Lind lives in Oslo. She builds bridges.' }];

  test('are those that no passage says, without headings, questions, announcements and code', () => {
    const answer =
      '# Mara\n\nHere it is:\n\n```\nSome code. More code.\n```\n\nMara lives in Oslo. Whales sing at night. Shall I go on?';
    expect(cited(answer, TEXT)).toEqual([
      ['Mara lives in Oslo.', ['Mara Lind lives in Oslo.']],
      ['Whales sing at night.', []],
    ]);
  });

  test('are not told where the model reads passages that are not among these', () => {
    expect(cited('Mara lives in Oslo. Whales sing.', TEXT, { complete: false })).toHaveLength(1);
  });

  test("a row's mark stays within its last cell", () => {
    expect(cited('| Who | Where |\n| --- | --- |\n| Mara Lind | Oslo |\n', TEXT)).toEqual([
      ['| Mara Lind | Oslo', ['Mara Lind lives in Oslo.']],
    ]);
  });
});
