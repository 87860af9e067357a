import { describe, expect, test } from 'vitest';
import Papa from 'papaparse';
import { CompareRequestSchema } from '../../../../src-shared/contract/chat.ts';
import { ComparisonSchema, type Comparison } from '../../../../src-shared/comparison.ts';
import { comparisonOf } from '../../../client/fixtures/comparison.ts';
import { fusionReport } from '../../../client/fixtures/fusion-report.ts';
import { layoutBars } from '../../../viz/bars.ts';
import { methodsCsv } from './csv.ts';
import { leastMs, leftMs } from './estimate.ts';
import { fullOf, isAboutTheSame, judged, timesSooner } from './methods.ts';
import { isSame, isSameWriting, textDiff } from './text-diff.ts';
import { wordsOf } from '../words.test-support.ts';

const report = fusionReport({ answerId: 'a1', chunks: 3, chunkTokens: 40, layers: 6 });

function compared(deep = false): Comparison {
  const strategies = [{ name: 'query' as const, ratio: 0.3 }];
  return comparisonOf(report, CompareRequestSchema.parse({ answerId: 'a1', strategies, deep }));
}

describe('texts', () => {
  test('words that differ are told apart, and everything of both texts is kept', () => {
    const runs = textDiff('It runs in Riga, mostly.', 'It runs in Oslo, mostly.', 'en');
    expect(runs).toEqual([
      { kind: 'same', text: 'It runs in ' },
      { kind: 'missing', text: 'Riga, ' },
      { kind: 'added', text: 'Oslo, ' },
      { kind: 'same', text: 'mostly.' },
    ]);
  });

  test('scripts without spaces are compared by words as well', () => {
    const runs = textDiff('维护合同在十日内付款。', '维护合同在三十日内付款。', 'zh-CN');
    expect(runs[0]?.kind).toBe('same');
    expect(runs[0]?.text).toContain('维护合同');
    expect(isSame(runs)).toBe(false);
  });

  test.each([
    ['', '', true],
    ['a b', 'a b', true],
    ['', 'a', false],
    ['a', '', false],
  ])('%j and %j are the same: %s', (reference, text, same) => {
    expect(isSame(textDiff(reference, text, 'en'))).toBe(same);
  });

  test('two ways wrote the same where they also thought the same', () => {
    const way = { thought: 'In the first passage.', text: '' };
    expect(isSameWriting(way, { ...way }, 'en')).toBe(true);
    expect(isSameWriting(way, { ...way, thought: 'In the second passage.' }, 'en')).toBe(false);
  });
});

describe('ways', () => {
  test('the fixture is what the contract says', () => {
    expect(() => ComparisonSchema.parse(compared(true))).not.toThrow();
  });

  test('the answer’s own way is judged; where it was a full prefill, the first blend', () => {
    const comparison = compared();
    expect(judged(comparison)?.strategy.name).toBe('deviation');
    const made = comparison.methods.map((way) => ({ ...way, answered: way.kind === 'full' }));
    expect(judged({ ...comparison, methods: made.slice(0, 3) })).toBeUndefined();
    expect(judged({ ...comparison, methods: made })?.strategy.name).toBe('deviation');
  });

  test('a full prefill is not compared with itself', () => {
    const comparison = compared();
    const full = fullOf(comparison)!;
    expect(timesSooner(full, comparison)).toBeUndefined();
    const twice = { ...comparison.methods[1]!, ttftMs: { ...full.ttftMs, total: full.ttftMs.total / 2 } };
    expect(timesSooner(twice, comparison)).toBe(2);
  });

  test('a way that had next to nothing ready is no faster, whatever its one run says', () => {
    const comparison = compared();
    const full = fullOf(comparison)!;
    const quick = {
      ...full,
      kind: 'prefix' as const,
      ttftMs: { ...full.ttftMs, total: full.ttftMs.total / 2 },
    };
    expect(isAboutTheSame({ ...quick, residentTokens: 1, reusedTokens: 0 }, comparison)).toBe(true);
    expect(isAboutTheSame({ ...quick, residentTokens: comparison.promptTokens / 2 }, comparison)).toBe(false);
  });

  test('as CSV: a row for each way, and texts that a spreadsheet would run are quoted', async () => {
    const comparison = compared();
    comparison.methods[0]!.text = '=1+1';
    const { data } = Papa.parse<Record<string, string>>(methodsCsv(comparison, await wordsOf('en')), {
      header: true,
    });
    expect(Object.keys(data[0] ?? {})).toContain('Look-up (ms)');
    expect(data.map(({ way }) => way)).toEqual(['full', 'prefix', 'reuse', 'blend', 'blend']);
    expect(data[0]?.['text']).toBe("'=1+1");
    expect(Number(data[3]?.['ttft_ms'])).toBeCloseTo(comparison.methods[3]!.ttftMs.total);
  });

  test('bars: the longest takes all room, stages follow one another, no time no width', () => {
    const rows = [[10, 30], [20, 0]].map((ms) => ({ label: '', value: '', stages: ms.map((one) => ({ ms: one })) })); // prettier-ignore
    expect(layoutBars(rows, 400)).toEqual([
      [{ x: 0, width: 100 }, { x: 100, width: 300 }],
      [{ x: 0, width: 200 }, { x: 200, width: 0 }],
    ]); // prettier-ignore
  });
});

describe('expectations', () => {
  const none = { wait: 0, retrieve: 0, assemble: 0, acquire: 0, load: 0, place: 0, check: 0, firstToken: 0, server: 0, other: 0 }; // prettier-ignore
  const ttftMs = { ...none, total: 230, retrieve: 30, check: 80, recompute: 120 };
  const known = { ...report, fullPrefillMs: 1000, ttftMs };

  test('two full prefills, and a blend each for the others, without the search', () => {
    expect(leastMs(known, { more: 0, deep: false })).toBe(2400);
    expect(leastMs(known, { more: 2, deep: false })).toBe(2800);
    expect(leastMs(known, { more: 0, deep: true })).toBe(3400);
    expect(leastMs({ ...known, fullPrefillMs: null }, { more: 0, deep: false })).toBeNull();
  });

  test('what is left grows from what is done, once that is enough', () => {
    expect(leftMs(0.01, 10, 100)).toBeNull();
    expect(leftMs(2, 10, 1000)).toBe(4000);
    expect(leftMs(10, 10, 1000)).toBe(0);
  });
});
