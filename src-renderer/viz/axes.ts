import type { Palette } from './palette.ts';
import { setFont, type Canvas2d } from './picture.ts';

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Tick {
  /** In CSS pixels, along its axis. */
  at: number;
  label: string;
}

/** Grid lines with labels: y labels left of the plot, x labels below it. */
export function drawAxes(
  context: Canvas2d,
  plot: Rect,
  x: readonly Tick[],
  y: readonly Tick[],
  palette: Palette,
): void {
  context.save();
  setFont(context, palette);
  context.lineWidth = 1;
  context.strokeStyle = palette.line;
  context.fillStyle = palette.muted;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const { at, label } of y) {
    line(context, plot.left, at, plot.right, at);
    context.fillText(label, plot.left - 6, at);
  }
  context.textBaseline = 'top';
  for (const { at, label } of x) {
    // The last label would exceed the picture's edge.
    const over = at + context.measureText(label).width / 2 > plot.right + 8;
    context.textAlign = over ? 'right' : 'center';
    line(context, at, plot.bottom, at, plot.bottom + 4);
    context.fillText(label, at, plot.bottom + 6);
  }
  line(context, plot.left, plot.bottom, plot.right, plot.bottom);
  context.restore();
}

/** A straight line on whole pixels, so that it is sharp. */
export function line(context: Canvas2d, x1: number, y1: number, x2: number, y2: number): void {
  const sharp = (value: number) => Math.round(value) + 0.5;
  context.beginPath();
  context.moveTo(sharp(x1), sharp(y1));
  context.lineTo(sharp(x2), sharp(y2));
  context.stroke();
}

export interface LegendEntry {
  label: string;
  colour: string;
  /** How it is drawn in the picture. */
  mark: 'line' | 'dashed' | 'area' | 'hatch';
}

export const LEGEND_LINE = 18;

/** Positions of the entries, wrapped to lines of `width`. */
export function layoutLegend(
  entries: readonly { label: string }[],
  width: number,
  measure: (text: string) => number,
): { x: number; line: number }[] {
  let [x, line] = [0, 0];
  return entries.map(({ label }) => {
    const needed = 22 + measure(label) + 16;
    if (x > 0 && x + needed - 16 > width) [x, line] = [0, line + 1];
    const place = { x, line };
    x += needed;
    return place;
  });
}

/** Draws the legend at (left, top); returns its height. */
export function drawLegend(
  context: Canvas2d,
  entries: readonly LegendEntry[],
  left: number,
  top: number,
  width: number,
  palette: Palette,
): number {
  setFont(context, palette);
  const places = layoutLegend(entries, width, (text) => context.measureText(text).width);
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  for (const [i, { label, colour, mark }] of entries.entries()) {
    const { x, line: row } = places[i] ?? { x: 0, line: 0 };
    const y = top + row * LEGEND_LINE + LEGEND_LINE / 2;
    drawMark(context, mark, colour, left + x, y);
    context.fillStyle = palette.muted;
    context.fillText(label, left + x + 20, y);
  }
  return ((places.at(-1)?.line ?? -1) + 1) * LEGEND_LINE;
}

function drawMark(context: Canvas2d, mark: LegendEntry['mark'], colour: string, x: number, y: number): void {
  context.fillStyle = colour;
  context.strokeStyle = colour;
  if (mark === 'area') return context.fillRect(x, y - 5, 14, 10);
  if (mark === 'hatch') return hatch(context, { left: x, top: y - 5, right: x + 14, bottom: y + 5 }, colour);
  context.save();
  context.lineWidth = 2;
  context.setLineDash(mark === 'dashed' ? [4, 3] : []);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 14, y);
  context.stroke();
  context.restore();
}

/** Diagonal hatching: idle time. */
export function hatch(context: Canvas2d, { left, top, right, bottom }: Rect, colour: string): void {
  const height = bottom - top;
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height; x < right; x += 4) {
    context.moveTo(x, bottom);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}
