import { describe, expect, test } from 'vitest';
import Papa from 'papaparse';
import { CompareRequestSchema } from '../../../../src-shared/contract/chat.ts';
import { comparisonOf } from '../../../client/fixtures/comparison.ts';
import { fusionReport } from '../../../client/fixtures/fusion-report.ts';
import { deepLayersCsv, heatCsv, sweepCsv } from './csv.ts';
import {
  baseOf,
  blendOf,
  concentrationOf,
  coveredAt,
  gridOf,
  heatFacts,
  rankPairs,
  ratioCovering,
  type DeepMethod,
} from './model.ts';

const report = fusionReport({ answerId: 'a1', chunks: 3, chunkTokens: 40, layers: 6 });
const comparison = comparisonOf(report, CompareRequestSchema.parse({ answerId: 'a1', deep: true }));
const base = baseOf(comparison)!;

/** The base data with other curves. */
function withDeep(changes: Partial<DeepMethod['deep']>): DeepMethod {
  return { ...base, deep: { ...base.deep, ...changes } };
}

describe('deep comparison', () => {
  test('full reuse is the base, the answer’s own way the blend', () => {
    expect(base.kind).toBe('reuse');
    expect(blendOf(comparison)?.strategy).toEqual(report.strategy);
  });

  test('what the first tokens of passages hold, and the strongest', () => {
    const values = Float32Array.from({ length: 2 * 40 }, (_, i) => (i === 5 ? 30 : i === 40 + 30 ? 10 : 0));
    const parts = [{ start: 0, tokens: 32, cached: true }, { start: 32, tokens: 8, cached: false }]; // prettier-ignore
    expect(heatFacts({ rows: 2, columns: 40, values }, parts)).toEqual({
      headShare: 0.75,
      headTokens: 0.5,
      strongest: { layer: 0, position: 5, value: 30 },
    });
    expect(heatFacts({ rows: 1, columns: 2, values: new Float32Array(2) }, parts)).toBeNull();
  });

  test('concentration leaves out layers in which nothing deviates, and is read between its points', () => {
    const curve = [0, 0.5, 1];
    const points = concentrationOf(withDeep({ concentration: [[0, 0, 0], curve, [0, 0.7, 1]] }));
    expect(points[1]).toEqual({ ratio: 0.5, mean: 0.6, low: 0.5, high: 0.7 });
    expect(coveredAt(points, 0.25)).toBeCloseTo(0.3);
    expect(coveredAt(points, 0)).toBe(0);
    expect(ratioCovering(points, 0.3)).toBeCloseTo(0.25);
    expect(concentrationOf(withDeep({ concentration: [[0, 0, 0]] }))).toEqual([]);
  });

  test('layers that do not deviate have no order to compare', () => {
    const pairs = rankPairs(withDeep({ rankCorrelation: [0, 0.9], concentration: [[0, 0], [0, 1], [0, 1]] })); // prettier-ignore
    expect(pairs).toEqual([{ layer: 1, value: 0.9 }]);
  });

  test('files have every number: layers, tokens, ratios', () => {
    const rowsOf = (text: string) => Papa.parse<Record<string, string>>(text, { header: true }).data;
    const layers = rowsOf(deepLayersCsv(comparison));
    expect(layers).toHaveLength(2 * 6);
    expect(Number(layers[8]?.['attention_deviation'])).toBe(blendOf(comparison)?.deep.layers[2]?.attention);
    const grid = gridOf(base, 'v');
    const tokens = rowsOf(heatCsv(grid, comparison.deep!));
    expect(tokens).toHaveLength(report.promptTokens);
    expect(Number(tokens[50]?.['layer_3'])).toBeCloseTo(grid.values[3 * grid.columns + 50]!);
    expect(rowsOf(sweepCsv(comparison.deep!)).map(({ ratio }) => Number(ratio))).toEqual([0, 0.05, 0.15, 0.3, 0.5]); // prettier-ignore
  });
});
