import { scaleLinear } from 'd3-scale';
import type { Tick } from '../axes.ts';
import type { Span } from '../span.ts';

/** A layer's timings, in milliseconds since the engine was called. */
export interface LayerTimes {
  layer: number;
  loadStart: number;
  loadEnd: number;
  computeStart: number;
  computeEnd: number;
}

type Lane = 'load' | 'compute' | 'wait';

export interface GanttBar {
  row: number;
  lane: Lane;
  x: number;
  width: number;
}

export interface GanttLayout {
  left: number;
  right: number;
  rowHeight: number;
  /** Only visible bars, none narrower than a pixel. */
  bars: GanttBar[];
  ticks: Tick[];
}

export const GANTT_TOP = 44;
const LABELS = 34;
const RIGHT = 8;
const [MOST, LEAST, BEST] = [20, 7, 460];

/** All layers fit the screen as long as rows stay distinguishable. */
export function rowHeight(layers: number): number {
  return Math.max(LEAST, Math.min(MOST, Math.floor(BEST / Math.max(1, layers))));
}

/** Shorter gaps are thread scheduling; drawing them would only add noise. */
const LEAST_WAIT_MS = 0.2;

/** The idle time before a loaded layer: its data had not been loaded or placed yet. */
export function waitOf(layers: readonly LayerTimes[], row: number): Span | null {
  const layer = layers[row];
  if (!layer || layer.loadEnd <= layer.loadStart) return null;
  const free = row === 0 ? 0 : (layers[row - 1]?.computeEnd ?? 0);
  const end = layer.computeStart;
  return end - free > LEAST_WAIT_MS ? { start: free, end } : null;
}

export function layoutGantt(
  layers: readonly LayerTimes[],
  view: Span,
  width: number,
  format: (ms: number) => string,
): GanttLayout {
  const left = LABELS;
  const right = Math.max(left + 1, width - RIGHT);
  const x = scaleLinear([view.start, view.end], [left, right]);
  const bars: GanttBar[] = [];
  const add = (row: number, lane: Lane, start: number, end: number) => {
    if (end <= start || end < view.start || start > view.end) return;
    const from = Math.max(left, x(start));
    const to = Math.min(right, x(end));
    bars.push({ row, lane, x: Math.min(from, right - 1), width: Math.max(1, to - from) });
  };
  for (const [row, layer] of layers.entries()) {
    const wait = waitOf(layers, row);
    if (wait) add(row, 'wait', wait.start, wait.end);
    add(row, 'load', layer.loadStart, layer.loadEnd);
    add(row, 'compute', layer.computeStart, layer.computeEnd);
  }
  const ticks = x.ticks(Math.max(2, Math.floor((right - left) / 80)));
  return {
    left,
    right,
    rowHeight: rowHeight(layers.length),
    bars,
    ticks: ticks.map((ms) => ({ at: x(ms), label: format(ms) })),
  };
}

export function rowAt(y: number, layers: number): number | null {
  const row = Math.floor((y - GANTT_TOP) / rowHeight(layers));
  return row >= 0 && row < layers ? row : null;
}

export function wholeView(layers: readonly LayerTimes[]): Span {
  const end = Math.max(0, ...layers.flatMap(({ loadEnd, computeEnd }) => [loadEnd, computeEnd]));
  return { start: 0, end: end > 0 ? end : 1 };
}

/** The time at a pixel. */
export function timeAt(x: number, view: Span, width: number): number {
  return scaleLinear([LABELS, Math.max(LABELS + 1, width - RIGHT)], [view.start, view.end])(x);
}
