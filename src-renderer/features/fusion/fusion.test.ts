import { describe, expect, test } from 'vitest';
import Papa from 'papaparse';
import { FusionReportSchema, type FusionReport, type PromptPart } from '../../../src-shared/fusion-report.ts';
import { namedReport } from '../../client/fixtures/named-reports.ts';
import { fusionReport } from '../../client/fixtures/fusion-report.ts';
import { STAGES } from '../../viz/stages.ts';
import { chunksCsv, layersCsv, stagesCsv, tokensCsv } from './csv.ts';
import { massCurve } from './mass.ts';
import { compositionOf, headsAgainstRest, outlines, viewOf } from './model.ts';
import { deviationScale } from './scale.ts';
import { originOf, tierName } from './pictures.ts';
import { longestStage, pipelineSums } from './stages.ts';
import type { Words } from './useWords.ts';
import { wordsOf } from './words.test-support.ts';

const SHAPES = [
  'fusion-28',
  'fusion-64',
  'fusion-none',
  'fusion-full',
  'fusion-query',
  'fusion-turn2',
  'fusion-resident',
];

async function reportOf(answerId: string): Promise<FusionReport> {
  const report = namedReport(answerId);
  return report!;
}

/** Two chunks of three tokens after one resident and one computed token, checked twice. */
const SMALL: FusionReport = {
  ...fusionReport({ chunks: 0, checks: [], seed: 3 }),
  selected: [5],
  promptTokens: 9,
  residentTokens: 1,
  reusedTokens: 6,
  recomputedTokens: 1,
  tokensStart: 1,
  tokens: ['=1', '"a"', ',b', '\n', 'd', 'e', 'f', '?'],
  parts: [
    { kind: 'resident', start: 0, tokens: 1, chunk: null },
    { kind: 'text', start: 1, tokens: 1, chunk: null },
    ...[2, 5].map((start) => ({
      kind: 'chunk' as const,
      start,
      tokens: 3,
      chunk: { document: 'd.md', documentId: '1', title: 'd', ordinal: 0, tier: 'ram' as const, bytes: 10, recomputed: 1 }, // prettier-ignore
    })),
    { kind: 'text', start: 8, tokens: 1, chunk: null },
  ],
  checks: [
    { layer: 1, ratio: 0.5, positions: [2, 3, 4, 5, 6, 7], deviation: [8, 1, 1, 4, 1, 1], selected: [2, 3, 5], massCovered: 13 / 16 }, // prettier-ignore
    { layer: 4, ratio: 0.17, positions: [2, 3, 5], deviation: [1, 1, 6], selected: [5], massCovered: 0.75 },
  ],
};

describe('the report, indexed', () => {
  const view = viewOf(SMALL);

  test('deviation, rank and choice by token; ties by position', () => {
    const [first] = view.checks;
    expect([...first!.deviation]).toEqual([NaN, 8, 1, 1, 4, 1, 1, NaN]);
    expect([...first!.rank]).toEqual([0, 1, 3, 4, 2, 5, 6, 0]);
    expect([...first!.selected]).toEqual([0, 1, 1, 0, 1, 0, 0, 0]);
  });

  test('recomputed is what the last check kept; what an earlier one chose is told apart', () => {
    expect([...outlines(view, view.checks[0])]).toEqual([0, 2, 2, 0, 1, 0, 0, 0]);
    expect([...outlines(view, view.checks[1])]).toEqual([0, 0, 0, 0, 1, 0, 0, 0]);
  });

  test('a strategy that asks the question has a lens of its own, and says itself what was recomputed', async () => {
    const query = viewOf(await reportOf('fusion-query'));
    expect(query.checks).toEqual([]);
    const [attention] = query.lenses;
    expect(attention).toMatchObject({ measure: 'attention' });
    expect(attention!.check.selected).toEqual(query.report.selected);
    expect([...outlines(query, undefined)].filter((outline) => outline === 1)).toHaveLength(query.report.recomputedTokens); // prettier-ignore
  });

  test('nothing is outlined where it was not kept what was recomputed', () => {
    const older = { ...SMALL, checks: [] };
    delete older.selected;
    expect(viewOf(older).recomputed).toBeNull();
  });

  test('tokens know their part; what is resident has no text', () => {
    expect(view.parts.map(({ start }) => start)).toEqual([1, 2, 5, 8]);
    expect([0, 1, 3, 4, 7].map((token) => view.partOf(token)?.start)).toEqual([1, 2, 2, 5, 8]);
    expect(view.partOf(8)).toBeUndefined();
  });

  test('the composition sums up to the prompt', async () => {
    expect(compositionOf(SMALL)).toEqual({ resident: 1, reused: 5, recomputed: 1, computed: 2 });
    for (const shape of SHAPES) {
      const report = await reportOf(shape);
      const { resident, reused, recomputed, computed } = compositionOf(report);
      expect(resident + reused + recomputed + computed).toBe(report.promptTokens);
    }
  });

  test('beginnings of passages against the rest', async () => {
    expect(headsAgainstRest(view, view.checks[0]!)).toBeNull(); // no passage is longer than its start
    const long = viewOf(await reportOf('fusion-28'));
    const found = headsAgainstRest(long, long.checks[0]!)!;
    expect(found.head).toBeGreaterThan(2 * found.rest);
  });
});

