import { expect, test } from 'vitest';
import { append, EMPTY_SPLIT, type BlockSplit } from './split.ts';
import { lex } from './tokens.ts';

const TEXTS = {
  prose: 'One paragraph.\nIt goes on.\n\nAnother.\n\n# Heading\nText at once.\n\nSetext\n======\n\nlast',
  lists: '- a\n- b\n\n  more of b\n\n- c\n\n1. one\n2. two\n   - inner\n\nafter\n\n* x\n* [ ] task\n',
  code: 'Before\n\n```ts\nconst a = 1;\n\n# no heading\n```\nafter\n\n    indented\n\n    more\n\nend',
  table: 'Words\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n| `x|` | 4 |\n\n> quote\nlazy\n>\n> more\n\n---\n\nend',
  math: 'Sum $a+b$ costs $5 or $10.\n\n$$\n\\int_0^1 x\n\n= 1\n$$\n\nThen \\[ y = 2 \\]\n\n\\[\nz\n\\]\nend',
  html: 'a <b>b</b>\n\n<div onclick="x">\nraw\n\n</div>\n\n<!-- a\n\nb -->\n\n<script>\nalert(1)\n\n</script>\n\nend',
  links: '[a]: https://example.org "T"\n\nSee [a] and [b][a].\n\n[c]: https://example.com\n\nAnd [c].\n',
};

/** Splits a text at seeded random positions, so that failures are reproducible. */
function* pieces(text: string, seed: number): Generator<string> {
  let state = seed;
  for (let at = 0; at < text.length;) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    const next = at + 1 + (state % 7);
    yield text.slice(at, next);
    at = next;
  }
}

const raws = (blocks: readonly { raw: string; type: string }[]) => blocks.map(({ type, raw }) => [type, raw]);

test.each(Object.entries(TEXTS))('%s: piece by piece gives the blocks of the whole', (_name, text) => {
  const whole = raws(lex(text).blocks);
  for (let seed = 1; seed <= 60; seed++) {
    let split: BlockSplit = EMPTY_SPLIT;
    for (const piece of pieces(text, seed)) split = append(split, piece);
    expect(raws([...split.finished, ...split.open]), `seed ${seed}`).toEqual(whole);
  }
});

test('what is finished stays the same object and is not read again', () => {
  const first = append(EMPTY_SPLIT, 'one\n\ntwo\n\nthree\n');
  const second = append(first, 'goes on\n\nfour');
  expect(first.finished.length).toBeGreaterThan(0);
  expect(second.finished.slice(0, first.finished.length)).toEqual(first.finished);
  first.finished.forEach((block, i) => expect(second.finished[i]).toBe(block));
  expect(second.tail.length).toBeLessThan(30);
});

test('prices are no formulas', () => {
  const types = (text: string) => {
    const [block] = lex(text).blocks;
    return block && 'tokens' in block ? block.tokens.map(({ type }) => type) : [];
  };
  expect(types('It costs $5 and $10.')).toEqual(['text']);
  expect(types('So $x_1 = 5$ holds.')).toEqual(['text', 'math', 'text']);
  expect(types('So \\(x\\) holds.')).toEqual(['text', 'math', 'text']);
  expect(types('`$x$` stays code')).toEqual(['codespan', 'text']);
});

test.each(['> ', '- ', '1. ', '> - '])('%j without end is shown, not nested without end', (mark) => {
  for (const times of [300, 5000]) {
    const text = `${mark.repeat(times)}deep`;
    const { blocks } = lex(text);
    expect(blocks.map(({ raw }) => raw).join('')).toBe(text);
    const depth = JSON.stringify(blocks).match(/\[+\{|"(?:tokens|items)":/g)?.length ?? 0;
    expect(depth).toBeLessThan(300);
    expect(JSON.stringify(blocks)).toContain('deep');
  }
});

test('emphasis within emphasis is cut off as well', () => {
  const text = `${'*a _b '.repeat(60)}x${' b_ a*'.repeat(60)}`;
  const depth = (tokens: readonly { tokens?: unknown }[]): number =>
    1 + Math.max(0, ...tokens.map((token) => (Array.isArray(token.tokens) ? depth(token.tokens) : 0)));
  const { blocks } = lex(text);
  expect(depth(blocks as { tokens?: unknown }[])).toBeLessThanOrEqual(34);
});
