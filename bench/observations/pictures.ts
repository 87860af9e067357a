import { chart, type Point, type Series } from '../lib/chart.ts';
import type { Interval } from '../quality/intervals.ts';
import type { ScoreName } from '../quality/scores.ts';
import type { Observed } from './observe.ts';
import type { ByPassages } from './passages.ts';

/** By file name. */
export function pictures(
  observed: Observed,
  passages: readonly ByPassages[],
  score: ScoreName,
): [string, string][] {
  const { attention, concentration, holders, correlation } = observed;
  const tokens = 'share of the passages\u2019 tokens';
  return [
    [
      'attention',
      chart(
        'Attention deviation, of full reuse\u2019s, by what is recomputed',
        { x: { label: `${tokens} that is recomputed` }, y: { label: '' } },
        [
          {
            name: 'mean of the layers',
            points: attention.map(({ ratio, deviation }) => point(ratio, deviation)),
          },
        ],
      ),
    ],
    [
      'concentration',
      chart(
        'Share of all deviation that the most deviating tokens hold',
        { x: { label: tokens }, y: { label: '' } },
        concentration.slice(1).map((shares, i) => ({
          name: `layer ${i + 1}`,
          points: shares.map((y, at) => ({ x: (at + 1) / 100, y })),
        })),
      ),
    ],
    [
      'layers',
      chart(
        'Layer by layer',
        { x: { label: 'layer', ticks: holders.map((_, il) => il) }, y: { label: '' } },
        [
          { name: 'tokens that hold 90 % of it', points: holders.map((each, il) => point(il, each)) },
          {
            name: 'rank correlation with the one before',
            points: correlation.map((each, i) => point(i + 1, each)),
          },
        ],
      ),
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
