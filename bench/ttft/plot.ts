import { chart } from '../lib/chart.ts';
import type { Row } from './table.ts';

/** Time to first token by context length, one line per method, both axes logarithmic. An SVG document. */
export function plot(rows: readonly Row[], title: string): string {
  const methods = [...new Set(rows.map(({ method }) => method))];
  const contexts = [...new Set(rows.map(({ context }) => context))].sort((a, b) => a - b);
  const axes = {
    x: { label: 'tokens of context', log: true, ticks: contexts },
    y: { label: '', log: true, tell: (seconds: number) => `${seconds} s` },
  };
  const series = methods.map((name) => ({
    name,
    points: rows
      .filter(({ method }) => method === name)
      .map(({ context, medianMs }) => ({ x: context, y: medianMs / 1000 })),
  }));
  return chart(title, axes, series);
}
