import { bisectCenter, extent } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import type { Rect, Tick } from '../axes.ts';
import type { Colour } from '../palette.ts';
import type { Frame, Point } from '../picture.ts';

export interface ChartPoint {
  x: number;
  y: number;
  /** Lower edge of a band; an area extends down to the axis. */
  low?: number;
}

export interface Series {
  label: string;
  colour: Colour;
  kind: 'line' | 'dashed' | 'band' | 'area';
  points: readonly ChartPoint[];
}

interface Axis {
  /** Absent: fits the data. */
  domain?: readonly [number, number];
  log?: boolean;
  label: string;
  format: (value: number) => string;
}

export interface ChartSpec {
  x: Axis;
  y: Axis;
  series: readonly Series[];
  /** Vertical lines with a meaning, e.g. a check layer. */
  rules: readonly { x: number; label: string; colour: Colour }[];
  /** Highlighted points; smaller if there are many. */
  dots: readonly { x: number; y: number; colour: Colour; radius?: number }[];
  /** Height of the plot, in pixels; absent: the default. */
  height?: number;
  /** The x of every item that can be pointed at, ascending. */
  items: readonly number[];
}

type Scale = ReturnType<typeof scaleLinear<number, number>> | ReturnType<typeof scaleLog<number, number>>;

export interface ChartLayout {
  plot: Rect;
  x: Scale;
  y: Scale;
  xTicks: Tick[];
  yTicks: Tick[];
}

const MARGIN = { left: 46, right: 12, bottom: 38 };

/** Maps data to pixels. `top`: space for legend and labels above the plot. */
export function layoutChart(
  spec: ChartSpec,
  { width, height }: Pick<Frame, 'width' | 'height'>,
  top: number,
): ChartLayout {
  const plot: Rect = {
    left: MARGIN.left,
    top,
    right: Math.max(MARGIN.left + 1, width - MARGIN.right),
    bottom: Math.max(top + 1, height - MARGIN.bottom),
  };
  const points = spec.series.flatMap((series) => series.points);
  const x = scaleFor(
    spec.x,
    points.map((point) => point.x),
  ).range([plot.left, plot.right]);
  const y = scaleFor(
    spec.y,
    points.flatMap(({ y, low }) => (low === undefined ? [y] : [y, low])),
  ).range([plot.bottom, plot.top]);
  const xCount = Math.max(2, Math.floor((plot.right - plot.left) / 70));
  const yCount = Math.max(2, Math.floor((plot.bottom - plot.top) / 36));
  return { plot, x, y, xTicks: ticks(x, spec.x, xCount), yTicks: ticks(y, spec.y, yCount) };
}

function scaleFor({ domain, log = false }: Axis, values: readonly number[]): Scale {
  if (!log) {
    const [, high = 1] = extent(values);
    return domain ? scaleLinear(domain, [0, 1]) : scaleLinear([0, high > 0 ? high : 1], [0, 1]).nice();
  }
  const [low = 1, high = 10] = domain ?? extent(values.filter((value) => value > 0));
  return scaleLog([low, Math.max(high, low * 10)], [0, 1])
    .nice()
    .clamp(true);
}

function ticks(scale: Scale, { format, log = false }: Axis, count: number): Tick[] {
  const values = scale.ticks(count);
  // A logarithmic scale returns either all or no ticks: keep the powers of ten.
  const kept =
    log && values.length > count ? values.filter((value) => Number.isInteger(Math.log10(value))) : values;
  return kept.map((value) => ({ at: scale(value), label: format(value) }));
}

/** The item whose x is nearest to the point; null outside the plot. */
export function nearestItem(spec: ChartSpec, { plot, x }: ChartLayout, point: Point): number | null {
  if (point.x < plot.left - 8 || point.x > plot.right + 8 || spec.items.length === 0) return null;
  if (point.y < plot.top - 8 || point.y > plot.bottom + 8) return null;
  return bisectCenter(spec.items, x.invert(point.x));
}

/** A series' value at an item's x; undefined if it has none. */
export function valueAt({ points }: Series, x: number): ChartPoint | undefined {
  return points.find((point) => point.x === x);
}
