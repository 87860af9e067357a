import { expect, test } from 'vitest';
import { CitedSentences } from './cited-sentences.ts';

const SOURCES = [
  { text: 'Mara Lind lives in Oslo.', context: '', document: 1 },
  { text: 'She builds bridges.', context: 'Mara Lind lives in Oslo.', document: 1 },
  { text: 'Jon Berg lives in Porto.', context: '', document: 2 },
  { text: '玛拉住在奥斯陆。', context: '', document: 3 },
];

/** Sentences, each with the indices of its sources in the list. */
function cited(pieces: readonly string[], question = 'Who lives where?'): [string, number[]][] {
  const sentences = new CitedSentences(SOURCES, question);
  const all = [...pieces.flatMap((piece) => sentences.push(piece)), ...sentences.flush()];
  return all.map(({ text, sources }) => [text, sources.map((source) => SOURCES.indexOf(source))]);
}

test('each sentence has the sources that share its words, and one that none does has none', () => {
  expect(cited(['Mara lives in Oslo. Nobody knows why. Jon is in Porto!'])).toEqual([
    ['Mara lives in Oslo. ', [0]],
    ['Nobody knows why. ', []],
    ['Jon is in Porto!', [2]],
  ]);
});

test('however the stream is cut', () => {
  const text =
    'Mara lives in Oslo. She builds bridges.\n玛拉住在奥斯陆。Jon is in Porto [2].\n\nAnd 3.5 more';
  const whole = cited([text]);
  expect(whole.map(([sentence]) => sentence).join('')).toBe(text.replace(' [2]', ''));
  expect(whole.map(([, sources]) => sources)).toEqual([[0], [1], [3], [2], []]);
  expect(cited(Array.from(text))).toEqual(whole);
});

test('an abbreviation ends no sentence', () => {
  const text =
    'Dr. Mara Lind lives in Oslo, e. g. near St. Hanshaugen. Prof. Berg is in Porto.\nOf Dr.\nNo more.';
  const whole = cited([text]);
  expect(whole).toEqual([
    ['Dr. Mara Lind lives in Oslo, e. g. near St. Hanshaugen. ', [0]],
    ['Prof. Berg is in Porto.\n', [2]],
    ['Of Dr.\n', []],
    ['No more.', []],
  ]);
  expect(cited(Array.from(text))).toEqual(whole);
});

test('marks of the model lead to the document they name, and are removed', () => {
  expect(cited(['He moved to Porto [2]. A canal [1] is there. Then [7] nothing.'])).toEqual([
    ['He moved to Porto. ', [2]],
    ['A canal [1] is there. ', []],
    ['Then [7] nothing.', []],
  ]);
  expect(cited(['In Oslo they meet. [1] Then they go.'])).toEqual([
    ['In Oslo they meet. ', [0]],
    ['Then they go.', []],
  ]);
});

test('a sentence that is said again is cited once', () => {
  const sentence = 'Mara lives in Oslo. ';
  expect(cited([sentence.repeat(3), 'Jon is in Porto.'])).toEqual([
    [sentence, [0]],
    [sentence, []],
    [sentence, []],
    ['Jon is in Porto.', [2]],
  ]);
});
