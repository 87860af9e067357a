import type { Calibration, CalibrationPoint } from '../../../src-shared/contract/calibration.ts';
import {
  sameLayers,
  sameStrategy,
  type StrategyChoice,
  type StrategyLayers,
  type StrategyName,
} from '../../../src-shared/strategy.ts';
import type { ChartPoint, ChartSpec, Series } from '../../viz/chart/layout.ts';
import type { Colour } from '../../viz/palette.ts';

/** Converts a calibration to pictures: one line per strategy and layers, by ratio. */

/** A logarithmic axis cannot show a KL of 0; smaller values are drawn as this one. */
const LEAST_KL = 1e-4;

const COLOURS: Readonly<Record<StrategyName, Colour>> = {
  deviation: 'hkvd',
  query: 'ram',
  none: 'muted',
  full: 'muted',
};

export interface CalibrationWords {
  /** Includes the layers if they differ from the default. */
  strategy: (strategy: Pick<StrategyChoice, 'name'> & StrategyLayers) => string;
  ratio: string;
  kl: string;
  agreement: string;
  floor: string;
  percent: (share: number) => string;
  number: (value: number) => string;
}

/** Measured ratios, ascending; 0 is full reuse. */
export function ratiosOf({ points }: Calibration): number[] {
  return [...new Set(points.map(({ strategy }) => strategy.ratio))].toSorted((a, b) => a - b);
}

/** The measurement at a ratio. */
export function pointsAt({ points }: Calibration, ratio: number): CalibrationPoint[] {
  return points.filter(({ strategy }) => strategy.ratio === ratio);
}

export function chosenPoint({ points, choice: { strategy } }: Calibration): CalibrationPoint | undefined {
  return points.find((point) => sameStrategy(point.strategy, strategy));
}

export function klChart(calibration: Calibration, words: CalibrationWords): ChartSpec {
  const { maxKl } = calibration.floor;
  const most = Math.max(1, ...calibration.points.map(({ kl }) => kl));
  const limit = [0, 1].map((x) => ({ x, y: Math.max(LEAST_KL, maxKl) }));
  const spec = chartOf(calibration, words, ({ kl }) => Math.max(LEAST_KL, kl));
  return {
    ...spec,
    y: { domain: [LEAST_KL, most], log: true, label: words.kl, format: words.number },
    series: [...spec.series, { label: words.floor, colour: 'text', kind: 'dashed', points: limit }],
  };
}

export function agreementChart(calibration: Calibration, words: CalibrationWords): ChartSpec {
  const spec = chartOf(calibration, words, ({ agreement }) => agreement);
  return { ...spec, y: { domain: [0, 1], label: words.agreement, format: words.percent } };
}

function chartOf(
  calibration: Calibration,
  words: CalibrationWords,
  value: (point: CalibrationPoint) => number,
): Omit<ChartSpec, 'y'> {
  const chosen = chosenPoint(calibration);
  return {
    x: { domain: [0, 1], label: words.ratio, format: words.percent },
    series: seriesOf(calibration, words, value),
    rules: [],
    dots: chosen
      ? [{ x: chosen.strategy.ratio, y: value(chosen), colour: COLOURS[chosen.strategy.name] }]
      : [],
    items: ratiosOf(calibration),
  };
}

/** At ratio 0 no strategy recomputes anything, so all lines start at full reuse. */
function seriesOf(
  { points }: Calibration,
  words: CalibrationWords,
  value: (point: CalibrationPoint) => number,
): Series[] {
  const at = (point: CalibrationPoint): ChartPoint => ({ x: point.strategy.ratio, y: value(point) });
  const start = points.filter(({ strategy }) => strategy.name === 'none').map(at);
  const lines = points
    .map(({ strategy }) => strategy)
    .filter(
      ({ name }, i, all) =>
        name !== 'none' && all.findIndex((other) => sameLine(other, all[i] ?? other)) === i,
    );
  if (lines.length === 0)
    return [{ label: words.strategy({ name: 'none' }), colour: COLOURS.none, kind: 'line', points: start }];
  return lines.map((line) => ({
    label: words.strategy(line),
    colour: COLOURS[line.name],
    kind: line.checkLayers || line.questionLayers ? 'dashed' : 'line',
    points: [...start, ...points.filter(({ strategy }) => sameLine(strategy, line)).map(at)],
  }));
}

function sameLine(a: StrategyChoice, b: StrategyChoice): boolean {
  return a.name === b.name && sameLayers(a, b);
}
