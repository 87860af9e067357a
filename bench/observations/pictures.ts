import { chart, type Point, type Series } from '../lib/chart.ts';
import type { Interval } from '../quality/intervals.ts';
import type { ScoreName } from '../quality/scores.ts';
import type { Observations } from './observe.ts';
import type { ByPassages } from './passages.ts';

/** SVG documents by file name. */
export function pictures(
  observed: Observations,
  passages: readonly ByPassages[],
  score: ScoreName,
): [string, string][] {
  const { attention, concentration, holders, correlation } = observed;
  const tokens = 'share of the passages\u2019 tokens';
  return [
    [
      'attention',
      chart(
        'Attention deviation relative to full reuse, by recomputed share',
        { x: { label: `recomputed ${tokens}` }, y: { label: '' } },
        [
          {
            name: 'mean over layers',
            points: attention.map(({ ratio, deviation }) => point(ratio, deviation)),
          },
        ],
      ),
    ],
    [
      'concentration',
      chart(
        'Share of all deviation in the most deviating tokens',
        { x: { label: tokens }, y: { label: '' } },
        concentration.slice(1).map((shares, i) => ({
          name: `layer ${i + 1}`,
          points: shares.map((y, at) => ({ x: (at + 1) / 100, y })),
        })),
      ),
    ],
    [
      'layers',
      chart('By layer', { x: { label: 'layer', ticks: holders.map((_, il) => il) }, y: { label: '' } }, [
        { name: 'tokens with 90 % of the deviation', points: holders.map((each, il) => point(il, each)) },
        {
          name: 'rank correlation with the previous layer',
          points: correlation.map((each, i) => point(i + 1, each)),
        },
      ]),
    ],
    [
      'passages',
      chart(
        `Score (${score}) by number of passages`,
        {
          x: { label: 'passages', log: true, ticks: passages.map((each) => each.passages) },
          y: { label: '' },
        },
        byMethod(passages),
      ),
    ],
  ];
}

function byMethod(passages: readonly ByPassages[]): Series[] {
  return Object.keys(passages[0]?.scores ?? {}).map((name) => ({
    name,
    points: passages.flatMap(({ passages: x, scores }) => (scores[name] ? [point(x, scores[name])] : [])),
  }));
}

function point(x: number, { mean: y, low, high }: Interval): Point {
  return { x, y, low, high };
}