describe('deviation covered', () => {
  test('by hand', () => {
    const curve = massCurve([1, 4, 1, 8, 1, 1])!;
    expect(curve.covered(0)).toBe(0);
    expect(curve.covered(1 / 6)).toBe(0.5);
    expect(curve.covered(2 / 6)).toBe(0.75);
    expect(curve.covered(1)).toBe(1);
    expect(curve.ratioFor(0.5)).toBeCloseTo(1 / 6);
    expect(curve.ratioFor(1)).toBe(1);
  });

  test('never falls, and agrees with what the check says', async () => {
    for (const check of (await reportOf('fusion-28')).checks) {
      const curve = massCurve(check.deviation)!;
      const points = curve.points(200);
      for (const [i, { y }] of points.entries()) expect(y).toBeGreaterThanOrEqual(points[i - 1]?.y ?? 0);
      const chosen = check.selected.length / check.positions.length;
      expect(curve.covered(chosen)).toBeCloseTo(check.massCovered, 6);
    }
  });

  test('nothing looked at, nothing deviates', () => {
    expect(massCurve([])).toBeNull();
    expect(massCurve([0, 0])).toBeNull();
  });
});

describe('shades', () => {
  const deviations = Array.from({ length: 1000 }, (_, i) => (i === 999 ? 1e6 : i));

  test('linear: a few extremes do not leave the others blank', () => {
    const scale = deviationScale(deviations, 'linear');
    expect(scale.clipped).toBe(true);
    expect(scale.strength(495)).toBeCloseTo(0.5, 1);
    expect(scale.strength(1e6)).toBe(1);
    expect(scale.strength(0)).toBe(0);
  });

  test('logarithmic: equal ratios, equal steps; zero is blank', () => {
    const scale = deviationScale(deviations, 'log');
    const [a, b, c] = [100, 1000, 10_000].map(scale.strength) as [number, number, number];
    expect(b - a).toBeCloseTo(c - b);
    expect(scale.strength(0)).toBe(0);
    expect(scale.strength(1e6)).toBe(1);
  });

  test.each(['linear', 'log'] as const)('%s: all alike, all zero, one', (kind) => {
    for (const values of [[5, 5, 5], [0, 0], [], [3]]) {
      const { strength } = deviationScale(values, kind);
      for (const value of values) expect(strength(value)).toBe(value > 0 ? 1 : 0);
    }
  });
});

describe('times', () => {
  test('the longest stage', () => {
    const none = Object.fromEntries(STAGES.map((stage) => [stage, 1]));
    expect(longestStage({ ...SMALL.ttftMs, ...none, place: 2 })).toBe('place');
  });

  test('what loading hides behind computing', () => {
    const layer = { ...SMALL.layers[0]!, loadBytes: 1 };
    const sums = pipelineSums([
      { ...layer, loadStart: 0, loadEnd: 10, computeStart: 10, computeEnd: 30 },
      { ...layer, loadStart: 10, loadEnd: 20, computeStart: 30, computeEnd: 40 },
      { ...layer, loadStart: 20, loadEnd: 60, computeStart: 60, computeEnd: 100 },
    ]);
    expect(sums).toEqual({ load: 60, compute: 70, wait: 30, hidden: 0.5 });
    expect(pipelineSums([])).toEqual({ load: 0, compute: 0, wait: 0, hidden: null });
  });
});

