import { describe, expect, test } from 'vitest';
import { barsOf, rowOf, type Conversation, type Pair } from './rows.ts';

const run = (firstTokenMs: number, more: Partial<Conversation> = {}): Conversation => ({
  ...{ firstTokenMs, firstToken: 7, tokensPerSecond: 20, secondTurnMs: 100 },
  ...more,
});
const pair = (ours: number, llama: number, more: Partial<Conversation> = {}): Pair => ({
  ours: run(ours, { secondTurnComputed: 32, ...more }),
  llama: run(llama),
});
const at = { model: 'mamba', context: 1024, newTokens: 32 };

describe('rows of bench:second-engine', () => {
  test('ratios are taken pair by pair, not of medians', () => {
    const row = rowOf(at, [pair(1000, 1000), pair(2100, 2000), pair(5000, 4000)]);
    expect(row.ratios.firstToken).toBe(1.05);
    expect(row.medians.ours.firstTokenMs).toBe(2100);
    expect(barsOf(row).map(({ met }) => met)).toEqual([true, true, true]);
  });

  test('a second turn that computes one token too many in any run misses its bar', () => {
    const row = rowOf(at, [pair(1000, 1000), pair(1000, 1000, { secondTurnComputed: 33 })]);
    expect(barsOf(row).at(-1)).toMatchObject({ bar: '= 32', measured: 33, met: false });
  });

  test('slower than llama.cpp by more than a twentieth misses the bars', () => {
    const row = rowOf(at, [pair(1060, 1000, { tokensPerSecond: 18 })]);
    expect(barsOf(row).map(({ met }) => met)).toEqual([false, false, true]);
  });

  test('another first token is seen', () => {
    expect(rowOf(at, [pair(1, 1)]).sameFirstToken).toBe(true);
    expect(rowOf(at, [pair(1, 1), pair(1, 1, { firstToken: 8 })]).sameFirstToken).toBe(false);
  });
});
