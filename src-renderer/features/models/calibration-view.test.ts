import { expect, test } from 'vitest';
import type { Calibration } from '../../../src-shared/contract/calibration.ts';
import type { StrategyName } from '../../../src-shared/strategy.ts';
import { agreementChart, klChart, pointsAt, ratiosOf, type CalibrationWords } from './calibration-view.ts';

const WORDS: CalibrationWords = {
  strategy: ({ name, checkLayers = [] }) => [name, ...checkLayers].join(' '),
  ...{ ratio: 'ratio', kl: 'KL', agreement: 'agreement', floor: 'limit', percent: String, number: String },
};

function calibration(points: [StrategyName, number, number][], chosen: StrategyName): Calibration {
  return {
    ...{ fingerprint: 'f', model: 'M', device: 'CPU', dtype: 'f16', kvDtype: 'f16', formats: [] },
    ...{ answerTokens: 24, measuredMs: 0, textKind: 'headings' },
    ...{ texts: { library: 'L', kind: 'questions' }, prompts: 2, promptTokens: 200, fullMs: 100 },
    points: points.map(([name, ratio, kl]) => ({
      strategy: { name, ratio },
      ...{ kl, klMax: kl, agreement: 1 - kl / 10, ms: 100 * ratio, recomputedShare: ratio },
    })),
    floor: { maxKl: 0.05, minAgreement: 0.97 },
    choice: { verdict: 'blend', strategy: { name: chosen, ratio: 0.15 } },
  };
}

const MEASURED = calibration(
  [
    ['none', 0, 4],
    ['query', 0.15, 0.02],
    ['query', 1, 0],
    ['deviation', 0.15, 0.01],
  ],
  'deviation',
);

test('every strategy has a line that begins at reusing everything', () => {
  const { series, items } = agreementChart(MEASURED, WORDS);
  expect(series.map(({ label, points }) => [label, points.map(({ x }) => x)])).toEqual([
    ['query', [0, 0.15, 1]],
    ['deviation', [0, 0.15]],
  ]);
  expect(items).toEqual([0, 0.15, 1]);
  expect(ratiosOf(MEASURED)).toEqual(items);
  expect(pointsAt(MEASURED, 0.15).map(({ strategy }) => strategy.name)).toEqual(['query', 'deviation']);
});

test('a KL of 0 stands at the foot of the logarithmic axis, and the limit is drawn', () => {
  const { y, series } = klChart(MEASURED, WORDS);
  expect(y.domain).toEqual([1e-4, 4]);
  expect(series[0]?.points.at(-1)).toEqual({ x: 1, y: 1e-4 });
  expect(series.at(-1)).toMatchObject({ label: 'limit', kind: 'dashed', points: [{ y: 0.05 }, { y: 0.05 }] });
});

test('the chosen point is marked; a full prefill is no point of the curve', () => {
  expect(klChart(MEASURED, WORDS).dots).toEqual([{ x: 0.15, y: 0.01, colour: 'hkvd' }]);
  expect(klChart({ ...MEASURED, choice: { verdict: 'quality', strategy: { name: 'full', ratio: 1 } } }, WORDS).dots).toEqual([]); // prettier-ignore
});

test('reusing everything alone is a point with a name', () => {
  const { series } = agreementChart(calibration([['none', 0, 1]], 'none'), WORDS);
  expect(series).toMatchObject([{ label: 'none', points: [{ x: 0, y: 0.9 }] }]);
});

test('a strategy with its own check layers has a line of its own, and the chosen point lies on it', () => {
  const { points } = calibration([['deviation', 0.15, 0.2]], 'deviation');
  const later = points.map((point) => ({
    ...point,
    kl: 0.01,
    strategy: { ...point.strategy, checkLayers: [2] },
  }));
  const measured: Calibration = {
    ...MEASURED,
    points: [...points, ...later],
    choice: { verdict: 'blend', strategy: { name: 'deviation', ratio: 0.15, checkLayers: [2] } },
  };
  const { series, dots } = klChart(measured, WORDS);
  expect(series.slice(0, 2)).toMatchObject([
    { label: 'deviation', points: [{ y: 0.2 }] },
    { label: 'deviation 2', points: [{ y: 0.01 }] },
  ]);
  expect(dots).toMatchObject([{ y: 0.01 }]);
});
