import type { Comparison, DeepPrompt } from '../../../../src-shared/comparison.ts';
import type { Grid } from '../../../viz/heat/layout.ts';
import { csv } from '../csv.ts';
import { deepMethods } from './model.ts';

/** One row per method and layer: statistics, attention, rank correlation, concentration. */
export function deepLayersCsv(comparison: Comparison): string {
  const methods = deepMethods(comparison);
  const steps = methods[0]?.deep.concentration[0]?.length ?? 0;
  const groups = (['v', 'k'] as const).flatMap((matrix) =>
    (['recomputed', 'stored'] as const).map((group) => ({ matrix, group })),
  );
  return csv(
    [
      ...['way', 'strategy', 'ratio', 'layer', 'attention_deviation', 'rank_correlation_with_next'],
      ...groups.flatMap(({ matrix, group }) =>
        ['tokens', 'mean', 'p95'].map((name) => `${matrix}_${group}_${name}`),
      ),
      ...Array.from(
        { length: steps },
        (_, step) => `held_by_${Math.round((step / (steps - 1)) * 100)}_percent`,
      ),
    ],
    methods.flatMap(({ kind, strategy, deep }) =>
      deep.layers.map((found, layer) => [
        ...[kind, strategy.name, strategy.ratio, layer, found.attention, deep.rankCorrelation[layer] ?? null],
        ...groups.flatMap(({ matrix, group }) => {
          const stats = found[matrix][group];
          return [stats?.tokens ?? null, stats?.mean ?? null, stats?.p95 ?? null];
        }),
        ...(deep.concentration[layer] ?? []),
      ]),
    ),
  );
}

/** One row per token, one column per layer. */
export function heatCsv({ rows, columns, values }: Grid, { tokens, parts }: DeepPrompt): string {
  const partAt = (position: number) =>
    parts.find(({ start, tokens: count }) => position >= start && position < start + count);
  return csv(
    ['position', 'token', 'part', 'cached', ...Array.from({ length: rows }, (_, row) => `layer_${row}`)],
    Array.from({ length: columns }, (_, position) => {
      const part = partAt(position);
      return [
        ...[position, tokens[position] ?? '', part?.title ?? part?.kind ?? null, part?.cached ?? false],
        ...Array.from({ length: rows }, (_, row) => values[row * columns + position] ?? null),
      ];
    }),
  );
}

/** One row per ratio. */
export function sweepCsv({ sweep: { strategy, points } }: DeepPrompt): string {
  const layers = points[0]?.attention.length ?? 0;
  const names = Array.from({ length: layers }, (_, layer) => layer);
  return csv(
    [
      ...['strategy', 'ratio', 'recomputed_tokens', 'kl', 'same_first_token'],
      ...names.map((layer) => `attention_layer_${layer}`),
      ...names.map((layer) => `v_layer_${layer}`),
    ],
    points.map((point) => [
      ...[strategy, point.ratio, point.recomputedTokens, point.kl, point.agrees],
      ...point.attention,
      ...point.v,
    ]),
  );
}
