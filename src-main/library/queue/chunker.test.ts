import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../testing/random.ts';
import { FakeTokenizer } from '../../testing/fusion.ts';
import type { TextChunk } from '../../catalogue/chunk-table.ts';
import { CHUNK_SEPARATOR } from '../../catalogue/chunk-table.ts';
import { chunkText } from './chunker.ts';

function chunksOf(text: string, limit: number): TextChunk[] {
  const tokenizer = new FakeTokenizer();
  return [...chunkText(text, (piece) => tokenizer.tokenize(piece), limit)];
}

/** Invariants of the chunks of any text. */
function checkRules(text: string, limit: number): void {
  const tokenizer = new FakeTokenizer();
  const tokenize = (piece: string): Int32Array => tokenizer.tokenize(piece);
  const chunks = [...chunkText(text, tokenize, limit)];
  expect(chunks.map(({ start, end }) => text.slice(start, end)).join('')).toBe(
    text.trim() === '' ? '' : text,
  );
  for (const { start, end, text: trimmed, tokens } of chunks) {
    const rules = {
      textIsTheTrimmedRange: trimmed === text.slice(start, end).trim(),
      notEmpty: trimmed !== '',
      charactersAreWhole: trimmed.isWellFormed(),
      idsAreThoseOfTheText: tokens.join() === tokenize(trimmed + CHUNK_SEPARATOR).join(),
      withinTheLimit: tokens.length <= limit,
    };
    if (!Object.values(rules).every(Boolean))
      expect.fail(`${JSON.stringify(trimmed)} (${limit}): ${JSON.stringify(rules)}`);
  }
}

const ALPHABET = [
  'a',
  'b',
  'cd',
  'efg',
  'hij',
  'k',
  ' ',
  ' ',
  ' ',
  '\n',
  '\n\n',
  '. ',
  '! ',
  '? ',
  '# ',
  '\n## Heading\n',
  '- ',
  '```\n',
  '~~~\n',
  '\t',
  '\u00a0',
  'ä',
  'é',
  'ß',
  '中',
  '文',
  '。',
  'ع',
  '\u0301',
  '😀',
  '👩‍👩‍👧',
  '🇫🇷',
  '\ufeff',
  '\u2028',
  '\0',
  '</s>',
  '<|im_end|>',
  'ﷺ',
];

function randomText(seed: number): string {
  const random = randomFrom(seed);
  const length = Math.floor(random() ** 2 * 800);
  const pick = (): string => ALPHABET[Math.floor(random() * ALPHABET.length)] ?? '';
  // Runs of one symbol are what breaks splitters: endless words, endless white space.
  return Array.from({ length }, () =>
    pick().repeat(random() < 0.03 ? 1 + Math.floor(random() * 80) : 1),
  ).join('');
}

describe('every text', () => {
  test.each(Array.from({ length: 30 }, (_, seed) => seed))(
    'seed %i: ranges cover it, limits hold, characters stay whole',
    (seed) => {
      const text = randomText(seed);
      for (const limit of [8, 33, 512]) checkRules(text, limit);
    },
  );

  test.each(['', ' \n\t ', '\ufeff\n'])('white space %j has no chunks', (text) => {
    expect(chunksOf(text, 32)).toEqual([]);
  });
});