describe('CSV', () => {
  const rows = (csv: string) => Papa.parse<Record<string, string>>(csv, { header: true });

  test('tokens: quotes, commas and line breaks survive; a formula is made harmless', () => {
    const { data, errors } = rows(tokensCsv(viewOf(SMALL)));
    expect(errors).toEqual([]);
    expect(data.map(({ token }) => token)).toEqual(["'=1", '"a"', ',b', '\n', 'd', 'e', 'f', '?']);
    expect(data[1]).toMatchObject({ position: '2', part: 'chunk', document: 'd.md', deviation_layer_1: '8', rank_layer_1: '1', selected_layer_1: 'true', selected_layer_4: 'false' }); // prettier-ignore
    expect(data[3]).toMatchObject({ deviation_layer_1: '1', deviation_layer_4: '' });
    expect(data[0]).toMatchObject({ part: 'text', document: '', deviation_layer_1: '' });
  });

  test('stages sum up to the total; layers and parts are all there', async () => {
    const report = await reportOf('fusion-64');
    const stages = rows(stagesCsv(viewOf(report), await wordsOf('en'))).data;
    const ms = (name: string) => Number(stages.find(({ stage }) => stage === name)?.ms);
    expect(STAGES.reduce((sum, stage) => sum + ms(stage), 0)).toBeCloseTo(ms('total'), 6);
    expect(stages.find(({ stage }) => stage === 'acquire')?.['name']).toBe('Look-up');
    expect(rows(layersCsv(viewOf(report))).data).toHaveLength(64);
    expect(rows(chunksCsv(viewOf(report))).data).toHaveLength(report.parts.length);
  });
});

describe('where a passage’s cache was', () => {
  const FOLDERS = [
    { id: '', path: '/home/me/kvasir/cache' },
    { id: 'b16', path: '/mnt/big' },
  ];
  const part = (tier: 'disk' | 'ram', folder?: string): PromptPart => {
    const chunk = { document: 'd.md', documentId: '1', title: 'd', ordinal: 0, tier, folder, bytes: 1, recomputed: 0 }; // prettier-ignore
    return { kind: 'chunk', start: 0, tokens: 1, chunk };
  };
  const texts = (words: Words, each: PromptPart) => [tierName(each.chunk!, words), originOf(each, words)];

  test('is the folder, if there are several', async () => {
    const [en, zh] = [await wordsOf('en', FOLDERS), await wordsOf('zh', FOLDERS)];
    expect(texts(en, part('disk', 'b16'))).toEqual(['/mnt/big', 'cache in /mnt/big']);
    expect(texts(en, part('disk', ''))).toEqual(['Data folder', 'cache in the data folder']);
    expect(texts(zh, part('disk', 'b16'))).toEqual(['/mnt/big', '/mnt/big 中的缓存']);
    expect(texts(zh, part('disk', ''))).toEqual(['数据文件夹', '数据文件夹中的缓存']);
  });

  test('is the disk if there is one folder, if the folder is gone, and in older reports', async () => {
    const words = await wordsOf('en', FOLDERS);
    const disk = ['Disk', 'cache on disk'];
    expect(texts(await wordsOf('en', FOLDERS.slice(0, 1)), part('disk', ''))).toEqual(disk);
    expect(texts(words, part('disk', 'c17'))).toEqual(disk);
    expect(texts(words, part('disk'))).toEqual(disk);
    expect(texts(words, part('ram'))).toEqual(['RAM', 'cache in RAM']);
  });
});

test('the fixtures are reports', async () => {
  for (const shape of SHAPES) {
    const report = FusionReportSchema.parse(await reportOf(shape));
    const last = report.parts.at(-1)!;
    expect(last.start + last.tokens).toBe(report.promptTokens);
    expect(report.tokensStart + report.tokens.length).toBe(report.promptTokens);
  }
  expect((await reportOf('fusion-28')).tokens.length).toBeGreaterThan(3900);
});
