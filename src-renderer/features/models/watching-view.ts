import type { Interval, WatchedLibrary, WatchingStatus } from '../../../src-shared/contract/watching.ts';
import type { ChartPoint, ChartSpec } from '../../viz/chart/layout.ts';

/** Converts compared answers to pictures: one dot per answer, and the mean of those that count. */

/** A logarithmic axis cannot show a KL of 0; smaller values are drawn as this one. */
const LEAST_KL = 1e-4;
/** Answers mostly agree: the axis starts no higher than this. */
const MOST_OF_AXIS = 0.9;
const HEIGHT = 96;
const RADIUS = 3;

export interface WatchingWords {
  x: string;
  kl: string;
  agreement: string;
  mean: string;
  interval: string;
  limit: string;
  number: (value: number) => string;
  percent: (share: number) => string;
}

/** The verdict, in one word. */
export type Verdict = 'stopped' | 'raised' | 'few' | 'unsure' | 'kept';

export function verdictOf(
  { leastRatio, counted, kl, agreement }: WatchedLibrary,
  { floor, fewest }: Pick<WatchingStatus, 'floor' | 'fewest'>,
): Verdict {
  if (leastRatio >= 1) return 'stopped';
  if (leastRatio > 0) return 'raised';
  if (counted < fewest) return 'few';
  const beyond = (kl?.mean ?? 0) > floor.maxKl || (agreement?.mean ?? 1) < floor.minAgreement;
  return beyond ? 'unsure' : 'kept';
}

export function klChart(watched: WatchedLibrary, limit: number, words: WatchingWords): ChartSpec {
  const least = (value: number): number => Math.max(LEAST_KL, value);
  const values = watched.answers.map(({ kl }) => least(kl));
  const spec = chartOf(watched, { values, interval: watched.kl, limit, least, words });
  const y = { domain: [LEAST_KL, Math.max(1, ...values)] as const, log: true };
  return { ...spec, y: { ...y, label: words.kl, format: words.number } };
}

export function agreementChart(watched: WatchedLibrary, limit: number, words: WatchingWords): ChartSpec {
  const values = watched.answers.map(({ agreement }) => agreement);
  const inside = (value: number): number => Math.min(1, Math.max(0, value));
  const spec = chartOf(watched, { values, interval: watched.agreement, limit, least: inside, words });
  const least = Math.min(MOST_OF_AXIS, inside(watched.agreement?.low ?? 1), ...values);
  return { ...spec, y: { domain: [least, 1] as const, label: words.agreement, format: words.percent } };
}

interface Measure {
  /** One per answer. */
  values: readonly number[];
  interval: Interval | null;
  limit: number;
  /** Values outside the axis are moved to its edge. */
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
    dots: values.map((y, i) => {
      const colour = i + 1 > items.length - watched.counted ? 'accent' : 'muted';
      return { x: i + 1, y, colour, radius: RADIUS } as const;
    }),
    height: HEIGHT,
    items,
  };
}
