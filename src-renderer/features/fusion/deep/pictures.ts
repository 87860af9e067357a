import { mean } from 'd3-array';
import type { Comparison, DeepPrompt } from '../../../../src-shared/comparison.ts';
import type { ChartSpec, Series } from '../../../viz/chart/layout.ts';
import type { HeatData } from '../../../viz/heat/heat.ts';
import type { Grid } from '../../../viz/heat/layout.ts';
import type { Colour } from '../../../viz/palette.ts';
import { nameOf } from '../compare/methods.ts';
import { deviationScale, type DeviationScale, type ScaleKind } from '../scale.ts';
import type { Words } from '../useWords.ts';
import { blendOf, concentrationOf, deepMethods, rankPairs, type DeepMethod } from './model.ts';

/** Converts a deep comparison to the pictures of viz/. */

const OTHERS: readonly Colour[] = ['accent', 'place', 'retrieve', 'compute', 'disk'];

function colourOfWay(method: DeepMethod, comparison: Comparison): Colour {
  if (method === blendOf(comparison)) return 'hkvd';
  if (method.kind === 'reuse') return 'ram';
  return OTHERS[comparison.methods.indexOf(method) % OTHERS.length] ?? 'accent';
}

export function heatData(
  grid: Grid,
  prompt: DeepPrompt,
  kind: ScaleKind,
): { data: HeatData; scale: DeviationScale } {
  const scale = deviationScale(Array.from(grid.values), kind);
  const parts = prompt.parts.map(({ start, tokens, cached, kind: part }) => ({
    first: start,
    count: tokens,
    colour: cached ? ('ram' as const) : part === 'chunk' ? ('computed' as const) : ('muted' as const),
  }));
  return { scale, data: { ...grid, strength: scale.strength, parts } };
}

function layerAxis(layers: number, { t, format }: Words): ChartSpec['x'] {
  return {
    domain: [0, Math.max(1, layers - 1)],
    label: t('layers.x'),
    format: (value) => (Number.isInteger(value) ? format.number(value) : ''),
  };
}

export function attentionSpec(comparison: Comparison, words: Words): ChartSpec {
  const { layerCount } = comparison;
  return {
    x: layerAxis(layerCount, words),
    y: { label: words.t('compare:attention.y'), format: words.significant },
    series: deepMethods(comparison).map((method): Series => ({
      label: nameOf(method, words),
      colour: colourOfWay(method, comparison),
      kind: method.kind === 'reuse' ? 'dashed' : 'line',
      points: method.deep.layers.map(({ attention }, layer) => ({ x: layer, y: attention })),
    })),
    rules: [],
    dots: [],
    items: Array.from({ length: layerCount }, (_, layer) => layer),
  };
}

export function concentrationSpec(base: DeepMethod, ratio: number | null, { t, share }: Words): ChartSpec {
  const points = concentrationOf(base);
  return {
    x: { domain: [0, 1], label: t('mass.x'), format: share },
    y: { domain: [0, 1], label: t('mass.y'), format: share },
    series: [
      {
        label: t('compare:concentration.range'),
        colour: 'check',
        kind: 'band',
        points: points.map(({ ratio: x, low, high }) => ({ x, y: high, low })),
      },
      {
        label: t('compare:concentration.mean'),
        colour: 'check',
        kind: 'line',
        points: points.map(({ ratio: x, mean: y }) => ({ x, y })),
      },
      {
        label: t('mass.even'),
        colour: 'muted',
        kind: 'dashed',
        points: points.map(({ ratio: x }) => ({ x, y: x })),
      },
    ],
    rules:
      ratio === null ? [] : [{ x: ratio, label: t('mass.chosen', { ratio: share(ratio) }), colour: 'check' }],
    dots: [],
    items: points.map(({ ratio: x }) => x),
  };
}

export function rankSpec(base: DeepMethod, words: Words): ChartSpec {
  const pairs = rankPairs(base);
  const least = Math.min(0, ...pairs.map(({ value }) => value));
  return {
    x: layerAxis(base.deep.layers.length, words),
    y: {
      domain: [least, 1],
      label: '',
      format: (value) => words.format.number(value, 2),
    },
    series: [
      {
        label: words.t('compare:rank.line'),
        colour: 'check',
        kind: 'line',
        points: pairs.map(({ layer, value }) => ({ x: layer, y: value })),
      },
    ],
    rules: [],
    dots: [],
    items: pairs.map(({ layer }) => layer),
  };
}

/** Attention deviation (mean over layers) or KL of the first token, by ratio. */
export function sweepSpec(
  { sweep: { points } }: DeepPrompt,
  what: 'attention' | 'kl',
  ratio: number | null,
  { t, share, significant }: Words,
): ChartSpec {
  const last = points.at(-1)?.ratio ?? 1;
  const shown = ratio !== null && ratio <= last ? [ratio] : [];
  return {
    x: { domain: [0, last], label: t('compare:sweep.x'), format: share },
    y: { label: '', format: significant },
    series: [
      {
        label: t(`compare:sweep.${what}`),
        colour: what === 'kl' ? 'accent' : 'hkvd',
        kind: 'line',
        points: points.map((point) => ({
          x: point.ratio,
          y: what === 'kl' ? point.kl : meanAttention(point),
        })),
      },
    ],
    rules: shown.map((x) => ({ x, label: t('mass.chosen', { ratio: share(x) }), colour: 'check' as const })),
    dots: [],
    items: points.map((point) => point.ratio),
  };
}

export function meanAttention({ attention }: { attention: readonly number[] }): number {
  return mean(attention) ?? 0;
}
