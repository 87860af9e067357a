/** Line charts as SVG documents. */

export interface Series {
  name: string;
  points: readonly Point[];
}

export interface Point {
  x: number;
  y: number;
  /** Confidence bounds of the value. */
  low?: number | undefined;
  high?: number | undefined;
}

export interface Axis {
  label: string;
  log?: boolean;
  /** Tick marks, in the axis' unit; default: round numbers within the values. */
  ticks?: readonly number[];
  tell?: (value: number) => string;
}

const WIDTH = 900;
const HEIGHT = 560;
const PLOT = { left: 70, top: 30, right: 330, bottom: 50 };
const COLOURS = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
];

/** One line per series, with its interval as a band. */
export function chart(title: string, axes: { x: Axis; y: Axis }, series: readonly Series[]): string {
  const points = series.flatMap(({ points: all }) => all);
  const xs = points.map(({ x }) => x);
  const ys = points.flatMap(({ y, low = y, high = y }) => [y, low, high]);
  const x = scale(axes.x, xs, [PLOT.left, WIDTH - PLOT.right]);
  const y = scale(axes.y, ys, [HEIGHT - PLOT.bottom, PLOT.top]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${PLOT.left}" y="18" font-size="14">${escape(title)}</text>`,
    ...ticksOf(axes.y, ys).map((value) => yTick(y(value), axes.y.tell?.(value) ?? String(value))),
    ...ticksOf(axes.x, xs).map((value) => xTick(x(value), axes.x.tell?.(value) ?? String(value))),
    ...series.map((one, i) => line(one, i, x, y)),
    `<text x="${(PLOT.left + WIDTH - PLOT.right) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${escape(axes.x.label)}</text>`,
    `<text x="8" y="${PLOT.top - 12}">${escape(axes.y.label)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

type Scale = (value: number) => number;

function line({ name, points }: Series, index: number, x: Scale, y: Scale): string {
  const colour = COLOURS[index % COLOURS.length] ?? '#000';
  const dash = index < COLOURS.length ? '' : ' stroke-dasharray="5 3"';
  const at = (px: number, py: number): string => `${px.toFixed(1)},${py.toFixed(1)}`;
  const path = points.map((point) => at(x(point.x), y(point.y))).join(' ');
  const upper = points.map(({ x: px, y: py, high = py }) => at(x(px), y(high)));
  const lower = points.map(({ x: px, y: py, low = py }) => at(x(px), y(low))).reverse();
  const dots = points.map(
    (point) => `<circle cx="${x(point.x).toFixed(1)}" cy="${y(point.y).toFixed(1)}" r="3" fill="${colour}"/>`,
  );
  const top = PLOT.top + 16 * index;
  return [
    ...(points.some(({ low }) => low !== undefined) ? [band(upper, lower, colour)] : []),
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`,
    ...dots,
    `<rect x="${WIDTH - PLOT.right + 20}" y="${top - 8}" width="12" height="3" fill="${colour}"/>`,
    `<text x="${WIDTH - PLOT.right + 38}" y="${top - 2}">${escape(name)}</text>`,
  ].join('');
}

function band(upper: readonly string[], lower: readonly string[], colour: string): string {
  return `<polygon points="${[...upper, ...lower].join(' ')}" fill="${colour}" fill-opacity="0.08"/>`;
}

function xTick(at: number, text: string): string {
  return `<text x="${at.toFixed(1)}" y="${HEIGHT - PLOT.bottom + 18}" text-anchor="middle">${escape(text)}</text>`;
}

function yTick(at: number, text: string): string {
  return (
    `<line x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" stroke="#ddd"/>` +
    `<text x="${PLOT.left - 8}" y="${(at + 4).toFixed(1)}" text-anchor="end">${escape(text)}</text>`
  );
}

function scale({ log = false }: Axis, values: readonly number[], [low, high]: [number, number]): Scale {
  const on = log ? Math.log : (value: number): number => value;
  const [from, to] = [on(Math.min(...values)), on(Math.max(...values))];
  const span = to - from || 1;
  return (value) => low + ((high - low) * (on(value) - from)) / span;
}

function ticksOf({ ticks, log = false }: Axis, values: readonly number[]): readonly number[] {
  if (ticks) return ticks;
  const [from, to] = [Math.min(...values), Math.max(...values)];
  return log ? decades(from, to) : steps(from, to);
}

/** 1, 2 and 5 times each power of ten within the range. */
function decades(from: number, to: number): number[] {
  const out: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
    for (const digit of [1, 2, 5]) {
      const value = Number((digit * 10 ** power).toPrecision(1));
      if (value >= from && value <= to) out.push(value);
    }
  }
  return out;
}

/** About five round numbers within the range. */
function steps(from: number, to: number): number[] {
  const rough = (to - from) / 5;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= rough) ?? 10);
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}
