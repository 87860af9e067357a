import { describe, expect, test } from 'vitest';
import { compareTtft, TtftSchema, wasFullPrefill } from './ttft.ts';

const TTFT = { total: 100, wait: 2, retrieve: 20, assemble: 5, acquire: 3, load: 4, place: 6, check: 17, recompute: 30, firstToken: 3, server: 0, other: 10 }; // prettier-ignore

describe('a first token beside that of a full prefill', () => {
  test('has search, prompt, waiting and sampling on both sides', () => {
    expect(compareTtft({ ttftMs: TTFT, fullPrefillMs: 160 })).toEqual({
      sharedMs: 40,
      fullTtftMs: 200,
      times: 2,
      verdict: 'sooner',
    });
  });

  test('which blending only loses where the full prefill takes less than what it replaces', () => {
    const verdict = (fullPrefillMs: number) => compareTtft({ ttftMs: TTFT, fullPrefillMs })?.verdict;
    expect([30, 56, 60, 64, 66].map(verdict)).toEqual(['later', 'same', 'same', 'same', 'sooner']);
  });

  test('is unknown without a full prefill, or without a time', () => {
    expect(compareTtft({ ttftMs: TTFT, fullPrefillMs: null })).toBeNull();
    expect(compareTtft({ ttftMs: { ...TTFT, total: 0 }, fullPrefillMs: 10 })).toBeNull();
  });

  test('is not there for one that was computed in full itself', () => {
    expect(wasFullPrefill({ reusedTokens: 0, residentTokens: 0 })).toBe(true);
    expect(wasFullPrefill({ reusedTokens: 0, residentTokens: 64 })).toBe(false);
    expect(wasFullPrefill({ reusedTokens: 96, residentTokens: 0 })).toBe(false);
  });

  test('reads times of older answers, where waiting was part of the rest', () => {
    const { wait, ...older } = TTFT;
    const ttftMs = TtftSchema.parse({ ...older, other: older.other + wait });
    const now = compareTtft({ ttftMs: TTFT, fullPrefillMs: 160 });
    expect(compareTtft({ ttftMs, fullPrefillMs: 160 })).toEqual(now);
  });
});
