import type { Interval, WatchedLibrary, WatchingStatus } from '../../../src-shared/contract/watching.ts';
import type { ChartPoint, ChartSpec } from '../../viz/chart/layout.ts';

/** What was watched, as pictures want it: a dot an answer, and where the mean of those that count lies. */

/** A KL of 0 has no place on a logarithmic axis; what is smaller than this is as good. */
const LEAST_KL = 1e-4;
/** Losses mostly are 0: without this the axis would be all noise. */
const LEAST_LOSS_SHOWN = 0.1;
const HEIGHT = 96;
const RADIUS = 3;

export interface WatchingWords {
  x: string;
  kl: string;
  f1Loss: string;
  mean: string;
  interval: string;
  limit: string;
  number: (value: number) => string;
}

/** What follows from what was seen, in one word. */
export type Verdict = 'stopped' | 'raised' | 'few' | 'unsure' | 'kept';

export function verdictOf(
  { leastRatio, counted, kl, f1Loss }: WatchedLibrary,
  { floor, fewest }: Pick<WatchingStatus, 'floor' | 'fewest'>,
): Verdict {
  if (leastRatio >= 1) return 'stopped';
  if (leastRatio > 0) return 'raised';
  if (counted < fewest) return 'few';
  const above = (kl?.mean ?? 0) > floor.maxKl || (f1Loss?.mean ?? 0) > floor.maxF1Loss;
  return above ? 'unsure' : 'kept';
}

export function klChart(watched: WatchedLibrary, limit: number, words: WatchingWords): ChartSpec {
  const least = (value: number): number => Math.max(LEAST_KL, value);
  const values = watched.answers.map(({ kl }) => least(kl));
  const spec = chartOf(watched, { values, interval: watched.kl, limit, least, words });
  const y = { domain: [LEAST_KL, Math.max(1, ...values)] as const, log: true };
  return { ...spec, y: { ...y, label: words.kl, format: words.number } };
}

export function f1Chart(watched: WatchedLibrary, limit: number, words: WatchingWords): ChartSpec {
  const values = watched.answers.map(({ f1 }) => (f1 === null ? null : 1 - f1));
  const least = (value: number): number => Math.max(0, value);
  const spec = chartOf(watched, { values, interval: watched.f1Loss, limit, least, words });
  const most = Math.max(LEAST_LOSS_SHOWN, watched.f1Loss?.high ?? 0, ...values.map((value) => value ?? 0));
  return { ...spec, y: { domain: [0, most] as const, label: words.f1Loss, format: words.number } };
}

interface Measure {
  /** One an answer; null where it has none. */
  values: readonly (number | null)[];
  interval: Interval | null;
  limit: number;
  /** What an axis cannot show is moved to its edge. */
  least: (value: number) => number;
  words: WatchingWords;
}

function chartOf(watched: WatchedLibrary, measure: Measure): Omit<ChartSpec, 'y'> {
  const { values, interval, limit, least, words } = measure;
  const items = watched.answers.map((_, i) => i + 1);
  const counted = items.slice(items.length - watched.counted);
  const along = (xs: readonly number[], at: (x: number) => Omit<ChartPoint, 'x'>): ChartPoint[] =>
    xs.map((x) => ({ x, ...at(x) }));
  const ends = [0.5, items.length + 0.5];
  const series: ChartSpec['series'] = [
    { label: words.limit, colour: 'text', kind: 'dashed', points: along(ends, () => ({ y: least(limit) })) },
    ...(interval
      ? ([
          {
            label: words.interval,
            colour: 'accent',
            kind: 'band',
            points: along(counted, () => ({ y: least(interval.high), low: least(interval.low) })),
          },
          {
            label: words.mean,
            colour: 'accent',
            kind: 'line',
            points: along(counted, () => ({ y: least(interval.mean) })),
          },
        ] as const)
      : []),
  ];
  return {
    x: {
      domain: [0.5, items.length + 0.5],
      label: words.x,
      format: (x) => (Number.isInteger(x) ? words.number(x) : ''),
    },
    series,
    rules: [],
    dots: values.flatMap((y, i) => {
      const colour = i + 1 > items.length - watched.counted ? 'accent' : 'muted';
      return y === null ? [] : [{ x: i + 1, y, colour, radius: RADIUS } as const];
    }),
    height: HEIGHT,
    items,
  };
}