describe('where it cuts', () => {
  test('a short document is one chunk', () => {
    const [only, ...more] = chunksOf('# Mara\n\nShe works in Oslo. Her desk is 7.\n', 512);
    expect(more).toEqual([]);
    expect(only).toMatchObject({
      start: 0,
      text: '# Mara\n\nShe works in Oslo. Her desk is 7.',
      headings: ['Mara'],
    });
  });

  test('at a heading rather than at the paragraph or sentence before the limit', () => {
    const text = '# A\n\none two one two one two.\n\n# B\n\nfour five. four five. four five.';
    expect(chunksOf(text, 24).map((chunk) => chunk.text)).toEqual([
      '# A\n\none two one two one two.',
      '# B\n\nfour five. four five. four five.',
    ]);
  });

  test('at a paragraph rather than at a sentence', () => {
    const text = 'One two. One two. One two.\n\nFour five. Four five. Four five.';
    expect(chunksOf(text, 16).map((chunk) => chunk.text)).toEqual([
      'One two. One two. One two.',
      'Four five. Four five. Four five.',
    ]);
  });

  test('at sentences, and lines that are only wrapped do not end one', () => {
    const text = 'One two one\ntwo one two. Four five four\nfive four five.';
    expect(chunksOf(text, 14).map((chunk) => chunk.text)).toEqual([
      'One two one\ntwo one two.',
      'Four five four\nfive four five.',
    ]);
  });

  test('a heading is never left alone at the end of a chunk', () => {
    const text = 'one two three four five.\n\n## Next\n\nsix seven eight nine ten.';
    for (let limit = 12; limit < 40; limit++) {
      for (const chunk of chunksOf(text, limit)) expect(chunk.text).not.toMatch(/## Next$/);
    }
  });

  test('a heading mark inside a code fence is no heading', () => {
    const chunks = chunksOf('# Real\n\n```\n# comment\n\ncode\n```\n\nafter', 10);
    expect(chunks.every((chunk) => chunk.headings.join() === 'Real')).toBe(true);
  });

  test('an endless word is cut at the limit', () => {
    const chunks = chunksOf('abcd'.repeat(1000), 32);
    expect(chunks.length).toBe(Math.ceil(1000 / 30)); // two tokens are the separator's
    expect(chunks[0]?.tokens.length).toBe(32);
  });

  test('a long sentence is cut between words', () => {
    const words = Array.from({ length: 300 }, (_, i) => `word${'abcdefghij'[i % 10] ?? ''}`);
    const chunks = chunksOf(words.join(' '), 40);
    expect(chunks.flatMap((chunk) => chunk.text.split(' '))).toEqual(words);
  });

  test('headings nest', () => {
    const text = '# A\n\nalpha beta gamma.\n\n## B *b*\n\nalpha beta gamma.\n\n# [C](x)\n\nalpha beta gamma.';
    const chunks = chunksOf(text, 22);
    expect(chunks.map(({ headings }) => headings)).toEqual([['A'], ['A', 'B b'], ['C']]);
    expect(chunks.map(({ above }) => above)).toEqual([[], ['A'], []]); // each has its own heading in its text
  });

  test('marks that close a heading are left out; a line that only looks long is read once', () => {
    expect(chunksOf('# A ##\n\none', 512)[0]?.headings).toEqual(['A']);
    expect(chunksOf('# C#\n\none', 512)[0]?.headings).toEqual(['C#']);
    const long = `# a${' '.repeat(12_000)}b`;
    expect(chunksOf(`${long}\n\none`, 512)[0]?.headings).toEqual(['a']);
  });
});

test('a limit below one character is a bad argument', () => {
  expect(() => chunksOf('😀', 3)).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
  expect(() => chunksOf('a', 0)).toThrow(TypeError);
});

test('a large text without line ends is cut in linear time', () => {
  const tokenizer = new FakeTokenizer();
  const tokenized = (words: number): number => {
    let characters = 0;
    const tokenize = (piece: string): Int32Array => {
      characters += piece.length;
      return tokenizer.tokenize(piece);
    };
    expect([...chunkText('ab cd '.repeat(words), tokenize, 512)].length).toBeGreaterThan(words / 300);
    return characters;
  };
  expect(tokenized(20_000)).toBeLessThan(2.2 * tokenized(10_000));
});

test('a chunk ends between rows, also where their cells have several sentences', () => {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `- Town: T${i}; Note: It is old. It has ${i} wells! Is it far?`,
  );
  for (const limit of [100, 130, 170, 230])
    for (const { text } of chunksOf(rows.join('\n'), limit)) expect(text).toMatch(/^- Town[^]*far\?$/);
});
