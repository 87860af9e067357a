import { describe, expect, test } from 'vitest';
import { FusionReportSchema } from '../../src-shared/fusion-report.ts';
import type { AppendReport } from '../engine/engine.ts';
import { rankCorrelation } from './rank-correlation.ts';
import type { ChunkReuse } from './sources.ts';
import { fusionReport, type ReportInput } from './report.ts';
import { randomFrom } from '../testing/random.ts';

describe('rank correlation', () => {
  test.each([
    [[1, 2, 3], [10, 20, 30], 1],
    [[1, 2, 3], [3, 2, 1], -1],
    [[1, 2, 3, 4], [1, 4, 9, 16], 1], // monotone, not linear
    [[1, 2, 2, 3], [1, 2, 2, 3], 1],
    // By hand: ranks 1, 2.5, 2.5, 4 and 2, 1, 3, 4.
    [[10, 20, 20, 30], [2, 1, 3, 4], 3 / Math.sqrt(4.5 * 5)],
    [[5, 5, 5], [1, 2, 3], 0],
    [[], [], 0],
    [[1], [1], 0],
  ])('%j and %j', (a, b, expected) => {
    expect(rankCorrelation(a, b)).toBeCloseTo(expected, 12);
  });

  test('lists of different length are misuse', () => {
    expect(() => rankCorrelation([1], [1, 2])).toThrow(TypeError);
  });
});

const TTFT = { total: 10, wait: 1, retrieve: 1, assemble: 1, acquire: 1, load: 1, place: 1, check: 1, recompute: 1, firstToken: 1, server: 0, other: 1 }; // prettier-ignore

function appendReport(layers: number, tokens: number, checks: AppendReport['checks'] = []): AppendReport {
  return {
    tokens,
    reusableTokens: 6,
    recomputedTokens: 2,
    processedTokens: tokens - 4,
    selected: checks.at(-1)?.selected ?? new Int32Array(0),
    question: null,
    bytesLoaded: 600,
    bytesCrossed: 200,
    layers: Array.from({ length: layers }, (_, layer) => ({
      layer,
      rows: layer < 2 ? tokens : 4,
      loadStart: layer,
      loadEnd: layer + 1,
      loadBytes: 100,
      placeMs: 0.1,
      computeStart: layer,
      computeEnd: layer + 1,
      recomputed: layer === 1 ? { tokens: 2, mean: 3, p95: 4 } : null,
      stored: null,
    })),
    checks,
    totalMs: layers,
    stages: { question: 0, place: 1, check: 1, select: 1, compute: 1, loadWait: 1, head: 1 },
  };
}

function input(append: AppendReport, appended: ReportInput['appended']): ReportInput {
  return {
    answerId: '7',
    question: 'Why?',
    model: 'Fake',
    layerCount: append.layers.length,
    tokenTexts: appended.flatMap(({ tokens }) => Array.from(tokens, String)),
    tokenBytes: 10,
    strategy: { name: 'deviation', ratio: 0.15 },
    dtype: 'f16',
    ttftMs: TTFT,
    fullPrefillMs: null,
    fullPrefillMeasured: false,
    figures: {
      promptTokens: 100 + append.tokens,
      residentTokens: 100,
      prefixTokens: 0,
      restoredTokens: 0,
      reusedTokens: append.reusableTokens,
      recomputedTokens: append.recomputedTokens,
      computedTokens: append.tokens - append.reusableTokens,
      bytesLoaded: append.bytesLoaded,
    },
    appended,
    append,
  };
}

const whole = (count: number): ChunkReuse => ({ tier: 'disk', runs: [{ begin: 0, count }] });

test('says what was in the memory of the device, and what was copied there', () => {
  const reuse: ChunkReuse = { ...whole(3), tier: 'device' };
  const report = fusionReport(
    input(appendReport(4, 8), [{ kind: 'chunk', tokens: Int32Array.of(51, 52, 53), source, reuse }]),
  );
  expect(FusionReportSchema.parse(report)).toEqual(report);
  expect(report.parts[1]?.chunk).toMatchObject({ tier: 'device', bytes: 30 });
  expect(report).toMatchObject({ bytesLoaded: 600, bytesCrossed: 200 });
});

test('says which folder a file was in', () => {
  const reuse: ChunkReuse = { ...whole(3), folder: 'b16' };
  const report = fusionReport(
    input(appendReport(4, 8), [{ kind: 'chunk', tokens: Int32Array.of(51, 52, 53), source, reuse }]),
  );
  expect(FusionReportSchema.parse(report).parts[1]?.chunk).toMatchObject({ tier: 'disk', folder: 'b16' });
});

const shown = { document: 'a.md', documentId: '1', title: 'A', ordinal: 0 };
const source = { ...shown, libraryId: '1' };

