import { describe, expect, test } from 'vitest';
import { firstTokensOf, markdownOf, rowOf } from './table.ts';
import type { Round } from './rounds.ts';

const rounds = (...ms: number[]): Round[] =>
  ms.map((each) => ({ ms: each, machineLoad: 1, stealPercent: each / 1000, firstToken: 7 }));
const at = { context: 4096, chunks: 8 };
const llama = rounds(10_000, 40_000, 20_000);
const full = rounds(5000, 10_000, 10_000);
const rows = [
  rowOf('llama.cpp full prefill', llama, { llama, full }, at),
  rowOf('full prefill', full, { llama, full }, at),
  rowOf('none', rounds(500, 2000, 500), { llama: [], full }, at),
];

describe('rows of bench:ttft', () => {
  test('ratios are taken by round, not between medians', () => {
    expect(rows[1]).toMatchObject({ medianMs: 10_000, ratio: 0.5, ofFull: 1 });
    expect(rows[2]).toMatchObject({ medianMs: 500, ratio: NaN, ofFull: 0.1 });
  });

  test('noise: the spread of the rounds, and the maximum steal time', () => {
    expect(rows[1]).toMatchObject({ spread: 0.5, stealPercent: 10 });
  });

  test('Markdown has one line per method', () => {
    expect(markdownOf(rows).split('\n')).toEqual([
      '| method | 4,096 tokens, 8 chunks | × llama.cpp | × our full |',
      '| --- | --: | --: | --: |',
      '| llama.cpp full prefill | 20.00 s | 1.000 | 2.000 |',
      '| full prefill | 10.00 s | 0.500 | 1.000 |',
      '| none | 0.50 s |  | 0.100 |',
      '',
    ]);
  });

  test('first tokens are listed if several programs prefilled', () => {
    expect(firstTokensOf(rows)).toEqual([
      '4096 tokens, first token: llama.cpp full prefill 7, full prefill 7, none 7',
    ]);
    expect(firstTokensOf(rows.slice(1, 2))).toEqual([]);
  });
});
