import { expect, test } from 'vitest';
import { findPassage, type TextPiece } from './find-passage.ts';

/** Blocks of a page; `|` divides a block into pieces. */
function pieces(...blocks: string[]): TextPiece[] {
  return blocks.flatMap((block) => block.split('|').map((text, i) => ({ text, begins: i === 0 })));
}

function found(page: readonly TextPiece[], passage: string, near = 0): string[] {
  return findPassage(page, passage, near).map((range, i) =>
    range ? (page[i]?.text.slice(range.start, range.end) ?? '') : '',
  );
}

test('a passage is found across pieces, whatever the text adds to it', () => {
  const page = pieces('Before the storm.', 'The har|bour office op|ens at seven.', 'After it all is quiet.');
  expect(found(page, '# The harbour office\n\n- opens at seven.')).toEqual([
    '',
    'The har',
    'bour office op',
    'ens at seven',
    '',
  ]);
});

test('a row of a table that repeats the names of its columns is found by its cells', () => {
  const page = pieces('Berth', 'Crowns', 'North pier', '40', 'South mole', '25', 'Other words of the page.');
  expect(found(page, '- Berth: South mole; Crowns: 25')).toEqual(['', '', '', '', 'South mole', '25', '']);
});

test('of equal places the one nearest to the hint is found', () => {
  const page = pieces('one two three four', 'other words here', 'one two three four', 'the end');
  expect(found(page, 'one two three four', 0)[0]).toBe('one two three four');
  expect(found(page, 'one two three four', 0.6)[2]).toBe('one two three four');
});

test('Chinese needs no spaces, and width and case do not matter', () => {
  expect(found(pieces('前言。', '港口办公室|七点开门。', '结束。'), '港口办公室七点开门')).toEqual([
    '',
    '港口办公室',
    '七点开门',
    '',
  ]);
  expect(found(pieces('Ｆｕｌｌ WIDTH letters here'), 'full width letters')).toEqual([
    'Ｆｕｌｌ WIDTH letters',
  ]);
});

test('a passage that is not there is not found', () => {
  expect(found(pieces('Some words of a page', 'and some more'), 'nothing like any of this text')).toEqual([]);
  expect(found([], 'words')).toEqual([]);
  expect(found(pieces('words'), '')).toEqual([]);
});

test('a long page with a common word is searched in little time', () => {
  const page = pieces(...Array.from({ length: 50_000 }, (_, i) => `the word ${i} of the page`));
  const start = performance.now();
  expect(found(page, 'the word 40000 of the page the word 40001 of the page').filter(Boolean)).toHaveLength(
    2,
  );
  expect(performance.now() - start).toBeLessThan(5000);
});