test('positions count from the first token of the conversation', () => {
  const checks = [
    {
      layer: 1,
      ratio: 0.5,
      candidates: Int32Array.of(1, 2, 3, 4, 5, 6),
      deviation: Float32Array.of(1, 5, 2, 0.5, 1, 0.5),
      selected: Int32Array.of(1, 2, 3),
    },
    {
      layer: 3,
      ratio: 0.3,
      candidates: Int32Array.of(1, 2, 3),
      deviation: Float32Array.of(2, 9, 4),
      selected: Int32Array.of(2, 3),
    },
  ];
  const report = fusionReport(
    input(appendReport(4, 8, checks), [
      { kind: 'text', tokens: Int32Array.of(50) },
      { kind: 'chunk', tokens: Int32Array.of(51, 52, 53), source, reuse: whole(3) },
      { kind: 'chunk', tokens: Int32Array.of(54, 55, 56), source },
      { kind: 'text', tokens: Int32Array.of(57) },
    ]),
  );
  expect(FusionReportSchema.parse(report)).toEqual(report);
  expect(report.parts).toMatchObject([
    { kind: 'resident', start: 0, tokens: 100, chunk: null },
    { kind: 'text', start: 100, tokens: 1 },
    {
      kind: 'chunk',
      start: 101,
      chunk: { tier: 'disk', folder: '', match: 'full', reusedTokens: 3, bytes: 30, recomputed: 2 },
    },
    { kind: 'chunk', start: 104, chunk: { tier: 'computed', bytes: 0, recomputed: 3 } },
    { kind: 'text', start: 107, tokens: 1, chunk: null },
  ]);
  expect(report.tokens).toEqual(['50', '51', '52', '53', '54', '55', '56', '57']);
  expect(report).toMatchObject({ tokensStart: 100, promptTokens: 108, rankCorrelation: [1] });
  expect(report.checks.map(({ massCovered }) => massCovered)).toEqual([0.8, 13 / 15]);
  expect(report.layers[1]).toMatchObject({
    rows: 8,
    recomputed: { tokens: 2, mean: 3, p95: 4 },
    stored: null,
  });
  expect(report.selected).toEqual([102, 103]);
  expect(report.attention).toBeUndefined();
  expect(report.checks[1]).toMatchObject({ positions: [101, 102, 103], selected: [102, 103] });
});

test('the question’s attention is reported by position, with what was recomputed without any check', () => {
  const append = {
    ...appendReport(4, 8),
    selected: Int32Array.of(2, 5),
    question: { layers: Int32Array.of(2), candidates: Int32Array.of(1, 2, 5), attention: Float32Array.of(0.1, 0.5, 0.4) }, // prettier-ignore
  };
  const report = fusionReport(input(append, [{ kind: 'text', tokens: new Int32Array(8) }]));
  expect(FusionReportSchema.parse(report)).toEqual(report);
  expect(report).toMatchObject({
    checks: [],
    selected: [102, 105],
    attention: { layers: [2], positions: [101, 102, 105], weights: [0.1, 0.5, 0.4] },
  });
});

test('4,000 tokens and 64 layers make a report small enough to send in one message', () => {
  const random = randomFrom(1);
  const candidates = Int32Array.from({ length: 3900 }, (_, i) => i + 50);
  const check = (layer: number) => ({
    layer,
    ratio: 0.15,
    candidates,
    deviation: Float32Array.from(candidates, () => random()),
    selected: candidates.filter((_, i) => i % 7 === 0),
  });
  const append = appendReport(64, 4000, [check(1), check(5)]);
  const report = fusionReport(input(append, [{ kind: 'text', tokens: new Int32Array(4000) }]));
  expect(JSON.stringify(report).length).toBeLessThan(250_000);
});

test('a passage matched in part says which of its tokens were reused, and counts all others as computed', () => {
  const reuse: ChunkReuse = {
    tier: 'ram',
    runs: [
      { begin: 0, count: 2 },
      { begin: 4, count: 2 },
    ],
  };
  const checks = [
    {
      layer: 1,
      ratio: 0.25,
      candidates: Int32Array.of(1, 2, 5, 6),
      deviation: Float32Array.of(0, 0, 3, 1),
      selected: Int32Array.of(5),
    },
  ];
  const report = fusionReport(
    input(appendReport(2, 8, checks), [
      { kind: 'text', tokens: Int32Array.of(50) },
      { kind: 'chunk', tokens: Int32Array.of(51, 52, 53, 54, 55, 56), source, reuse },
      { kind: 'text', tokens: Int32Array.of(57) },
    ]),
  );
  expect(FusionReportSchema.parse(report)).toEqual(report);
  expect(report.parts[2]?.chunk).toEqual({
    ...shown,
    tier: 'ram',
    match: 'partial',
    reusedTokens: 4,
    runs: [
      { start: 101, tokens: 2 },
      { start: 105, tokens: 2 },
    ],
    bytes: 40,
    recomputed: 3,
  });
});
